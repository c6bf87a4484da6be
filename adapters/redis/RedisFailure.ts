/** Defines the failure of a command, sorts failures by cause and explains them. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { ErrorReply } from "redis"
import type { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import * as StoreFailure from "../storage/StoreFailure.ts"

/** The failure of a command. `cause` is the server's error reply (`ErrorReply`), or an error of the connection. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{ readonly cause: unknown }> {}

/**
 * Creates a failure from an error of the driver. The error of a server without `HELLO` repeats the arguments of that
 * command, which include the password; they are removed.
 */
export const of = (error: unknown): CommandFailed =>
  new CommandFailed({
    cause:
      error instanceof ErrorReply && /^ERR unknown command/.test(error.message)
        ? new ErrorReply(error.message.replace(/, with args beginning with:[\s\S]*$/, ""))
        : error
  })

/** Creates a failure that does not come from the driver. */
export const because = (reason: string): CommandFailed => new CommandFailed({ cause: new Error(reason) })

/** Fails unless the effect ends within `timeoutMs` milliseconds. */
export const withTimeout =
  (timeoutMs: number) =>
  <A>(effect: Effect.Effect<A, CommandFailed>): Effect.Effect<A, CommandFailed> =>
    Effect.timeoutOrElse(effect, {
      duration: timeoutMs,
      orElse: () => Effect.fail(because(`no response within ${timeoutMs} ms`))
    })

/** Returns the cause of a failure. The first word of an error reply decides, or the whole reply if that is `ERR`. */
export const causeOf = (failure: CommandFailed): StoreFailure.Cause => {
  const reply = replyOf(failure)
  if (reply === "" || WRONG_SERVER.test(reply)) return "connection"
  return LACKS_CAPACITY.test(reply) ? "capacity" : "configuration"
}

/** A replica, or a server that is not ready yet. */
const WRONG_SERVER = /^(?:READONLY|MASTERDOWN|LOADING)\b/

/** Errors that pass without an operator, also while a cluster elects a primary or moves slots. */
const LACKS_CAPACITY =
  /^(?:OOM|BUSY|MISCONF|NOREPLICAS|NOSCRIPT|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|ERR max number of clients)\b/

/** Converts the failure of a call. */
export const toEffect = (failure: CommandFailed): Effect.Effect<never, StoreUnavailable> =>
  StoreFailure.toEffect(causeOf(failure), failure.cause)

/** Returns the error that the server replied with; "" if there is no reply. */
export const replyOf = ({ cause }: CommandFailed): string =>
  cause instanceof ErrorReply ? cause.message : ""

/** Returns the error that the server replied with; "" for a success, or if there is no reply. */
export const errorReplyIn = (exit: Exit.Exit<unknown, CommandFailed>): string =>
  Option.match(Exit.findErrorOption(exit), { onNone: () => "", onSome: replyOf })

/** Whether a server rejected the user, the password or the user's permissions. */
export const isLoginFailure = (failure: CommandFailed): boolean =>
  /^(?:NOAUTH|WRONGPASS|NOPERM|ERR AUTH|ERR invalid password)/.test(replyOf(failure))

/** Returns the message of an error in one line. */
export const detailOf = (failure: CommandFailed): string => {
  // Node tries each address of a host; the errors are usually the same.
  const cause: unknown = failure.cause instanceof AggregateError ? failure.cause.errors[0] : failure.cause
  if (Predicate.hasProperty(cause, "syscall") && Predicate.hasProperty(cause, "code")) {
    return `${cause.syscall} ${cause.code}`
  }
  return cause instanceof Error ? (cause.message.split("\n", 1)[0] ?? cause.name) : String(cause)
}
