/** Serves the endpoints outside the base path that need no key: `/livez`, `/readyz` and `/openapi.json`. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Realm } from "../access/Realm.ts"
import * as ApiError from "../errors/ApiError.ts"
import { OwnPlans } from "../limits/OwnPlans.ts"
import * as OpenApi from "../openapi/OpenApi.ts"
import type { Operation } from "../operations/Operation.ts"
import type { Call } from "./Call.ts"
import * as OwnOrigin from "./OwnOrigin.ts"
import * as ReadinessProbe from "./ReadinessProbe.ts"
import * as Replies from "./Replies.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"
import * as ServiceResponse from "./ServiceResponse.ts"
import * as StoreHealth from "./StoreHealth.ts"

/** The probe endpoints of one service. */
export type Probes = Effect.Success<ReturnType<typeof make>>

type Target = (call: Call) => Effect.Effect<ServiceResponse.Reply>

/** Creates the probe endpoints of one service, with the state that readiness depends on. */
export const make = Effect.fnUntraced(function* (
  options: ServiceOptions,
  operations: ReadonlyArray<Operation>
) {
  const checkStores = yield* ReadinessProbe.make(options)
  const plans = yield* OwnPlans
  const realm = yield* Realm
  const health = new StoreHealth.StoreHealth()
  const document = yield* Effect.cached(
    Effect.sync(() => OpenApi.formatter(options, operations, plans, realm))
  )
  let isDraining = false

  const readiness = Effect.fnUntraced(function* (call: Call) {
    if (isDraining) return stoppingResponse
    if (health.isFailing(nowOf(call))) return failingResponse
    const checked = yield* Effect.result(checkStores)
    const isReady = Result.isSuccess(checked)
    if (!isReady) yield* call.logged(Effect.logWarning("not ready", checked.failure))
    const change = isReady
      ? health.removeFromOutage([PROBE, StoreHealth.ADMISSION], nowOf(call))
      : health.addToOutage(PROBE, nowOf(call))
    yield* logChange(call, change) ?? Effect.void
    return isReady ? readyResponse : unreachableResponse
  })

  const targets = new Map<string, Target>([
    ["/livez", () => Effect.succeed(liveResponse)],
    ["/readyz", readiness],
    [
      OPENAPI,
      ({ prefix, request }) =>
        Effect.map(document, (text) => ServiceResponse.make(200, text(OwnOrigin.of(request), prefix)))
    ]
  ])

  return {
    paths: [...targets.keys()],
    /** Returns the response of a probe endpoint; `undefined` for any other path. */
    respond: (call: Call, path: string): Effect.Effect<ServiceResponse.Reply> | undefined => {
      const target = targets.get(path)
      if (target === undefined) return undefined
      const { method } = call.request
      if (method === "GET" || method === "HEAD") return target(call)
      return Effect.succeed(Replies.toWrite(method))
    },
    /**
     * Records the outcome of each other request; a success means that the operation used the stores. Returns the effect
     * that logs that an outage of the stores began or ended, if it did.
     */
    observe: (call: Call): Effect.Effect<void> | undefined => {
      const { admittedOperation, isCounted, reply, transportError, verdict } = call
      if (reply === undefined || verdict === undefined || transportError !== undefined) return undefined
      if (reply === Replies.unavailable)
        return logChange(call, health.recordFailure(admittedOperation ?? StoreHealth.ADMISSION, nowOf(call)))
      const succeeded = ServiceResponse.isSuccess(reply.status) ? admittedOperation : undefined
      if (succeeded !== undefined) health.recordSuccess(succeeded)
      // The service stays ready, because it serves requests as its options require.
      if (!isCounted && verdict.outcome === "admitted")
        return logChange(call, health.addToOutage(StoreHealth.LIMITS, nowOf(call)))
      if (!health.isOutage || !isCounted) return undefined
      if (succeeded === undefined) return logChange(call, health.recordCounted(nowOf(call)))
      const operations = [succeeded, StoreHealth.ADMISSION, StoreHealth.LIMITS]
      return logChange(call, health.removeFromOutage(operations, nowOf(call)))
    },
    drain: Effect.sync(() => {
      isDraining = true
    }),
    isDraining: () => isDraining
  }
})

/** Path of the OpenAPI document, which pages from all origins may read. */
export const OPENAPI = "/openapi.json"

/** The name under which results of `/readyz` are recorded, instead of an operation. */
const PROBE = "/readyz"

const NANOS_PER_MS = 1_000_000n

const nowOf = ({ clock }: Call): number => Number(clock.monotonicTimeNanosUnsafe() / NANOS_PER_MS)

/** Returns the effect that logs that an outage began or ended, if it did. */
const logChange = (call: Call, change: StoreHealth.Change | undefined): Effect.Effect<void> | undefined => {
  if (change === undefined) return undefined
  if (change._tag === "Began") return call.logged(Effect.logError("database unavailable"))
  const line = Effect.logInfo("database available again")
  return call.logged(Effect.annotateLogs(line, "afterMs", change.afterMs))
}

const liveResponse = ServiceResponse.make(200, '{"status":"live"}')
const readyResponse = ServiceResponse.make(200, '{"status":"ready"}')

const unavailableResponse = (message: string) =>
  ServiceResponse.error(ApiError.make("service_unavailable", message))
const stoppingResponse = unavailableResponse("The service is stopping.")
const failingResponse = unavailableResponse("Requests that need the database are failing.")
const unreachableResponse = unavailableResponse("The database is unreachable.")
