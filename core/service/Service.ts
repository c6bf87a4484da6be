/**
 * The service: one function from request to response, independent of the host (contract §4–§9). It never fails or
 * throws.
 *
 * The pipeline checks, in this order: key (401), ban and rate limits (429), route (404), method (405), content type
 * (415), body size (413), validation (400), operation (404, 410). `CommonHeaders` then adds the headers of every
 * response.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Digest from "effect/crypto/Digest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ApiKey } from "../access/ApiKey.ts"
import * as LastSeen from "../access/LastSeen.ts"
import * as Cursor from "../codec/Cursor.ts"
import * as Deprecation from "../deprecation/Deprecation.ts"
import * as ApiError from "../errors/ApiError.ts"
import * as Fingerprint from "../idempotency/Fingerprint.ts"
import * as IdempotencyKey from "../idempotency/IdempotencyKey.ts"
import * as BanPolicy from "../limits/BanPolicy.ts"
import * as Plan from "../limits/Plan.ts"
import type { Verdict } from "../limits/RateLimit.ts"
import * as OpenApi from "../openapi/OpenApi.ts"
import * as Operation from "../operations/Operation.ts"
import * as Operations from "../operations/Operations.ts"
import { InvalidOption } from "../options/InvalidOption.ts"
import type { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import { PetRepository } from "../ports/PetRepository.ts"
import type { RateLimitStore } from "../ports/RateLimitStore.ts"
import * as Admission from "./Admission.ts"
import { AdmissionTurns } from "./AdmissionTurns.ts"
import * as CommonHeaders from "./CommonHeaders.ts"
import * as ContentType from "./ContentType.ts"
import * as Cors from "./Cors.ts"
import * as Exchange from "./Exchange.ts"
import * as Observed from "./Observed.ts"
import * as Probes from "./Probes.ts"
import * as RequestId from "./RequestId.ts"
import * as RequestLog from "./RequestLog.ts"
import * as Router from "./Router.ts"
import * as ServiceOptions from "./ServiceOptions.ts"
import type { BodyConsumed, BodyTooLarge, HostBusy, ServiceRequest } from "./ServiceRequest.ts"
import * as ServiceResponse from "./ServiceResponse.ts"
import * as StaticFiles from "./StaticFiles.ts"
import * as Target from "./Target.ts"

/**
 * An error that a host reports when a connection carried no complete request, or `service_unavailable` when the host
 * holds too many bytes of other requests.
 */
export type TransportError =
  | "malformed_request"
  | "request_timeout"
  | "headers_too_large"
  | "service_unavailable"

/** The service; create it with `make` or `layer`. */
export class Service extends Context.Service<
  Service,
  {
    /** Handles a request. It can be interrupted at any time; writes are atomic. */
    readonly handle: (request: ServiceRequest) => Effect.Effect<ServiceResponse.ServiceResponse>
    /**
     * Returns the response to a transport error and, except for `service_unavailable`, counts it against the limits of
     * the client's network. `origin` is the `Origin` header, if it arrived.
     */
    readonly transportError: (
      error: TransportError,
      clientAddress: string | undefined,
      origin?: string
    ) => Effect.Effect<ServiceResponse.ServiceResponse>
    /** Makes `/readyz` return 503, so that load balancers stop sending requests; requests are still handled. */
    readonly drain: Effect.Effect<void>
    /** Whether `drain` was run; hosts then close each connection after its response. */
    readonly isDraining: () => boolean
    /** Whether the service trusts at least one proxy, which keeps idle connections for other requests. */
    readonly isBehindProxy: boolean
  }
>()("animal-store/core/service/Service") {}

type Ports = PetRepository | RateLimitStore | ApiKeyStore
type Crypto = Digest.Digest | SecureRandom.SecureRandom
type Failure = Operation.Failure | BodyTooLarge | BodyConsumed | HostBusy

/**
 * Creates a service over the ports in the context. Its requests then need only a `Clock`. `offered` defaults to
 * the operations of the interface. Operations that need a method that the store lacks are omitted.
 *
 * @internal
 */
