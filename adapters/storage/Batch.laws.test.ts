/** Runs random commands on a batch. Each member that is not withdrawn gets the exit of the one run that took it. */
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as fc from "fast-check"
import * as Batch from "./Batch.ts"

type Command =
  | { readonly do: "submit"; readonly members: number }
  /** Withdraws the nth member. */
  | { readonly do: "withdraw"; readonly nth: number }
  /** Ends the nth run in progress. */
  | { readonly do: "succeed" | "fail"; readonly nth: number }
  /** Lets all fibers proceed. */
  | { readonly do: "turn" }

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("submit" as const), members: fc.integer({ min: 1, max: 9 }) })
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("withdraw" as const), nth: fc.nat(60) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("succeed" as const), nth: fc.nat(3) }) },
  fc.record({ do: fc.constant("fail" as const), nth: fc.nat(3) }),
  { weight: 3, arbitrary: fc.constant<Command>({ do: "turn" }) }
)

interface Run {
  readonly members: ReadonlyArray<number>
  readonly resume: (exit: Exit.Exit<ReadonlyArray<Exit.Exit<number>>, string>) => void
  state: "in progress" | "succeeded" | "failed" | "interrupted"
}

it.effect("Batch runs each member exactly once, in order, unless it is withdrawn while waiting", () =>
  Effect.gen(function* () {
    const services = yield* Effect.context<never>()
    const seen = { shared: 0, withdrawnWaiting: 0, withdrawnRunning: 0, interrupted: 0, failed: 0 }
    const law = fc.asyncProperty(
      fc.array(command, { maxLength: 60, size: "max" }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 3 }),
      (commands, maxSize, concurrency) =>
        Effect.gen(function* () {
          const runs: Array<Run> = []
          const inProgress = () => runs.filter(({ state }) => state === "in progress")
          const submit = yield* Batch.make<number, number, string>({
            maxSize,
            concurrency,
            run: ({ take }) =>
              Effect.callback((resume) => {
                const members = take()
                const run: Run = { members, resume, state: "in progress" }
                if (members.length === 0) return resume(Effect.succeed([]))
                runs.push(run)
                expect(members.length).toBeLessThanOrEqual(maxSize)
                expect(inProgress().length).toBeLessThanOrEqual(concurrency)
                return Effect.sync(() => {
                  run.state = "interrupted"
                })
              })
          })
          const exits: Array<Array<Exit.Exit<number, string>>> = []
          const withdrawals: Array<() => void> = []
          const withdrawn = new Map<number, "waiting" | "running" | "ended">()
          const runOf = (member: number) => runs.find(({ members }) => members.includes(member))
          const finish = (run: Run | undefined, outcome: "succeeded" | "failed") => {
            if (run === undefined) return
            run.state = outcome
            run.resume(outcome === "failed" ? Exit.fail("down") : Exit.succeed(run.members.map(Exit.succeed)))
          }
          const turns = Effect.repeat(Effect.yieldNow, { times: 4 })

          for (const command of commands) {
            switch (command.do) {
              case "submit":
                for (let count = 0; count < command.members; count++) {
                  const member = exits.length
                  const own: Array<Exit.Exit<number, string>> = []
                  exits.push(own)
                  withdrawals.push(submit(member, (exit) => own.push(exit)))
                }
                break
              case "withdraw": {
                const member = command.nth % Math.max(exits.length, 1)
                if (withdrawals[member] === undefined || withdrawn.has(member)) break
                const hasEnded = exits[member]?.length === 1
                withdrawn.set(
                  member,
                  hasEnded ? "ended" : runOf(member) === undefined ? "waiting" : "running"
                )
                withdrawals[member]()
                break
              }
              case "succeed":
                finish(inProgress()[command.nth % Math.max(inProgress().length, 1)], "succeeded")
                break
              case "fail":
                finish(inProgress()[command.nth % Math.max(inProgress().length, 1)], "failed")
                break
              case "turn":
                yield* turns
                // No member waits while another run may start.
                if (inProgress().length < concurrency) {
                  const waiting = exits.findIndex(
                    (own, member) => own.length === 0 && !withdrawn.has(member) && runOf(member) === undefined
                  )
                  expect(waiting).toBe(-1)
                }
                // No run continues without members.
                for (const { members } of inProgress()) {
                  expect(members.every((member) => withdrawn.has(member))).toBe(false)
                }
                break
            }
          }
          yield* turns
          while (inProgress().length > 0) {
            finish(inProgress()[0], "succeeded")
            yield* turns
          }

          const taken = runs.flatMap(({ members }) => members)
          expect(taken).toEqual([...new Set(taken)].sort((a, b) => a - b))
          for (const [member, own] of exits.entries()) {
            const run = runOf(member)
            const withdrawnWhile = withdrawn.get(member)
            if (withdrawnWhile === "waiting") {
              expect([run, own]).toEqual([undefined, []])
              seen.withdrawnWaiting++
            } else if (withdrawnWhile === "running") {
              expect(own).toEqual([])
              seen.withdrawnRunning++
            } else {
              expect(own).toEqual([run?.state === "failed" ? Exit.fail("down") : Exit.succeed(member)])
            }
          }
          for (const { members, state } of runs) {
            if (members.length > 1) seen.shared++
            if (state === "failed") seen.failed++
            if (state !== "interrupted") continue
            seen.interrupted++
            expect(members.filter((member) => withdrawn.get(member) !== "running")).toEqual([])
          }
        }).pipe(Effect.runPromiseWith(services))
    )
    yield* Effect.promise(() => fc.assert(law, { numRuns: 500 }))
    // Random commands must reach each situation many times; otherwise the law verifies little.
    expect(Object.entries(seen).filter(([, count]) => count < 30)).toEqual([])
  })
)
