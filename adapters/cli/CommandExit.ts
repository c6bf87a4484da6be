/** A failure that only sets the exit code of a command; all output has already been printed. */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"

export class CommandExit extends Data.TaggedError("CommandExit")<{ readonly code: number }> {
  override readonly [Runtime.errorExitCode] = this.code
  // Despite its name, `false` keeps `runMain` from logging the error again.
  override readonly [Runtime.errorReported] = false
}

/** Fails with the exit code `code`; does nothing if `code` is 0. */
export const withCode = (code: number): Effect.Effect<void, CommandExit> =>
  code === 0 ? Effect.void : Effect.fail(new CommandExit({ code }))

/** Whether a program failed with `CommandExit`. */
export const isCommandExit = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof CommandExit