export const make = Effect.fnUntraced(function* (
  given?: Partial<ServiceOptions.ServiceOptions>,
  offered: ReadonlyArray<Operation.Operation> = Operations.all
): Effect.fn.Return<Service["Service"], InvalidOption, Ports | Crypto> {
  const pets = yield* PetRepository
  const resolved = yield* Effect.fromResult(ServiceOptions.resolve(given))
  const operations = offered.filter(({ needs }) => needs === undefined || pets[needs] !== undefined)
  const options = { ...resolved, idempotencyKeys: resolved.idempotencyKeys && pets.insertOnce !== undefined }
  const ban: unknown = yield* BanPolicy.BanPolicy
  if (!BanPolicy.isValid(ban)) {
    return yield* Effect.fail(new InvalidOption({ option: "ban", reason: BanPolicy.rule.reasonFor(ban) }))
  }
  const address = ServiceOptions.addresses(options)
  const resources = Router.resourcesOf(operations)
  const findRoute = Router.make(options.basePath, resources)
  const deprecationHeaders = new Map(
    operations.flatMap(({ id, removal }) =>
      removal === undefined
        ? []
        : [
            [
              id,
              Deprecation.headers(removal.policy(options), address(removal.successor), options.deprecationUrl)
            ] as const
          ]
    )
  )
  const nextRequestId = yield* RequestId.make
  const addHeaders = CommonHeaders.make(options)
  const configuredCors = Cors.make(options.corsOrigins)
  const admission = yield* Admission.make(options)
  const turns = new AdmissionTurns()
  const probes = yield* Probes.make({
    openApi: () => OpenApi.formatter(options, operations),
    checkLimits: admission.checkLimits
  })
  const fileResponse = StaticFiles.make(yield* StaticFiles.StaticFiles)
  const cursorKey = options.cursorKey ?? (yield* Cursor.SharedKey) ?? (yield* randomKey)
  const cursors = yield* Cursor.make(cursorKey)
  const digest = yield* Digest.Digest
  const observe = Observed.make(Exchange.combine([yield* Exchange.ResponseObserver]), options)

  const respond = Effect.fnUntraced(function* (request: ServiceRequest, draft: Exchange.Draft) {
    const clock = yield* Clock.Clock
    const now = Math.floor(clock.currentTimeMillisUnsafe())
    const requestId = nextRequestId()
    draft.requestId = requestId
    const { path, query } = Target.parse(request.target)
    const cors = path === Probes.OPENAPI ? Cors.everyone : configuredCors
    const origin = cors && request.header("origin")
    const preflight = cors?.preflight(request, origin)
    const corsHeaders = preflight === undefined ? cors?.headersFor(origin) : undefined
    const probe = probes.respond(request, path, requestId) ?? fileResponse(request, path)
    if (probe !== undefined) {
      draft.isProbe = true
      draft.route = path
      const response = preflight ?? (yield* orErrorResponse(withRoom(probe, request), requestId))
      draft.errorCode = response.errorCode
      return addHeaders(response, { now, requestId, cors: corsHeaders })
    }
    const route = findRoute(request.method, path)
    const operation = route?.operation?.id
    draft.route = route && options.basePath + route.resource.path
    if (preflight !== undefined) return addHeaders(preflight, { now, requestId })
    const decision = yield* admit(request, { now, requestId })
    const { rejection, verdict } = decision
    recordAdmission(draft, decision)
    const response =
      rejection ?? (yield* orErrorResponse(execute(route, request, query, now, decision.key), requestId))
    draft.errorCode = response.errorCode
    const admittedOperation = rejection === undefined ? operation : undefined
    const outcome = { status: response.status, admittedOperation, limits: limitsOf(decision) }
    const outageChange = response === hostBusy ? undefined : probes.observe(outcome, clock)
    if (outageChange !== undefined) yield* RequestLog.outage(outageChange, requestId)
    const deprecation = operation === undefined ? undefined : deprecationHeaders.get(operation)
    return addHeaders(response, { now, requestId, cors: corsHeaders, verdict, deprecation })
  })

  const handle = (request: ServiceRequest) => observe(request, (draft) => respond(request, draft))

  /** Authenticates the caller and applies the rate limits; a defect becomes a rejection. */
  const admit = (request: ServiceRequest, arrival: Admission.Arrival): Effect.Effect<Admission.Admission> =>
    Effect.catchCause(
      turns.run(
        () => request.header("authorization") ?? request.clientAddress ?? "",
        admission.admit(request, arrival),
        ({ isCounted }) => !isCounted
      ),
      (cause) =>
        Effect.map(errorResponse(cause, arrival.requestId), (rejection) => ({
          ...uncountedAdmission(arrival.now),
          rejection
        }))
    )

  /** Validates the request and runs its operation. */
  const execute = Effect.fnUntraced(function* (
    route: Router.Route | undefined,
    request: ServiceRequest,
    query: string,
    now: number,
    key: ApiKey | undefined
  ) {
    if (route === undefined) return notFound
    const { operation, parameters, resource } = route
    if (operation === undefined) return unsupportedMethod(resource, request.method)
    const unsupported = operation.body && ContentType.rejectionOf(request)
    if (unsupported !== undefined) return unsupported
    const caller = key?.id ?? ""
    let hasRoom = false
    const room = (bytes: number) => {
      hasRoom = true
      return request.room?.(bytes, caller)
    }
    const input = { path: parameters, query, now, options, address, pets, cursors, room }
    const isIdempotent = Operation.isIdempotentOn(operation, options)
    const run = (body: Uint8Array | undefined) =>
      isIdempotent
        ? Effect.flatMap(idempotencyOf(request, key), (idempotency) =>
            operation.execute({ ...input, body, idempotency })
          )
        : operation.execute({ ...input, body, idempotency: undefined })
    // A generator would refer to the body until the operation ends.
    const output = yield* operation.body === undefined
      ? run(undefined)
      : Effect.flatMap(request.body(options.maxBodyBytes, caller), run)
    const { success } = operation
    const json = success.schema === undefined ? "" : (output.body ?? "")
    const waiting = json.length > LARGE_BODY && !hasRoom ? room(json.length) : undefined
    if (waiting !== undefined) yield* waiting
    return ServiceResponse.make(success.status, json, output.headers)
  })

  const hash = (text: string) => Fingerprint.hashWith(digest, text)

  const idempotencyOf = (
    request: ServiceRequest,
    key: ApiKey | undefined
  ): Effect.Effect<Operation.Idempotency | undefined, ApiError.ApiError> => {
    const value = request.header("idempotency-key")
    if (value === undefined || key === undefined) return Effect.undefined
    return Effect.map(Effect.fromResult(IdempotencyKey.parse(value)), (parsed) => ({
      caller: key.id,
      key: parsed,
      hash
    }))
  }

  /**
   * Waits until the host has room for a large response to a client without a key. All these clients are one caller, so
   * that they leave half of the room to keys, however many addresses they use.
   */
  const withRoom = (
    response: Effect.Effect<ServiceResponse.ServiceResponse>,
    request: ServiceRequest
  ): Effect.Effect<ServiceResponse.ServiceResponse, HostBusy> =>
    Effect.flatMap(response, (ready): Effect.Effect<ServiceResponse.ServiceResponse, HostBusy> => {
      const { length } = ready.body
      const waiting = length > LARGE_BODY ? request.room?.(length, "") : undefined
      return waiting === undefined ? Effect.succeed(ready) : Effect.as(waiting, ready)
    })

  const orErrorResponse = (
    response: Effect.Effect<ServiceResponse.ServiceResponse, Failure>,
    requestId: string
  ): Effect.Effect<ServiceResponse.ServiceResponse> =>
    Effect.catchCause(response, (cause) => errorResponse(cause, requestId))

  const errorResponse = (
    cause: Cause.Cause<Failure>,
    requestId: string
  ): Effect.Effect<ServiceResponse.ServiceResponse> => {
    const failure = cause.reasons.find(Cause.isFailReason)?.error
    switch (failure?._tag) {
      case "ApiError":
        return Effect.succeed(ServiceResponse.error(failure))
      case "StoreUnavailable":
        return Effect.as(RequestLog.storeFailure("503 service_unavailable", failure, requestId), unavailable)
      case "BodyTooLarge":
        return Effect.succeed(bodyTooLarge(options.maxBodyBytes))
      case "BodyConsumed":
        return Effect.succeed(bodyConsumed)
      case "HostBusy":
        return Effect.as(RequestLog.hostBusy(requestId), hostBusy)
      case undefined:
        return Effect.as(reportDefect(cause, requestId), internalError)
    }
  }

  const respondToError = Effect.fnUntraced(function* (
    error: TransportError,
    clientAddress: string | undefined,
    origin: string | undefined,
    draft: Exchange.Draft
  ) {
    const now = Math.floor(yield* Clock.currentTimeMillis)
    const requestId = nextRequestId()
    if (error === "service_unavailable") yield* RequestLog.hostBusy(requestId)
    const decision =
      error === "service_unavailable"
        ? uncountedAdmission(now)
        : yield* Effect.catchCause(
            Effect.suspend(() => admission.countTransportError(clientAddress, { now, requestId })),
            (cause) => Effect.as(reportDefect(cause, requestId), uncountedAdmission(now))
          )
    const response = error === "service_unavailable" ? hostBusy : ServiceResponse.error(ApiError.make(error))
    draft.requestId = requestId
    draft.errorCode = response.errorCode
    recordAdmission(draft, decision)
    const cors = configuredCors?.headersWithoutRequest(origin)
    return addHeaders(response, { now, requestId, cors, verdict: decision.verdict })
  })

  const transportError: Service["Service"]["transportError"] = (error, clientAddress, origin) =>
    observe({ clientAddress }, (draft) => respondToError(error, clientAddress, origin, draft))

  return {
    handle,
    transportError,
    drain: probes.drain,
    isDraining: probes.isDraining,
    isBehindProxy: options.trustedProxyHops > 0
  }
})

