import type * as PgConnection from "@effect/sql-pg/PgConnection"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import * as PostgresSessions from "./PostgresSessions.ts"

/** A connection on which `next` returns the process of the server that executes the next statement. */
const connectionOf = (
  processId: number,
  next: () => Effect.Effect<number, SqlError>
): PgConnection.PgConnection =>
  // `areKept` uses only these members.
  ({
    processId,
    queryValues: () => Effect.map(Effect.suspend(next), (process) => [[process]])
  }) as unknown as PgConnection.PgConnection

const always = (process: number) => () => Effect.succeed(process)

const refused = Effect.fail(new SqlError({ reason: new ConnectionError({ cause: new Error("refused") }) }))

describe("PostgresSessions.areKept", () => {
  it.effect("opens no other connection to a server without a pooler", () =>
    Effect.gen(function* () {
      const open = Effect.die(new Error("opened"))
      expect(yield* PostgresSessions.areKept(connectionOf(7, always(7)), open)).toBe(true)
    })
  )

  it("returns true if a pooler gives each connection a process of its own", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (one, distance) => {
        const other = Effect.succeed(connectionOf(-2, always(one + 1 + distance)))
        expect(Effect.runSync(PostgresSessions.areKept(connectionOf(-1, always(one)), other))).toBe(true)
      })
    )
  })

  it("returns false if a pooler assigns the latest, the next or a changing process to each statement", () => {
    const order = fc.constantFrom("latest", "in turn", "changing")
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), order, (processes, order) => {
        let statements = 0
        const next = () => {
          statements++
          if (order === "latest") return Effect.succeed(0)
          return Effect.succeed(order === "in turn" ? statements % processes : statements)
        }
        const other = Effect.succeed(connectionOf(-2, next))
        expect(Effect.runSync(PostgresSessions.areKept(connectionOf(-1, next), other))).toBe(false)
      })
    )
  })

  it.effect("returns true if the other connection is refused, or waits for a session that is in use", () =>
    Effect.gen(function* () {
      const connection = connectionOf(-1, always(1))
      expect(yield* PostgresSessions.areKept(connection, refused)).toBe(true)
      const waiting = connectionOf(-2, () => Effect.never)
      const fiber = yield* Effect.forkChild(PostgresSessions.areKept(connection, Effect.succeed(waiting)))
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(fiber)).toBe(true)
    })
  )
})
