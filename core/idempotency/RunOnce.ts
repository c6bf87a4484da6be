/**
 * Runs an operation at most once for each `Idempotency-Key`, and returns its response to later requests with the key.
 * The operation has effects outside the database, so its result cannot be stored together with them: the key is claimed
 * before it runs, and settled afterwards.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as ApiError from "../errors/ApiError.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import type * as ResponseStore from "../ports/ResponseStore.ts"
import type { Header } from "../service/ServiceResponse.ts"
import type { Once } from "./Once.ts"

/** Time for which an operation without a result is taken to be running, in milliseconds. */
const MAX_RUN_MS = 5 * 60 * 1000

/** The header of a response to a request whose operation ran for an earlier request. */
export const replayed: Header = ["Idempotency-Replayed", "true"]

/** What an operation returns, as JSON can hold it. */
interface Response {
  readonly headers?: ReadonlyArray<Header>
}

/** The result of an operation whose process ended, or which failed unexpectedly: it may have had effects. */
const UNKNOWN = ""

/**
 * Runs the operation unless an earlier request with the key ran it. Fails with `idempotency_key_in_use` while that request
 * is running, with `idempotency_key_reused` if it was another request, and with `internal_error` if its outcome is unknown.
 * A failure of the operation frees the key. Once the key is claimed, the program is uninterruptible.
 */
export const run = <A extends Response, E extends ApiError.ApiError | StoreUnavailable>(
  store: ResponseStore.Methods,
  once: Once,
  operation: Effect.Effect<A, E>
): Effect.Effect<A, E | ApiError.ApiError | StoreUnavailable> =>
  Effect.uninterruptible(
    Effect.flatMap(store.claim(once), (claim): Effect.Effect<A, E | ApiError.ApiError> => {
      switch (claim._tag) {
        case "Claimed":
          return Effect.onExit(operation, (exit) =>
            Effect.catch(store.settle(once, resultOf(exit)), (failure) =>
              Effect.logWarning("the result of an Idempotency-Key was not stored", failure)
            )
          )
        case "Settled":
          return claim.result === UNKNOWN ? unknown : Effect.succeed(parse<A>(claim.result))
        case "Unsettled":
          return once.now - claim.since < MAX_RUN_MS ? inUse : unknown
        case "Mismatch":
          return reused
      }
    })
  )

/** Returns the result to store; `undefined` if the operation has failed as it may, so that a retry runs it again. */
const resultOf = (exit: Exit.Exit<Response, unknown>): string | undefined => {
  if (Exit.isSuccess(exit)) return JSON.stringify(exit.value)
  return Cause.hasFails(exit.cause) ? undefined : UNKNOWN
}

/** Returns the response that `resultOf` encoded; it has the type of the operation, which its fingerprint identifies. */
const parse = <A extends Response>(result: string): A => {
  const response: A = JSON.parse(result)
  return { ...response, headers: [...(response.headers ?? []), replayed] }
}

const inUse = Effect.fail(ApiError.make("idempotency_key_in_use"))
const reused = Effect.fail(
  ApiError.make(
    "idempotency_key_reused",
    "This Idempotency-Key was used for another request in the past 24 hours."
  )
)
const unknown = Effect.fail(
  ApiError.make(
    "internal_error",
    "An earlier request with this Idempotency-Key failed, and it is not known whether it had an effect."
  )
)
