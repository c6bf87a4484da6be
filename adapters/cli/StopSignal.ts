/** Waits for a second stop signal; `runMain` turns the first one into an interruption. */
import * as Effect from "effect/Effect"
import { Host } from "./Host.ts"

const names = ["SIGINT", "SIGTERM"] as const

/**
 * Milliseconds after the first signal during which further signals count as duplicates: a terminal sends SIGINT both to
 * npm and to the server, and npm then forwards it to the server.
 */
const DUPLICATE_MS = 1_000

/** Completes when a second signal arrives; run it once the first one has arrived. Ignores duplicates. */
export const second: Effect.Effect<void> = Effect.andThen(
  Effect.sleep(DUPLICATE_MS),
  Effect.flatMap(Host, ({ signals }) =>
    Effect.callback((resume) => {
      const onSignal = (): void => resume(Effect.void)
      for (const name of names) signals.once(name, onSignal)
      return Effect.sync(() => {
        for (const name of names) signals.off(name, onSignal)
      })
    })
  )
)
