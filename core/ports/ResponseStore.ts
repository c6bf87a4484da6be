/** Defines the port for the responses of operations that run once for each `Idempotency-Key`. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import type { Once } from "../idempotency/Once.ts"

/** What a request with an `Idempotency-Key` finds. */
export type Claim =
  /** The key was free; it is now claimed, and the operation may run. */
  | { readonly _tag: "Claimed" }
  /** An earlier request with this key and fingerprint has this result. */
  | { readonly _tag: "Settled"; readonly result: string }
  /** An earlier request with this key and fingerprint claimed the key at `since` (epoch milliseconds), and has no result. */
  | { readonly _tag: "Unsettled"; readonly since: number }
  /** The key belongs to a request with another fingerprint. */
  | { readonly _tag: "Mismatch" }

/**
 * Stores the results of operations whose effects are outside the database. Optional: without it, such operations ignore
 * `Idempotency-Key`. A store of the program itself may lack it.
 */
export const ResponseStore = Context.Reference<
  | {
      /**
       * Claims the key of the caller for `Once.RETENTION_MS` from `once.now`, unless an unexpired claim exists. Atomic:
       * of several concurrent calls, one gets `Claimed`.
       */
      readonly claim: (once: Once) => Effect.Effect<Claim, StoreUnavailable>
      /** Stores the result of a claimed key, until the claim expires; `undefined` frees the key. */
      readonly settle: (once: Once, result: string | undefined) => Effect.Effect<void, StoreUnavailable>
    }
  | undefined
>("animal-store/core/ports/ResponseStore", { defaultValue: () => undefined })

/** The methods of a store of responses. */
export type Methods = NonNullable<Context.Service.Shape<typeof ResponseStore>>
