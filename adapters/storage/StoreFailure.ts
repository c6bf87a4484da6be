/** Sorts the failures of databases by cause, and converts them to the failures of ports. */
import * as Effect from "effect/Effect"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"

/**
 * The cause of a failure:
 *
 * - `connection`: the connection was lost, or leads to a server that cannot serve it, for example to a standby.
 * - `capacity`: the server works, but lacks connections, memory, disk space or a lock at present.
 * - `data`: the server rejects a value, so a retry cannot succeed.
 * - `configuration`: an operator must act; also every failure without a known cause.
 */
export type Cause = "connection" | "capacity" | "data" | "configuration"

/**
 * Converts a failure: `StoreUnavailable`, but a defect if a value was rejected. The core validates all values, so a
 * rejected value is a bug, and must not make the node unready.
 */
export const toEffect = (cause: Cause, error: unknown): Effect.Effect<never, StoreUnavailable> =>
  cause === "data"
    ? Effect.die(error)
    : Effect.fail(new StoreUnavailable({ retryable: cause !== "configuration", cause: error }))
