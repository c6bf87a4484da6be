/** Checks that the thread stores exactly the acknowledged writes, once and in order of submission. */
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Reactivity from "effect/reactivity/Reactivity"
import type { SqlError } from "effect/sql/SqlError"
import * as fc from "fast-check"
import { CallObserver } from "../storage/CallObserver.ts"
import * as Databases from "./Databases.fixture.ts"
import { asEffect } from "./SqliteThread.fixture.ts"
import * as SqliteWorkerClient from "./SqliteWorkerClient.ts"

type Command =
  /** Submits writes concurrently. Each write succeeds, violates a constraint, or cannot be sent to the thread. */
  | { readonly action: "submit"; readonly writes: ReadonlyArray<Kind> }
  /** Interrupts the nth waiting write. */
  | { readonly action: "interrupt"; readonly nth: number }
  /** Another process acquires or releases the write lock, or the event loop turns. */
  | { readonly action: "lock" | "unlock" | "turn" }
  | { readonly action: "wait"; readonly ms: number }

type Kind = "valid" | "rejected" | "unsendable"

const anyKind: fc.Arbitrary<Kind> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Kind>("valid") },
  fc.constantFrom<Kind>("rejected", "unsendable")
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
    weight: 1,
    arbitrary: fc.record({ action: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 3 }) })
  }
)

interface Submission {
  readonly kind: Kind
  readonly fiber: Fiber.Fiber<unknown, SqlError>
}

const valueOf: { readonly [kind in Kind]: unknown } = { valid: "valid", rejected: null, unsendable: () => {} }

it.live("SqliteThread stores exactly the acknowledged writes, once and in order", () => {
  const coverage = { stored: 0, failed: 0, withdrawn: 0, interruptedLate: 0, shared: 0, sharedFailure: 0 }
  const committed = (calls: number): void => {
    if (calls > 1) coverage.shared++
  }
  return Effect.gen(function* () {
    const filename = (yield* Databases.sqlite.create).address.slice("sqlite:".length)
    const sql = yield* SqliteWorkerClient.make(filename)
    const otherProcess = yield* Effect.acquireRelease(
      // Waits while the thread commits.
      Effect.sync(() => new DatabaseSync(filename, { timeout: 10_000 })),
      (otherProcess) => Effect.sync(() => otherProcess.close())
    )
    otherProcess.exec("CREATE TABLE writes (id INTEGER NOT NULL, kind TEXT NOT NULL)")
    const group = asEffect(sql.submit.groups)
    const write = (params: ReadonlyArray<unknown>) => group([["INSERT INTO writes VALUES (?, ?)", params]])

    const law = fc.asyncProperty(fc.array(anyCommand, { maxLength: 30, size: "max" }), (commands) =>
      Effect.gen(function* () {
        otherProcess.exec("DELETE FROM writes")
        const submissions: Array<Submission> = []
        const [withdrawn, interruptedLate] = [new Set<number>(), new Set<number>()]
        /** The first write that was submitted after the other process had acquired the lock. */
        let firstLocked: number | undefined

        for (const command of commands) {
          switch (command.action) {
            case "submit":
              for (const kind of command.writes) {
                const written = write([submissions.length, valueOf[kind]])
                submissions.push({
                  kind,
                  fiber: yield* Effect.forkChild(written, { startImmediately: true })
                })
              }
              break
            case "interrupt": {
              const waiting = [...submissions.entries()].filter(
                ([, { fiber }]) => fiber.pollUnsafe() === undefined
              )
              const [id, submission] = waiting[command.nth % Math.max(waiting.length, 1)] ?? []
              if (id === undefined || submission === undefined) break
              yield* Fiber.interrupt(submission.fiber)
              const isLocked = firstLocked !== undefined && id >= firstLocked
              ;(isLocked ? withdrawn : interruptedLate).add(id)
              break
            }
            case "lock":
              if (firstLocked === undefined) otherProcess.exec("BEGIN IMMEDIATE")
              firstLocked ??= submissions.length
              break
            case "unlock":
              if (firstLocked !== undefined) otherProcess.exec("COMMIT")
              firstLocked = undefined
              break
            case "turn":
              yield* Effect.yieldNow
              break
            case "wait":
              yield* Effect.promise(() => sleep(command.ms))
              break
          }
        }
        if (firstLocked !== undefined) otherProcess.exec("COMMIT")
        const exits = yield* Effect.forEach(submissions, ({ fiber }) => Fiber.await(fiber))
        // Writes that were interrupted late may still be in progress; this one is executed after them.
        yield* write([submissions.length, "last"])

        const stored = otherProcess
          .prepare("SELECT id FROM writes ORDER BY rowid")
          .all()
          .map(({ id }) => Number(id))
        const acknowledged = exits.flatMap((exit, id) => (Exit.isSuccess(exit) ? [id] : []))
        expect(stored.filter((id) => !interruptedLate.has(id))).toEqual([...acknowledged, submissions.length])
        expect(stored).toEqual([...new Set(stored)].sort((left, right) => left - right))
        for (const [id, { kind }] of submissions.entries()) {
          const isFailed = !acknowledged.includes(id) && !withdrawn.has(id) && !interruptedLate.has(id)
          if (isFailed) coverage.failed++
          if (isFailed && kind === "valid") {
            coverage.sharedFailure++
            expect(submissions.some((other) => other.kind !== "valid")).toBe(true)
          }
          if (acknowledged.includes(id)) expect(kind).toBe("valid")
        }
        coverage.stored += acknowledged.length
        coverage.withdrawn += withdrawn.size
        coverage.interruptedLate += interruptedLate.size
      }).pipe(Effect.runPromise)
    )
    yield* Effect.promise(() => fc.assert(law, { numRuns: 150 }))
    expect(Object.entries(coverage).filter(([, count]) => count < 30)).toEqual([])
  }).pipe(
    Effect.provide(Reactivity.layer),
    Effect.provideService(CallObserver, { observe: () => (call) => call, committed })
  )
})
