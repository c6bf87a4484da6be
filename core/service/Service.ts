/**
 * The service: one function from request to response, for any host (contract §4–§9). It never fails and never throws.
 *
 * Order of checks: key (401), ban and limits (429), route (404), method (405), content type (415), size (413),
 * validation (400), operation (404, 410); one outer place adds the rate headers to every answer.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Digest from "effect/crypto/Digest"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Deprecation from "../deprecation/Deprecation.ts"
import * as HttpDate from "../deprecation/HttpDate.ts"
import * as ApiError from "../errors/ApiError.ts"
import type { StoreUnavailable } from "../errors/StoreUnavailable.ts"
import * as BanPolicy from "../limits/BanPolicy.ts"
import * as Plan from "../limits/Plan.ts"
import type { Verdict } from "../limits/RateLimit.ts"
import type { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import * as Immediate from "../ports/Immediate.ts"
import type { PetRepository } from "../ports/PetRepository.ts"
import type { RateLimitStore } from "../ports/RateLimitStore.ts"
import * as Admission from "./Admission.ts"
import * as Answer from "./Answer.ts"
import * as Dispatch from "./Dispatch.ts"
import * as OpenApi from "./OpenApi.ts"
import * as ReadinessProbe from "./ReadinessProbe.ts"
import * as RequestId from "./RequestId.ts"
import * as Route from "./Route.ts"
import * as ServiceOptions from "./ServiceOptions.ts"
import type { BodyConsumed, BodyTooLarge, ServiceRequest } from "./ServiceRequest.ts"
import { CountedResponse, type Header, type ServiceResponse } from "./ServiceResponse.ts"
import * as StoreHealth from "./StoreHealth.ts"
import * as Target from "./Target.ts"

/** What a host reports when there is no request to handle: the connection did not carry a complete one. */
export type TransportError = "malformed_request" | "request_timeout" | "headers_too_large"

/** The service, made by `make` or `layer`. */
export class Service extends Context.Service<
  Service,
  {
    /**
     * Answers a request. Interrupting it stops it where it is; nothing is stored half. A host that names the `clock` can
     * have `Immediate.start` do what needs no fiber; without it the time is that of the fiber.
     */
    readonly handle: (request: ServiceRequest, clock?: Clock.Clock) => Effect.Effect<ServiceResponse>
    /** The answer to a connection that failed before a request existed; counted for the client's network. */
    readonly transportError: (
      error: TransportError,
      clientAddress: string | undefined
    ) => Effect.Effect<ServiceResponse>
    /** From now on `/readyz` returns 503, so that load balancers stop sending; requests are still handled. */
    readonly drain: Effect.Effect<void>
    /** Whether `drain` was run: a host then announces with each response that it closes the connection. */
    readonly isDraining: () => boolean
  }
>()("animal-store/core/service/Service") {}

const invalidBan = `must have whole numbers: one strike or more, one duration or more, times of at most ${BanPolicy.maxMs} ms`

type Ports = PetRepository | RateLimitStore | ApiKeyStore
type Failure = Dispatch.Failure | BodyTooLarge | BodyConsumed
type Crypto = Digest.Digest | SecureRandom.SecureRandom

