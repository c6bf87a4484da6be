/** Defines and checks `--workers`: the number of processes that serve. */
import { availableParallelism } from "node:os"
import type * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as DatabaseAddress from "../../embed/DatabaseAddress.ts"
import * as Failure from "../Failure.ts"
import * as Setting from "../Setting.ts"

const FLAG = "workers"
const MAX = 512

/** A number of processes, or `auto` for one per core. */
export type WorkerCount = number | "auto"

/** Parses the value of the flag. */
export const parse: Setting.Parse<WorkerCount> = (text) => {
  if (text === "auto") return Result.succeed("auto")
  return Result.mapError(Setting.between(1, MAX)(text), (reason) => `${reason}, or auto`)
}

/** `--workers`. */
export const flag = Setting.withDefault(
  FLAG,
  "N",
  "Number of processes that serve on the port, or auto for one per core; requires data outside memory.",
  parse,
  "1"
)

/** The values of flags that may permit only one process. */
export interface Companions {
  readonly database: string
  readonly limits: Option.Option<string>
  readonly testClockPort: Option.Option<number>
}

/** Returns the number of processes, or fails if other flags do not permit more than one. */
export const resolve = (
  count: WorkerCount,
  { database, limits, testClockPort }: Companions
): Effect.Effect<number, CliError.UserError> => {
  if (count === 1) return Effect.succeed(1)
  // Also checked if `auto` finds a single core: whether a command is valid must not depend on the machine.
  const inMemory = isMemory(database) ? "database" : "limits"
  if (inMemory === "database" || Option.exists(limits, isMemory)) {
    return reject(
      `--${inMemory} memory: requires a single process, because processes share no memory; use sqlite:, postgres: or, for limits, redis:`
    )
  }
  if (Option.isSome(testClockPort)) {
    return reject(
      "--test-clock-port requires a single process, because each process would have its own clock"
    )
  }
  return Effect.succeed(count === "auto" ? availableParallelism() : count)
}

const isMemory = (address: string): boolean => {
  const parsed = DatabaseAddress.parse(address)
  return Result.isSuccess(parsed) && parsed.success.kind === "memory"
}

const reject = (reason: string): Effect.Effect<never, CliError.UserError> =>
  Effect.fail(Failure.userError(new Error(`${Setting.title(FLAG)}: ${reason}`)))
