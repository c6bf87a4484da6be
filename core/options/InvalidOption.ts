/** Defines the error for an unknown or invalid option. */
import * as Data from "effect/Data"

/** An option is unknown, missing or invalid. The message never contains the value, which may be a secret. */
export class InvalidOption extends Data.TaggedError("InvalidOption")<{
  /** The name as given; `options` if the options are not an object, `ban` for the `BanPolicy` in the context. */
  readonly option: string
  readonly reason: string
}> {
  override get message(): string {
    return `${this.option}: ${this.reason}`
  }
}
