/** Defines the startup error for Redis. An operator must fix the cause; the message is one line. */
import * as Data from "effect/Data"

/** Redis cannot be used. `reason` contains no secret. */
export class RedisUnusable extends Data.TaggedError("RedisUnusable")<{
  readonly reason: string
  readonly cause?: unknown
}> {
  override get message(): string {
    return `limits: ${this.reason}`
  }
}
