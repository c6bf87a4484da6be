/** Stop signals after the first one, which `runMain` turns into an interruption. */
import * as Effect from "effect/Effect"

const signals = ["SIGINT", "SIGTERM"] as const

/**
 * Signals within this time after the first one are duplicates: a terminal sends SIGINT to npm and to the server, and
 * npm forwards it to the server again.
 */
const DUPLICATE_MS = 1_000

/** Completes with the second signal; run it after the first one. */
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
