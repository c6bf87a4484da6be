/** Waits for a second stop signal; `runMain` turns the first one into an interruption. */
import * as Effect from "effect/Effect"

const signals = ["SIGINT", "SIGTERM"] as const

/**
 * Milliseconds after the first signal during which further signals count as duplicates: a terminal sends SIGINT both to
 * npm and to the server, and npm then forwards it to the server.
 */
const DUPLICATE_MS = 1_000

/** Completes when a second signal arrives; run it once the first one has arrived. Ignores duplicates. */
export const second: Effect.Effect<void> = Effect.andThen(
  Effect.sleep(DUPLICATE_MS),
  Effect.callback((resume) => {
    const onSignal = (): void => resume(Effect.void)
    for (const signal of signals) process.once(signal, onSignal)
    return Effect.sync(() => {
      for (const signal of signals) process.off(signal, onSignal)
    })
  })
)
