/** Decides what signals mean after the first one, which `runMain` turns into an interruption. */
import type { EventEmitter } from "node:events"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Host } from "./Host.ts"

/**
 * Milliseconds after a signal during which the same signal counts as a duplicate: a terminal sends SIGINT both to npm
 * and to the server, and npm then forwards it to the server.
 */
const DUPLICATE_MS = 500

/** The exit code of a command that a signal ended before its work was done. */
export const INTERRUPTED = 130

/** Completes when a second SIGTERM arrives that is no duplicate; run it once the first signal has arrived. */
export const secondTerm = ({ signals }: Pick<Host, "signals">): Effect.Effect<void> =>
  Effect.andThen(
    Effect.sleep(DUPLICATE_MS),
    Effect.callback((resume) => {
      const onTerm = (): void => resume(Effect.void)
      signals.once("SIGTERM", onTerm)
      return Effect.sync(() => signals.off("SIGTERM", onTerm))
    })
  )

/** How a server that was interrupted drains. */
export interface Drain {
  /** Whether SIGINT has arrived: whoever pressed Ctrl-C waits for the end, so there is no drain period. */
  readonly isSkipped: () => boolean
  /** Completes when the drain period should end early: at SIGINT, or at `secondTerm`. */
  readonly ended: Effect.Effect<void>
}

/** Observes the signals from now on; run `ended` once the command is interrupted. */
export const observe: Effect.Effect<Drain, never, Scope.Scope> = Effect.gen(function* () {
  const host = yield* Host
  const { signals } = host
  const interrupted = Deferred.makeUnsafe<void>()
  const onInterrupt = (): void => void Deferred.doneUnsafe(interrupted, Effect.void)
  // Before the listener of `runMain`, which starts the drain.
  signals.prependOnceListener("SIGINT", onInterrupt)
  yield* Effect.addFinalizer(() => Effect.sync(() => signals.off("SIGINT", onInterrupt)))
  return {
    isSkipped: () => Deferred.isDoneUnsafe(interrupted),
    ended: Effect.raceFirst(Deferred.await(interrupted), secondTerm(host))
  }
})

/**
 * Makes a second SIGINT that is no duplicate end this process immediately, whatever it does, and makes further SIGTERMs
 * harmless: `runMain` removes its listeners before the process has ended, and SIGTERM would then kill it.
 */
export const install = (signals: EventEmitter): void => {
  signals.once("SIGTERM", () => signals.on("SIGTERM", () => {}))
  signals.once("SIGINT", () => {
    const first = performance.now()
    signals.on("SIGINT", () => {
      if (performance.now() - first >= DUPLICATE_MS) process.exit(INTERRUPTED)
    })
  })
}