/** A service over the ports in the context, set up once; requests need nothing more than a `Clock`. */
export const make = Effect.fnUntraced(function* (
  given: Partial<ServiceOptions.ServiceOptions> = {}
): Effect.fn.Return<Service["Service"], ServiceOptions.InvalidOption, Ports | Crypto> {
  const options = yield* Effect.fromResult(ServiceOptions.resolve(given))
  if (!BanPolicy.isValid(yield* BanPolicy.BanPolicy)) {
    return yield* Effect.fail(new ServiceOptions.InvalidOption({ option: "ban", reason: invalidBan }))
  }
  const admission = yield* Admission.make(options)
  const dispatch = yield* Dispatch.make(options)
  const nextRequestId = yield* RequestId.make
  const formatDate = HttpDate.memoized()
  let date: Header = ["Date", ""]
  const matchRoute = Route.matcher(options.basePath)
  const deprecationHeaders = Deprecation.headers(
    options.getPetDeprecation,
    ServiceOptions.petsAddress(options)
  )
  const storesReady = yield* ReadinessProbe.make(admission.countProbe)
  let health = StoreHealth.initial
  let stopping = false
  let openApi: string | undefined

  const dateOf = (now: number): Header => {
    const text = formatDate(now)
    if (text !== date[1]) date = ["Date", text]
    return date
  }

  const probe = (method: string, path: string): Effect.Effect<Answer.Answer> | undefined => {
    if (path !== "/livez" && path !== "/readyz" && path !== "/openapi.json") return undefined
    if (method === "OPTIONS") return Effect.succeed(Answer.make(204, "", probeAllow))
    if (method !== "GET" && method !== "HEAD") {
      return Effect.succeed(Answer.error(ApiError.make("method_not_allowed"), probeAllow))
    }
    if (path === "/livez") return Effect.succeed(Answer.make(200, '{"status":"live"}'))
    if (path === "/readyz") return readiness
    openApi ??= OpenApi.json(options)
    return Effect.succeed(Answer.make(200, openApi))
  }

  const readiness = Effect.suspend(() => {
    if (stopping) return Effect.succeed(isStopping)
    return Effect.flatMap(Clock.Clock, (clock) =>
      StoreHealth.isFailing(health, monotonicMs(clock))
        ? Effect.succeed(isFailing)
        : Effect.matchEffect(storesReady, {
            onSuccess: () => Effect.succeed(isReady),
            onFailure: (failure) => Effect.as(reportUnavailable(failure, NOT_READY), isOutOfReach)
          })
    )
  })

  const handle = (request: ServiceRequest, clock?: Clock.Clock): Effect.Effect<ServiceResponse> =>
    clock === undefined
      ? Effect.clockWith((clock) => begin(request, clock))
      : new Immediate.Immediate(() => begin(request, clock))

  const begin = (request: ServiceRequest, clock: Clock.Clock): Effect.Effect<ServiceResponse> => {
    const now = Math.floor(clock.currentTimeMillisUnsafe())
    const requestId = nextRequestId()
    const { path, query } = Target.parse(request.target)
    const probed = probe(request.method, path)
    if (probed !== undefined) {
      return completed(probed, requestId, (answer) => respond(answer, undefined, requestId, dateOf(now)))
    }

    const route = matchRoute(request.method, path)
    const operationHeaders = route?.operation === "getPet" ? deprecationHeaders : Answer.noHeaders
    let verdict: Verdict | undefined
    let isAdmitted = false
    const admitAndCarryOut = (): Effect.Effect<Answer.Answer, Failure> =>
      Effect.flatMapEager(
        admission.admit(request, now),
        ({ failure, refusal, verdict: counted }): Effect.Effect<Answer.Answer, Failure> => {
          verdict = counted
          isAdmitted = refusal === undefined
          const carryOut = () =>
            refusal === undefined ? dispatch(route, request, query, now) : Effect.succeed(refused[refusal])
          return failure === undefined
            ? carryOut()
            : Effect.andThen(
                reportUnavailable(failure, refusal === "service_unavailable" ? UNAVAILABLE : UNCOUNTED),
                Effect.suspend(carryOut)
              )
        }
      )
    // Started as an effect of its own, so that what a host or a store throws is answered like what it dies of.
    return completed(Immediate.start(new Immediate.Immediate(admitAndCarryOut)), requestId, (answer) => {
      noteOutcome(answer.status, isAdmitted ? route?.operation : undefined, clock)
      return respond(answer, verdict ?? nobodysVerdict(now), requestId, dateOf(now), operationHeaders)
    })
  }

  // Only a store that fails makes a request a 503, and only an operation that has used the stores a 200 or 201.
  const noteOutcome = (status: number, operation: Route.Operation | undefined, clock: Clock.Clock): void => {
    if (status === 503) {
      health = StoreHealth.failed(health, operation ?? StoreHealth.ADMISSION, monotonicMs(clock))
    } else if (health.size > 0 && operation !== undefined && (status === 200 || status === 201)) {
      health = StoreHealth.succeeded(health, operation)
    }
  }

  const completed = (
    answer: Effect.Effect<Answer.Answer, Failure>,
    requestId: string,
    complete: (answer: Answer.Answer) => ServiceResponse
  ): Effect.Effect<ServiceResponse> =>
    Effect.matchCauseEffectEager(answer, {
      onSuccess: (answer) => Effect.succeed(complete(answer)),
      onFailure: (cause) => Effect.mapEager(failed(cause, requestId), complete)
    })

  const failed = (cause: Cause.Cause<Failure>, requestId: string): Effect.Effect<Answer.Answer> => {
    const failure = cause.reasons.find(Cause.isFailReason)?.error
    switch (failure?._tag) {
      case "ApiError":
        return Effect.succeed(Answer.error(failure))
      case "StoreUnavailable":
        return Effect.as(
          reportUnavailable(failure, UNAVAILABLE),
          Answer.error(ApiError.make("service_unavailable"))
        )
      case "BodyTooLarge":
        return Effect.succeed(
          Answer.error(
            ApiError.make("payload_too_large", `The body must have at most ${options.maxBodyBytes} bytes.`)
          )
        )
      case "BodyConsumed":
        return Effect.succeed(bodyConsumed)
      case undefined:
        return Effect.as(reportDefect(cause, requestId), Answer.error(ApiError.make("internal_error")))
    }
  }

  return {
    handle,
    transportError: Effect.fnUntraced(function* (error, clientAddress) {
      const now = Math.floor(yield* Clock.currentTimeMillis)
      const requestId = nextRequestId()
      const verdict = yield* Effect.catchCause(
        Effect.suspend(() =>
          Effect.flatMap(admission.countBroken(clientAddress, now), ({ failure, verdict }) =>
            failure === undefined
              ? Effect.succeed(verdict)
              : Effect.as(reportUnavailable(failure, UNCOUNTED), verdict)
          )
        ),
        (cause) => Effect.as(reportDefect(cause, requestId), nobodysVerdict(now))
      )
      return respond(Answer.error(ApiError.make(error)), verdict, requestId, dateOf(now))
    }),
    drain: Effect.sync(() => {
      stopping = true
    }),
    isDraining: () => stopping
  }
})

