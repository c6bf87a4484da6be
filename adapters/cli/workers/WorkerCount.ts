/** Defines and checks `--workers`: the number of processes that serve. */
import { availableParallelism } from "node:os"
import type * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Rule from "../../../core/options/Rule.ts"
import * as DatabaseAddress from "../../embed/DatabaseAddress.ts"
import * as Failure from "../Failure.ts"
import * as Setting from "../Setting.ts"

/** The name of the flag. */
export const FLAG = "workers"
const MAX = 512

/** A number of processes, or `auto` for one per core. */
export type WorkerCount = number | "auto"

const number = Rule.integer({ min: 1, max: MAX })

/** The rule of the flag. */
export const rule: Rule.TextRule<WorkerCount> = Rule.readable(
  Rule.make(
    (value): value is WorkerCount => value === "auto" || number.isValid(value),
    `must be a whole number from 1 to ${MAX}, or auto`
  ),
  "N|auto",
  (text) => (text === "auto" ? text : Option.getOrUndefined(Result.getSuccess(number.reader.parse(text))))
)

/** The values of flags that may permit only one process. */
export interface Companions {
  readonly store: { readonly database: string; readonly limits: string | undefined }
  readonly testClockPort: number | undefined
}

/** Returns the number of processes, or fails if other flags do not permit more than one. */
export const resolve = (
  count: WorkerCount,
  { store: { database, limits }, testClockPort }: Companions
): Effect.Effect<number, CliError.UserError> => {
  if (count === 1) return Effect.succeed(1)
  // Also checked if `auto` finds a single core: whether a command is valid must not depend on the machine.
  const inMemory = isMemory(database) ? "database" : "limits"
  if (inMemory === "database" || (limits !== undefined && isMemory(limits))) {
    return reject(
      `--${inMemory} memory: requires a single process, because processes share no memory; use sqlite:, postgres: or, for limits, redis:`
    )
  }
  if (testClockPort !== undefined) {
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