/**
 * The service as a layer over its three ports and the host's hash function and random generator. It also records the
 * day on which each key was last used.
 */
export const layer = (
  options?: Partial<ServiceOptions.ServiceOptions>,
  operations?: ReadonlyArray<Operation.Operation>
): Layer.Layer<Service, InvalidOption, Ports | Crypto> =>
  Layer.provide(Layer.effect(Service, make(options, operations)), LastSeen.layer)

/** Number of characters of a body from which on the host must have room for it. */
const LARGE_BODY = 16_384

const randomKey = SecureRandom.SecureRandom.use((random) => random.randomBytes(32))

/** The verdict when the caller's limits are unknown. */
const fallbackVerdict = (now: number): Verdict => Admission.unknownVerdict(Plan.standard.Free, now)

const uncountedAdmission = (now: number): Admission.Admission => ({
  rejection: undefined,
  verdict: fallbackVerdict(now),
  isCounted: false
})

const limitsOf = ({ isCounted, verdict }: Admission.Admission): Probes.Outcome["limits"] => {
  if (isCounted) return "counted"
  return verdict.outcome === "admitted" ? "uncounted" : undefined
}

const recordAdmission = (
  draft: Exchange.Draft,
  { bannedUntil, isCounted, key, verdict }: Admission.Admission
) => {
  draft.keyId = key?.id
  draft.plan = key?.plan
  draft.outcome = isCounted ? verdict.outcome : undefined
  draft.bannedUntil = bannedUntil
}

