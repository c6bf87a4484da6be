/** Defines the error of a run that cannot begin. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** The set-up is invalid: for example, the subject is unreachable, or a key is rejected. No check was run. */
export class SetupError extends Data.TaggedError("SetupError")<{
  /** One sentence for the user. */
  readonly reason: string
}> {
  override get message(): string {
    return this.reason
  }
}

/** Fails with an error in the set-up. */
export const failSetup = (reason: string): Effect.Effect<never, SetupError> =>
  Effect.fail(new SetupError({ reason }))
