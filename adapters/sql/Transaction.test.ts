import { expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { isSqlError } from "effect/sql/SqlError"
import * as Databases from "./Databases.fixture.ts"
import * as Nodes from "./Nodes.fixture.ts"
import * as Transaction from "./Transaction.ts"

Databases.describeOn(Databases.postgres, "Transaction.run", () => {
  it.effect("fails with a SqlError if the connection ends within the transaction", () =>
    Effect.gen(function* () {
      const sql = yield* Nodes.openClient(yield* Databases.postgres.create)
      const endConnection = sql`SELECT pg_terminate_backend(pg_backend_pid())`
      const error = yield* Effect.flip(Transaction.run(sql, endConnection))
      expect(isSqlError(error)).toBe(true)
      // If this is no longer a defect, `Transaction` can be removed.
      const exit = yield* Effect.exit(sql.withTransaction(endConnection))
      expect(Exit.isFailure(exit) && Cause.hasDies(exit.cause)).toBe(true)
    })
  )

  it.effect("keeps the errors and defects of the work", () =>
    Effect.gen(function* () {
      const sql = yield* Nodes.openClient(yield* Databases.postgres.create)
      expect(yield* Effect.flip(Transaction.run(sql, Effect.fail("no")))).toBe("no")
      expect(yield* Effect.exit(Transaction.run(sql, Effect.die("a bug")))).toEqual(Exit.die("a bug"))
      expect(yield* Transaction.run(sql, Effect.succeed(1))).toBe(1)
    })
  )
})
