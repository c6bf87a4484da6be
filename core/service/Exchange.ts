/**
 * Describes a request and its response for observers: access logs, metrics and traces. An exchange contains no API key,
 * no query and no body.
 */
import * as Context from "effect/Context"
import * as Exit from "effect/Exit"
import * as Tracer from "effect/Tracer"
import * as Utf8 from "../codec/Utf8.ts"
import type { PlanName } from "../limits/Plan.ts"
import type { Outcome } from "../limits/RateLimit.ts"
import type { Call } from "./Call.ts"
import * as ClientAddress from "./ClientAddress.ts"
import type { ServiceOptions } from "./ServiceOptions.ts"
import type { Scheme, ServiceRequest } from "./ServiceRequest.ts"
import type { ServiceResponse } from "./ServiceResponse.ts"
import * as Target from "./Target.ts"

/** A request and its response. */
export interface Exchange {
  /** The value of `X-Request-Id`. */
  readonly requestId: string
  /** The method, or `_OTHER` if HTTP does not define it or the request was malformed. */
  readonly method: string
  /** The scheme by which the peer, such as a proxy, connected to the host. */
  readonly scheme: Scheme
  /** The template of the path, such as `/v1/pets/{petId}`; `undefined` if no resource has the path. */
  readonly route: string | undefined
  /**
   * The path as sent if no resource has it: at most 200 characters, with `ast_…` for API keys and `asa_…` for admin
   * tokens. `undefined` if `route` is defined or the request was malformed. It may contain control characters.
   */
  readonly unknownPath: string | undefined
  /** The client's IPv4 address or IPv6 /64, from trusted proxies if there are any; `undefined` if it is unknown. */
  readonly network: string | undefined
  /**
   * The value of the header that `requestIdHeader` names: at most 128 printable ASCII characters, without keys and tokens
   * as in `unknownPath`. `undefined` if it is absent, empty or has other characters.
   */
  readonly clientRequestId: string | undefined
  /** Whether the target was `/livez`, `/readyz`, `/openapi.json` or a file: these need no key and are not counted. */
  readonly isProbe: boolean
  /** The status of the response; `undefined` if the client disconnected before it. */
  readonly status: number | undefined
  /** The `code` of an error response; `undefined` for other responses. */
  readonly errorCode: string | undefined
  /** The id of the API key; `undefined` without a valid key. */
  readonly keyId: string | undefined
  /** The plan of the API key; `undefined` without a valid key. */
  readonly plan: PlanName | undefined
  /** The decision of the rate limits; `undefined` if the request was not counted. */
  readonly outcome: Outcome | undefined
  /** End of the ban that this request began, in epoch milliseconds rounded up to the second; otherwise `undefined`. */
  readonly bannedUntil: number | undefined
  /** Arrival time in epoch milliseconds. */
  readonly startedAt: number
  /** Milliseconds from the parsed headers of the request to the response, measured with a monotonic clock. */
  readonly durationMs: number
  /** Size of the response's body in bytes; 0 for `HEAD`. */
  readonly bodyBytes: number
  /** The id of the request's trace; `undefined` if the trace is not recorded. */
  readonly traceId: string | undefined
}

/**
 * Receives each exchange at its end. An observer must not block; exceptions are ignored. `span` is the span around the
 * request, if there is one.
 */
export type ResponseObserver = (exchange: Exchange, span: Tracer.AnySpan | undefined) => void

/** The observer of the service; `undefined` by default, and then exchanges are not recorded. */
export const ResponseObserver = Context.Reference<ResponseObserver | undefined>(
  "animal-store/core/service/Exchange/ResponseObserver",
  { defaultValue: () => undefined }
)

/** The options of a service that determine what an exchange contains. */
type Options = Pick<ServiceOptions, "trustedProxyHops" | "requestIdHeader">

/** Starts the measurement of a request; the returned function passes its exchange to the observer at its end. */
export const measure = (
  observer: ResponseObserver,
  call: Call,
  context: Context.Context<never>,
  options: Options
): ((exit: Exit.Exit<ServiceResponse>) => void) => {
  const { clock, id, now, request } = call
  const span = Context.getOrUndefined(context, Tracer.ParentSpan)
  const start = clock.monotonicTimeNanosUnsafe()
  return (exit) => {
    const durationMs = Number(clock.monotonicTimeNanosUnsafe() - start) / NANOS_PER_MS
    const response = Exit.isSuccess(exit) ? exit.value : undefined
    const address = ClientAddress.of(request, options.trustedProxyHops)
    const exchange = {
      requestId: id,
      method: knownMethod(request.method),
      scheme: request.scheme ?? "http",
      route: call.template,
      unknownPath: unknownPathOf(call),
      network: address === undefined ? undefined : ClientAddress.networksOf(address).network,
      clientRequestId: clientRequestIdOf(request, options),
      isProbe: call.isProbe,
      status: response?.status,
      errorCode: call.reply?.errorCode,
      keyId: call.key?.id,
      plan: call.key?.plan,
      outcome: call.isCounted ? call.verdict?.outcome : undefined,
      bannedUntil: call.bannedUntil,
      startedAt: now,
      durationMs,
      bodyBytes: response === undefined ? 0 : bodyBytesOf(call, response),
      traceId: span?.sampled === true ? span.traceId : undefined
    }
    observer(exchange, span)
  }
}

const NANOS_PER_MS = 1_000_000

/** Maximum numbers of characters of texts from the request. */
const MAX_PATH_LENGTH = 200
const MAX_REQUEST_ID_LENGTH = 128

/** Cuts a text from the request, and hides API keys and admin tokens that a client may have put there by mistake. */
const excerpt = (text: string, length: number): string =>
  text.slice(0, length).replaceAll(/(as[ta]_)[\w-]+/g, "$1…")

const unknownPathOf = ({ request, template, transportError }: Call): string | undefined =>
  transportError === undefined && template === undefined
    ? excerpt(Target.parse(request.target).path, MAX_PATH_LENGTH)
    : undefined

const clientRequestIdOf = (request: ServiceRequest, { requestIdHeader }: Options): string | undefined => {
  const value = requestIdHeader && request.header(requestIdHeader.toLowerCase())?.trim()
  return value && /^[ -~]+$/.test(value) ? excerpt(value, MAX_REQUEST_ID_LENGTH) : undefined
}

const bodyBytesOf = ({ hostResponse, request }: Call, { body, bytes }: ServiceResponse): number =>
  request.method === "HEAD" ? 0 : (hostResponse?.bodyBytes ?? bytes?.length ?? Utf8.lengthOf(body))

const methods = /^(?:GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH|QUERY)$/

/** Returns the method, or `_OTHER` if it is unknown, so that clients cannot create an unlimited number of values. */
const knownMethod = (method: string): string => (methods.test(method) ? method : "_OTHER")

/** Combines observers into one that calls each of them; returns `undefined` if there are no observers. */
export const combine = (
  observers: ReadonlyArray<ResponseObserver | undefined>
): ResponseObserver | undefined => {
  const present = observers.filter((observer) => observer !== undefined)
  if (present.length === 0) return undefined
  return (exchange, span) => {
    for (const observer of present) {
      try {
        observer(exchange, span)
      } catch {
        // An observer must not affect the response or other observers.
      }
    }
  }
}
