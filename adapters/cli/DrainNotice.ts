/** Prints the notice that a server is stopping. */
import type * as Effect from "effect/Effect"
import * as Duration from "../../core/options/Duration.ts"
import * as Notice from "./Notice.ts"
import type * as ServeFlags from "./ServeFlags.ts"

/** Prints how long the server keeps accepting requests before it waits for those in flight. */
export const print = ({
  drainMs,
  store
}: Pick<ServeFlags.Values, "drainMs" | "store">): Effect.Effect<void> => {
  const accepting = `accepting requests for ${Duration.format(drainMs)}, or until a second signal; then `
  return Notice.print(store, `stopping; ${drainMs === 0 ? "" : accepting}waiting for requests in flight`)
}
