/** Converts store errors to one-line messages that name flags. */
import * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import {
  DatabaseUnusable,
  InvalidDatabase,
  InvalidOption,
  PlanInvalid,
  RedisUnusable,
  RotationUnfinished
} from "../embed/index.ts"
import * as KeyText from "./keys/KeyText.ts"
import { printable } from "./Printable.ts"
import * as Setting from "./Setting.ts"
import * as StoreFlags from "./StoreFlags.ts"

/** Calls the store and converts its errors; `signal` is aborted when the command is interrupted. */
export const attempt = <A>(
  evaluate: (signal: AbortSignal) => Promise<A>,
  convert: (cause: unknown) => CliError.UserError = userError
): Effect.Effect<A, CliError.UserError> => Effect.tryPromise({ try: evaluate, catch: convert })

/** Creates the error that makes the command fail with one line on standard error. */
export const userError = (cause: unknown): CliError.UserError => withConsequence(cause, "")

/** Like `userError`, but appends `consequence` to the message. */
export const withConsequence = (cause: unknown, consequence: string): CliError.UserError =>
  new CliError.UserError({ cause, userMessage: printable(`${messageOf(cause)}${consequence}`) })

/** Returns an error that names both flags of stores, because with `limits` the error may come from either store. */
export const ofEither = (cause: unknown, limits: string | undefined): unknown => {
  const isOfStore = cause instanceof StoreUnavailable || cause instanceof DatabaseUnusable
  return limits !== undefined && isOfStore
    ? new Error(`${Setting.title("limits")} or ${messageOf(cause)}`, { cause })
    : cause
}

/** Like `userError`, but the message of a database error begins with `flag`, with which its address was passed. */
export const userErrorAt =
  (flag: string) =>
  (cause: unknown): CliError.UserError =>
    cause instanceof DatabaseUnusable || cause instanceof InvalidDatabase
      ? userError(new Error(`${Setting.title(flag)}: ${cause.reason}`, { cause }))
      : userError(cause)

const messageOf = (cause: unknown): string => {
  if (cause instanceof DatabaseUnusable) return `${Setting.title("database")}: ${cause.reason}`
  if (cause instanceof RedisUnusable) return `${Setting.title("limits")}: ${cause.reason}`
  if (cause instanceof StoreUnavailable) return `${Setting.title("database")}: ${innermost(cause.cause)}`
  if (cause instanceof PlanInvalid) return withFlagNames(cause.reason)
  if (cause instanceof RotationUnfinished) {
    const { id, secretCreatedAt, secretExpiresAt } = cause
    return `the secret of ${id} that was issued at ${KeyText.time(secretCreatedAt)} works until ${KeyText.time(secretExpiresAt)}; another rotation ends it now, and requires --force`
  }
  if (cause instanceof InvalidDatabase) return `${Setting.title(cause.option)}: ${cause.reason}`
  if (cause instanceof InvalidOption) {
    const flag = StoreFlags.flagOf(cause.option)
    if (flag !== undefined) return `${Setting.title(flag)}: ${cause.reason}`
  }
  if (cause instanceof Error && cause.message !== "") return cause.message
  return innermost(cause)
}

/** Returns the message of the innermost error in a chain of causes. */
const innermost = (cause: unknown): string => {
  if (cause instanceof AggregateError) return innermost(cause.errors[0])
  if (!(cause instanceof Error)) return String(cause)
  if (cause.cause instanceof Error) return innermost(cause.cause)
  return cause.message === "" ? cause.name : cause.message
}

const withFlagNames = (reason: string): string =>
  reason.replace("perMinute", "--per-minute").replace("perDay", "--per-day")
