/** Checks that group commit stores exactly the acknowledged writes, once and in order of submission. */
import { DatabaseSync } from "node:sqlite"
import { expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import * as Databases from "./Databases.fixture.ts"
import { asEffect } from "./GroupCommit.fixture.ts"
import * as GroupCommit from "./GroupCommit.ts"
import * as SqliteClient from "./SqliteClient.ts"
import type * as SqlScript from "./SqlScript.ts"

type Command =
  /**
   * Submits writes concurrently. Each write succeeds, violates a constraint, or causes a defect in itself or in its
   * group.
   */
  | { readonly action: "submit"; readonly writes: ReadonlyArray<Kind> }
  /** Interrupts the nth waiting write. */
  | { readonly action: "interrupt"; readonly nth: number }
  /** Another process acquires or releases the write lock, or the event loop turns. */
  | { readonly action: "lock" | "unlock" | "turn" }
  | { readonly action: "wait"; readonly ms: number }

type Kind = "valid" | "rejected" | "write defect" | "group defect"

const anyKind: fc.Arbitrary<Kind> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Kind>("valid") },
  fc.constantFrom<Kind>("rejected", "write defect", "group defect")
)

const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      action: fc.constant("submit" as const),
      writes: fc.oneof(
        { weight: 3, arbitrary: fc.array(fc.constant<Kind>("valid"), { minLength: 1, maxLength: 20 }) },
        fc.array(anyKind, { minLength: 1, maxLength: 8 })
      )
    })
  },
  { weight: 3, arbitrary: fc.record({ action: fc.constant("interrupt" as const), nth: fc.nat(30) }) },
  { weight: 4, arbitrary: fc.record({ action: fc.constantFrom("lock" as const, "unlock" as const) }) },
  { weight: 3, arbitrary: fc.constant<Command>({ action: "turn" }) },
  {
    weight: 3,
    arbitrary: fc.record({ action: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 60 }) })
  }
)

interface Write {
  readonly id: number
  readonly kind: Kind
}

it.effect("GroupCommit stores exactly the acknowledged writes, once and in order", () =>
  Effect.gen(function* () {
    const database = yield* Databases.sqlite.create
    const filename = database.address.slice("sqlite:".length)
    const otherProcess = yield* Effect.acquireRelease(
      Effect.sync(() => new DatabaseSync(filename, { timeout: 0 })),
      (otherProcess) => Effect.sync(() => otherProcess.close())
    )
    otherProcess.exec(
      "PRAGMA journal_mode = WAL; CREATE TABLE writes (id INTEGER NOT NULL, kind TEXT NOT NULL)"
    )
    const client = yield* Layer.build(SqliteClient.layer({ filename, synchronous: "NORMAL" }))
    const sql = Context.get(client, SqlClient.SqlClient)
    const services = yield* Effect.context<never>()
    const coverage = { stored: 0, failed: 0, interrupted: 0, shared: 0, sharedFailure: 0, interruptedLate: 0 }

    const commit = function* (
      group: ReadonlyArray<Write>
    ): SqlScript.Steps<ReadonlyArray<Exit.Exit<number>>> {
      const exits: Array<Exit.Exit<number>> = []
      for (const { id, kind } of group) {
        if (kind === "group defect") throw new Error("a bug")
        if (kind !== "write defect") {
          yield ["INSERT INTO writes VALUES (?, ?)", [id, kind === "rejected" ? null : kind]]
        }
        exits.push(kind === "write defect" ? Exit.die(`bug ${id}`) : Exit.succeed(id))
      }
      return exits
    }

    const law = fc.asyncProperty(fc.array(anyCommand, { maxLength: 30, size: "max" }), (commands) =>
      Effect.gen(function* () {
        otherProcess.exec("DELETE FROM writes")
        const groups: Array<ReadonlyArray<Write>> = []
        const submit = yield* GroupCommit.make(sql, function* (group: ReadonlyArray<Write>) {
          groups.push(group)
          return yield* commit(group)
        })
        const submissions: Array<{ write: Write; fiber: Fiber.Fiber<number, SqlError> }> = []
        const interrupted = new Set<number>()
        let isLocked = false

        for (const command of commands) {
          switch (command.action) {
            case "submit":
              for (const kind of command.writes) {
                const write = { id: submissions.length, kind }
                submissions.push({
                  write,
                  fiber: yield* Effect.forkChild(asEffect(submit)(write), { startImmediately: true })
                })
              }
              break
            case "interrupt": {
              const waiting = submissions.filter(({ fiber }) => fiber.pollUnsafe() === undefined)
              const submission = waiting[command.nth % Math.max(waiting.length, 1)]
              if (submission === undefined) break
              // Does not wait until the write has been interrupted, because a commit may be in progress.
              submission.fiber.interruptUnsafe()
              if (isLocked) interrupted.add(submission.write.id)
              else coverage.interruptedLate++
              break
            }
            case "lock":
              if (!isLocked) otherProcess.exec("BEGIN IMMEDIATE")
              isLocked = true
              break
            case "unlock":
              if (isLocked) otherProcess.exec("COMMIT")
              isLocked = false
              break
            case "turn":
              yield* Effect.yieldNow
              break
            case "wait":
              yield* TestClock.adjust(command.ms)
              break
          }
        }
        if (isLocked) otherProcess.exec("COMMIT")
        // Waits for the maximum pause between attempts, after which all waiting writes are committed.
        yield* TestClock.adjust(25)
        const exits = yield* Effect.forEach(submissions, ({ fiber }) => Fiber.await(fiber))

        const stored = otherProcess
          .prepare("SELECT id FROM writes ORDER BY rowid")
          .all()
          .map(({ id }) => Number(id))
        const acknowledged = submissions.flatMap(({ write }, index) => {
          const exit = exits[index]
          return exit !== undefined && Exit.isSuccess(exit) ? [write.id] : []
        })
        expect(stored).toEqual(acknowledged)
        for (const [index, exit] of exits.entries()) {
          const { id, kind } = submissions[index]?.write ?? { id: -1, kind: "valid" }
          if (Exit.isSuccess(exit)) {
            expect([exit.value, kind]).toEqual([id, "valid"])
            coverage.stored++
          } else if (Cause.hasInterrupts(exit.cause)) {
            coverage.interrupted++
          } else {
            expect(interrupted.has(id)).toBe(false)
            coverage.failed++
            const group = groups.findLast((members) => members.some((member) => member.id === id)) ?? []
            // The write itself failed, or another write of its group did.
            const kinds = group.map((member) => member.kind)
            const isOwnDefect = kind === "write defect" && Cause.squash(exit.cause) === `bug ${id}`
            expect(isOwnDefect || kinds.includes("rejected") || kinds.includes("group defect")).toBe(true)
            if (!isOwnDefect && kind === "valid") coverage.sharedFailure++
          }
        }
        if (groups.some((group) => group.length > 1)) coverage.shared++
      }).pipe(Effect.runPromiseWith(services))
    )
    yield* Effect.promise(() => fc.assert(law, { numRuns: 300 }))
    expect(Object.entries(coverage).filter(([, count]) => count < 30)).toEqual([])
  })
)