/** The service as a layer over its three ports and the host's hashing and randomness. */
export const layer = (
  options?: Partial<ServiceOptions.ServiceOptions>
): Layer.Layer<Service, ServiceOptions.InvalidOption, Ports | Crypto> => Layer.effect(Service, make(options))

const NANOS_PER_MS = 1_000_000n

const monotonicMs = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe() / NANOS_PER_MS)

const cacheControl: Header = ["Cache-Control", "no-store"]
const contentTypeOptions: Header = ["X-Content-Type-Options", "nosniff"]
const contentType: Header = ["Content-Type", "application/json; charset=utf-8"]

const retryLater: Header = ["Retry-After", String(Admission.UNAVAILABLE_RETRY_AFTER)]

const challenge: Header = ["WWW-Authenticate", 'Bearer realm="animals"']
const invalidTokenChallenge: Header = ["WWW-Authenticate", 'Bearer realm="animals", error="invalid_token"']

const refused: { readonly [refusal in Admission.Refusal]: Answer.Answer } = {
  missing_api_key: Answer.error(ApiError.make("missing_api_key"), [challenge]),
  invalid_api_key: Answer.error(ApiError.make("invalid_api_key"), [invalidTokenChallenge]),
  rate_limit_exceeded: Answer.error(ApiError.make("rate_limit_exceeded")),
  api_key_banned: Answer.error(ApiError.make("api_key_banned")),
  service_unavailable: Answer.error(ApiError.make("service_unavailable"))
}

const probeAllow: ReadonlyArray<Header> = [["Allow", "GET, HEAD, OPTIONS"]]

const isReady = Answer.make(200, '{"status":"ready"}')
const isStopping = Answer.error(ApiError.make("service_unavailable", "The service is stopping."))
const isFailing = Answer.error(
  ApiError.make("service_unavailable", "The database fails the requests that need it.")
)
const isOutOfReach = Answer.error(ApiError.make("service_unavailable", "The database is out of reach."))

const bodyConsumed = Answer.error(
  ApiError.make(
    "internal_error",
    "The host read the request body before animal-store could. Mount animal-store before any body parser, " +
      "or without one on its path: it needs the exact bytes."
  )
)

/** What the headers say where nobody knows whose limits hold. */
const nobodysVerdict = (now: number): Verdict => Admission.unknownVerdict(Plan.standard.Free, now)

/** Logs the failure of a store, which the response must not show. `outcome` is what became of the request. */
const reportUnavailable = (failure: StoreUnavailable, outcome: string): Effect.Effect<void> =>
  Effect.logWarning(outcome, failure)

/** Logs a defect. An interruption is none: it is raised again, since the caller is gone. */
const reportDefect = (cause: Cause.Cause<unknown>, requestId: string): Effect.Effect<void> =>
  Cause.hasInterruptsOnly(cause)
    ? Effect.interrupt
    : Effect.annotateLogs(Effect.logError("500 internal_error", cause), "request", requestId)

const UNAVAILABLE = "503 service_unavailable"
const UNCOUNTED = "request not counted"
const NOT_READY = "not ready"

/** A field with a number that is often that of the answer before, whoever got it; hosts know the very same field again. */
const numbered = (name: string): ((value: number) => Header) => {
  let latest: number | undefined
  let header: Header = [name, ""]
  return (value) => {
    if (value !== latest) {
      latest = value
      header = [name, String(value)]
    }
    return header
  }
}

const limitHeader = numbered("X-RateLimit-Limit")
const remainingHeader = numbered("X-RateLimit-Remaining")
const resetHeader = numbered("X-RateLimit-Reset")
const retryAfterHeader = numbered("Retry-After")

/** The one place that completes an answer with the headers all answers carry. */
const respond = (
  { body, bodyBytes, headers: own, status }: Answer.Answer,
  verdict: Verdict | undefined,
  requestId: string,
  date: Header,
  operationHeaders: ReadonlyArray<Header> = Answer.noHeaders
): ServiceResponse => {
  // What changes least comes first: hosts keep the text of what answers begin with alike.
  const headers: Array<Header> = [date, cacheControl, contentTypeOptions]
  if (body !== "") headers.push(contentType)
  if (own.length > 0) headers.push(...own)
  if (operationHeaders.length > 0) headers.push(...operationHeaders)
  if (verdict !== undefined) {
    headers.push(limitHeader(verdict.limit))
    if (status === 429) headers.push(retryAfterHeader(verdict.retryAfter))
    if (status === 503) headers.push(retryLater)
    headers.push(resetHeader(verdict.resetAt), remainingHeader(verdict.remaining))
  }
  headers.push(["X-Request-Id", requestId])
  return new CountedResponse(status, headers, body, bodyBytes)
}
