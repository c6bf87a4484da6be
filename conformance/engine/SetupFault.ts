/** A run that cannot begin. */
import * as Data from "effect/Data"

/** The set-up cannot be meant: the subject is out of reach, a key is refused, a clock is dead. Nothing is proven. */
export class SetupFault extends Data.TaggedError("SetupFault")<{
  /** One sentence for whoever set it up. */
  readonly reason: string
}> {
  override get message(): string {
    return this.reason
  }
}
