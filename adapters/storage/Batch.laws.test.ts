/** Compares batches with a list: every member that is not withdrawn gets the exit of the only run that took it. */
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
  end: "in progress" | "succeeded" | "failed" | "interrupted"
}

it.effect("Batch runs every member once and in order, except members withdrawn while they wait", () =>
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
          const inProgress = () => runs.filter(({ end }) => end === "in progress")
          const submit = yield* Batch.make<number, number, string>({
            maxSize,
            concurrency,
            run: ({ take }) =>
              Effect.callback((resume) => {
                const members = take()
                const run: Run = { members, resume, end: "in progress" }
                if (members.length === 0) return resume(Effect.succeed([]))
                runs.push(run)
                expect(members.length).toBeLessThanOrEqual(maxSize)
                expect(inProgress().length).toBeLessThanOrEqual(concurrency)
                return Effect.sync(() => {
                  run.end = "interrupted"
                })
              })
          })
          const ends: Array<Array<Exit.Exit<number, string>>> = []
          const withdrawals: Array<() => void> = []
          const withdrawn = new Map<number, "waiting" | "running" | "over">()
          const runOf = (member: number) => runs.find(({ members }) => members.includes(member))
          const end = (run: Run | undefined, how: "succeeded" | "failed") => {
            if (run === undefined) return
            run.end = how
            run.resume(how === "failed" ? Exit.fail("down") : Exit.succeed(run.members.map(Exit.succeed)))
          }
          const turns = Effect.repeat(Effect.yieldNow, { times: 4 })

          for (const command of commands) {
            switch (command.do) {
              case "submit":
                for (let count = 0; count < command.members; count++) {
                  const member = ends.length
                  const own: Array<Exit.Exit<number, string>> = []
                  ends.push(own)
                  withdrawals.push(submit(member, (exit) => own.push(exit)))
                }
                break
              case "withdraw": {
                const member = command.nth % Math.max(ends.length, 1)
                if (withdrawals[member] === undefined || withdrawn.has(member)) break
                const isOver = ends[member]?.length === 1
                withdrawn.set(member, isOver ? "over" : runOf(member) === undefined ? "waiting" : "running")
                withdrawals[member]()
                break
              }
              case "succeed":
                end(inProgress()[command.nth % Math.max(inProgress().length, 1)], "succeeded")
                break
              case "fail":
                end(inProgress()[command.nth % Math.max(inProgress().length, 1)], "failed")
                break
              case "turn":
                yield* turns
                // No member waits while another run may start.
                if (inProgress().length < concurrency) {
                  const waiting = ends.findIndex(
                    (own, member) => own.length === 0 && !withdrawn.has(member) && runOf(member) === undefined
                  )
                  expect(waiting).toBe(-1)
                }
                break
            }
          }
          yield* turns
          while (inProgress().length > 0) {
            end(inProgress()[0], "succeeded")
            yield* turns
          }

          const taken = runs.flatMap(({ members }) => members)
          expect(taken).toEqual([...new Set(taken)].sort((a, b) => a - b))
          for (const [member, exits] of ends.entries()) {
            const run = runOf(member)
            const how = withdrawn.get(member)
            if (how === "waiting") {
              expect([run, exits]).toEqual([undefined, []])
              seen.withdrawnWaiting++
            } else if (how === "running") {
              expect(exits).toEqual([])
              seen.withdrawnRunning++
            } else {
              expect(exits).toEqual([run?.end === "failed" ? Exit.fail("down") : Exit.succeed(member)])
            }
          }
          for (const { end, members } of runs) {
            if (members.length > 1) seen.shared++
            if (end === "failed") seen.failed++
            if (end !== "interrupted") continue
            seen.interrupted++
            expect(members.filter((member) => withdrawn.get(member) !== "running")).toEqual([])
          }
        }).pipe(Effect.runPromiseWith(services))
    )
    yield* Effect.promise(() => fc.assert(law, { numRuns: 500 }))
    expect(Object.entries(seen).filter(([, count]) => count < 30)).toEqual([])
  })
)
