/** Prints notices of a command to standard error, in the log format. */
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Duration from "../../core/options/Duration.ts"
import { isLogged } from "../log/LogEvent.ts"
import * as LogFormat from "../log/LogFormat.ts"
import type * as ServeFlags from "./ServeFlags.ts"
import type * as StopSignal from "./StopSignal.ts"

/** Prints a notice, if the log level permits it. */
export const print = (
  { logFormat, logLevel }: Pick<ServeFlags.Values["store"], "logFormat" | "logLevel">,
  message: string,
  level: "info" | "warn" = "info"
): Effect.Effect<void> => {
  if (!isLogged(level, logLevel)) return Effect.void
  if (logFormat !== "json") return Console.error(`animal-store: ${message}`)
  return Effect.flatMap(Clock.currentTimeMillis, (time) =>
    Console.error(LogFormat.json({ time, level, message, fields: {} }))
  )
}

/** Prints how long a stopping server keeps accepting requests before it waits for those in flight. */
export const stopping = (
  { drainMs, store }: Pick<ServeFlags.Values, "drainMs" | "store">,
  drain: StopSignal.Drain
): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (drain.isSkipped()) {
      return print(store, "stopping; waiting for requests in flight, or until a second SIGINT (Ctrl-C)")
    }
    const accepting = `accepting requests for ${Duration.format(drainMs)}, or until a second signal; then `
    return print(store, `stopping; ${drainMs === 0 ? "" : accepting}waiting for requests in flight`)
  })
