/** The end of a command with an exit code of its own; what there is to say was said. */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"

export class Ended extends Data.TaggedError("Ended")<{ readonly code: number }> {
  override readonly [Runtime.errorExitCode] = this.code
  override readonly [Runtime.errorReported] = false
}

/** Ends with the code, unless it is 0: then the command goes on. */
export const withCode = (code: number): Effect.Effect<void, Ended> =>
  code === 0 ? Effect.void : Effect.fail(new Ended({ code }))

/** Whether a program ended so. */
export const isEnd = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof Ended
