/** Which stores a database address names. */
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Memory from "../memory/Memory.ts"
import type { DatabaseUnusable } from "../sql/DatabaseUnusable.ts"
import type * as Sql from "../sql/Sql.ts"
import * as SqlOptions from "../sql/SqlOptions.ts"

/** How a database is used; what is absent is as in `defaults`. */
export interface DatabaseOptions {
  /** Milliseconds, 1 or more, after which a database that does not answer counts as out of reach (503). */
  readonly databaseTimeoutMs: number
  /** Most connections to PostgreSQL, 1 or more. */
  readonly databaseConnections: number
  /** Milliseconds, 0 to 5000, that API keys are kept: so long a revocation may take to reach every node. */
  readonly keyCacheMs: number
  /**
   * Most rate-limit states of client networks, 1000 or more, which requests without a valid key are counted for; beyond it
   * those go that were used least recently.
   */
  readonly maxAnonymousStates: number
}

/** What holds for every option that is not given. */
export const defaults: DatabaseOptions = {
  databaseTimeoutMs: SqlOptions.defaults.timeoutMs,
  databaseConnections: SqlOptions.defaultConnections,
  keyCacheMs: SqlOptions.defaults.keyCacheMs,
  maxAnonymousStates: SqlOptions.defaults.maxAnonymousStates
}

/** The least and the most that each may be, in whole numbers. */
export const bounds = {
  databaseTimeoutMs: SqlOptions.bounds.timeoutMs,
  databaseConnections: SqlOptions.bounds.connections,
  keyCacheMs: SqlOptions.bounds.keyCacheMs,
  maxAnonymousStates: SqlOptions.bounds.maxAnonymousStates
} as const

/** A database address, or an option of databases, that cannot be meant. */
export class InvalidDatabase extends Data.TaggedError("InvalidDatabase")<{
  readonly option: "database" | keyof DatabaseOptions
  readonly reason: string
}> {
  override get message(): string {
    return `${this.option}: ${this.reason}`
  }
}

const names = [
  "databaseTimeoutMs",
  "databaseConnections",
  "keyCacheMs",
  "maxAnonymousStates"
] as const satisfies ReadonlyArray<keyof DatabaseOptions>

/**
 * The stores at `address`: `memory:` keeps everything in this process and loses it with it, `sqlite:PATH` in a file,
 * `postgres://…` on a server. `clock` says whose time limits go by on a server.
 */
export const stores = (
  address: string,
  given: DatabaseOptions,
  clock: SqlOptions.SqlOptions["clock"]
): Result.Result<Layer.Layer<Sql.Stores, DatabaseUnusable, SecureRandom.SecureRandom>, InvalidDatabase> => {
  for (const option of names) {
    const reason = SqlOptions.fault(given[option], bounds[option])
    if (reason !== undefined) return Result.fail(new InvalidDatabase({ option, reason }))
  }
  const {
    databaseConnections: connections,
    databaseTimeoutMs: timeoutMs,
    keyCacheMs,
    maxAnonymousStates
  } = given
  const options = { timeoutMs, keyCacheMs, maxAnonymousStates }
  if (address === "memory:") {
    return Result.succeed(
      Memory.layerWith({ maxAnonymousStates, clock: clock === "service" ? "service" : "process" })
    )
  }
  // Drivers are loaded when they are used: it takes time, and node:sqlite warns on older Nodes.
  // `sqlite://a/b` would be the file /a/b, and `sqlite::memory:` a file of that name.
  const filename = /^sqlite:(?!\/\/)([^\0]+)$/.exec(address)?.[1]
  if (filename !== undefined && filename !== ":memory:") {
    return Result.succeed(
      Layer.unwrap(
        Effect.map(
          Effect.promise(() => import("../sql/Sqlite.ts")),
          (sqlite) => sqlite.layer({ ...options, filename })
        )
      )
    )
  }
  // A password with an unescaped "#" would be cut there, and what stands before it taken for the server.
  if (/^postgres(?:ql)?:\/\/[^#]*$/.test(address) && URL.canParse(address)) {
    const url = Redacted.make(address)
    return Result.succeed(
      Layer.unwrap(
        Effect.map(
          Effect.promise(() => import("../sql/Postgres.ts")),
          (postgres) => postgres.layer({ ...options, url, connections, clock })
        )
      )
    )
  }
  // The address may hold a password, so it is not repeated.
  return Result.fail(
    new InvalidDatabase({
      option: "database",
      reason: "must be 'memory:', 'sqlite:PATH' or 'postgres://user:password@host:port/database'"
    })
  )
}
