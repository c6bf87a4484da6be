/** Endpoints outside the base path that need no key: `/livez`, `/readyz` and `/openapi.json`. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ApiError from "../errors/ApiError.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import * as ReadinessProbe from "./ReadinessProbe.ts"
import * as ServiceResponse from "./ServiceResponse.ts"
import * as StoreHealth from "./StoreHealth.ts"

/** Options of `make`. */
export interface ProbesOptions {
  /** The OpenAPI document as JSON text. */
  readonly openApi: () => string
  /** Consumes a token in the rate limit store that belongs to no caller. */
  readonly count: (now: number) => Effect.Effect<void, StoreUnavailable>
}

/** Creates the probe endpoints of one service, with the state that readiness depends on. */
export const make = Effect.fnUntraced(function* ({ count, openApi }: ProbesOptions) {
  const checkStores = yield* ReadinessProbe.make(count)
  let health = StoreHealth.initial
  const document = yield* Effect.cached(Effect.sync(() => ServiceResponse.make(200, openApi())))
  let isDraining = false

  const readiness = Effect.gen(function* () {
    if (isDraining) return stopping
    if (StoreHealth.isFailing(health, monotonicMs(yield* Clock.monotonicTimeNanos))) return failing
    return yield* Effect.matchEffect(checkStores, {
      onSuccess: () => Effect.succeed(ready),
      onFailure: (failure) => Effect.as(Effect.logWarning("not ready", failure), unreachable)
    })
  })

  const targets = new Map<string, Effect.Effect<ServiceResponse.ServiceResponse>>([
    ["/livez", Effect.succeed(live)],
    ["/readyz", readiness],
    ["/openapi.json", document]
  ])

  return {
    /** Returns the response of a probe endpoint; `undefined` for any other path. */
    respond: (method: string, path: string): Effect.Effect<ServiceResponse.ServiceResponse> | undefined => {
      const target = targets.get(path)
      if (target === undefined || method === "GET" || method === "HEAD") return target
      return Effect.succeed(method === "OPTIONS" ? options : methodNotAllowed)
    },
    /**
     * Records the status of each other response, with the operation if the request was admitted. A 503 always means a
     * store failure; a 200 or 201 always means that the operation used the stores successfully.
     */
    observe: (status: number, operation: string | undefined, clock: Clock.Clock): void => {
      if (status === 503) {
        const now = monotonicMs(clock.monotonicTimeNanosUnsafe())
        health = StoreHealth.failed(health, operation ?? StoreHealth.ADMISSION, now)
      } else if (operation !== undefined && (status === 200 || status === 201)) {
        health = StoreHealth.succeeded(health, operation)
      }
    },
    drain: Effect.sync(() => {
      isDraining = true
    }),
    isDraining: () => isDraining
  }
})

const NANOS_PER_MS = 1_000_000n

const monotonicMs = (nanos: bigint): number => Number(nanos / NANOS_PER_MS)

const live = ServiceResponse.make(200, '{"status":"live"}')
const ready = ServiceResponse.make(200, '{"status":"ready"}')

const unavailable = (message: string) => ServiceResponse.error(ApiError.make("service_unavailable", message))
const stopping = unavailable("The service is stopping.")
const failing = unavailable("The database fails the requests that need it.")
const unreachable = unavailable("The database is out of reach.")

const allow: ReadonlyArray<ServiceResponse.Header> = [["Allow", "GET, HEAD, OPTIONS"]]
const options = ServiceResponse.make(204, "", allow)
const methodNotAllowed = ServiceResponse.error(ApiError.make("method_not_allowed"), allow)
