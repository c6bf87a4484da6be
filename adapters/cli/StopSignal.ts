/** The signals that stop a process, beyond the first one, which `runMain` turns into an interruption. */
import * as Effect from "effect/Effect"

const signals = ["SIGINT", "SIGTERM"] as const

/**
 * Signals that come so soon after the first one were sent for the same reason: a terminal sends its SIGINT to npm and to
 * the server, and npm forwards what it received.
 */
const DUPLICATE_MS = 1_000

/** Completes with the second signal; run it when the first has come. */
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