/** Logs a defect. Re-raises an interruption, because the client has disconnected. */
const reportDefect = (cause: Cause.Cause<unknown>, requestId: string): Effect.Effect<void> =>
  Cause.hasInterruptsOnly(cause) ? Effect.interrupt : RequestLog.defect(cause, requestId)

const notFound = ServiceResponse.error(ApiError.make("not_found"))
const unavailable = ServiceResponse.error(ApiError.make("service_unavailable"))
const internalError = ServiceResponse.error(ApiError.make("internal_error"))

const bodyTooLarge = (maxBytes: number) =>
  ServiceResponse.error(ApiError.make("payload_too_large", `The body must have at most ${maxBytes} bytes.`))

/** No failure of a store: it does not affect readiness. */
const hostBusy = ServiceResponse.error(
  ApiError.make(
    "service_unavailable",
    "The server has too many requests in progress: wait for the time given in the Retry-After header."
  )
)

const bodyConsumed = ServiceResponse.error(
  ApiError.make(
    "internal_error",
    "The host read the request body before animal-store could. Mount animal-store before any body parser, " +
      "or without one on its path: it needs the exact bytes."
  )
)

const unsupportedMethod = ({ allow }: Router.Resource, method: string): ServiceResponse.ServiceResponse =>
  method === "OPTIONS"
    ? ServiceResponse.make(204, "", [["Allow", allow]])
    : ServiceResponse.error(ApiError.make("method_not_allowed"), [["Allow", allow]])
