/** Prints the notice that a server is stopping. */
import type * as Effect from "effect/Effect"
import * as DurationFlag from "./DurationFlag.ts"
import * as LogFlags from "./LogFlags.ts"

/** Prints how long the server keeps accepting requests before it waits for those in flight. */
export const print = (flags: LogFlags.Values & { readonly drainMs: number }): Effect.Effect<void> => {
  const { drainMs } = flags
  const accepting = `accepting requests for ${DurationFlag.format(drainMs)}, or until a second signal; then `
  return LogFlags.notice(flags, `stopping; ${drainMs === 0 ? "" : accepting}waiting for requests in flight`)
}
