/** The record of a request: what the pipeline knows about it so far. Observers read it as an `Exchange`. */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ApiKey } from "../access/ApiKey.ts"
import * as Plan from "../limits/Plan.ts"
import type { Verdict } from "../limits/RateLimit.ts"
import type { Unvalidated } from "../operations/Operation.ts"
import type { Turn } from "./AdmissionTurns.ts"
import type { HostResponse, HostRoute } from "./HostRoute.ts"
import type { Route } from "./Router.ts"
import type { HostBusy, ServiceRequest, TransportError } from "./ServiceRequest.ts"
import type { FlatHeaders, Reply } from "./ServiceResponse.ts"

export class Call implements Unvalidated {
  readonly request: ServiceRequest
  /** The error that the host reports, if the connection carried no complete request. */
  readonly transportError: TransportError | undefined
  /** The route of the host that responds, if the service does not. */
  readonly hostRoute: HostRoute | undefined
  /** The value of `X-Request-Id`. */
  readonly id: string
  readonly clock: Clock.Clock
  /** Arrival time in epoch milliseconds. */
  readonly now: number
  /** Whether the target is a probe or a file, which need no key and are not counted. */
  isProbe = false
  /** The path of a probe or a file, or the template of the resource's path; `undefined` if there is no such resource. */
  template: string | undefined
  /** The resource and the operation, except of a preflight. */
  route: Route | undefined
  query = ""
  /** The beginning of the path that belongs to the host, before the base path; encoded for URLs. */
  prefix = ""
  corsHeaders: FlatHeaders = []
  /** The place among the requests that are being admitted. */
  turn: Turn | undefined
  /** The error of the credential; it is sent if the limits admit the request. */
  credentialError: "missing_api_key" | "invalid_api_key" | undefined
  /** The key, if it is valid. */
  key: ApiKey | undefined
  /** The plan that the headers show if the store of the limits does not respond. */
  plan: Plan.Plan = Plan.standard.Free
  /** What the function threw that computes the cost of a request to a route of the host; the request counts as one. */
  costDefect: unknown
  /** The values of the rate headers, once the limits have decided. */
  verdict: Verdict | undefined
  /** The verdict that stands in for the store of the limits if it did not count the request. */
  standIn: Verdict | undefined
  /** End of the ban that this request began, in epoch milliseconds. */
  bannedUntil: number | undefined
  /** The operation that runs, if the request has a valid key and the limits admit it. */
  admittedOperation: string | undefined
  /** The `Idempotency-Key` header, if that operation obeys it. */
  idempotencyKey: string | undefined
  reply: Reply | undefined
  /** The response of the host, if it has responded. */
  hostResponse: HostResponse | undefined
  #hasRoom = false

  constructor(
    request: ServiceRequest,
    transportError: TransportError | undefined,
    hostRoute: HostRoute | undefined,
    id: string,
    clock: Clock.Clock
  ) {
    this.request = request
    this.transportError = transportError
    this.hostRoute = hostRoute
    this.id = id
    this.clock = clock
    this.now = Math.floor(clock.currentTimeMillisUnsafe())
  }

  /** The id of the key. All clients without a key are one caller, so that they leave half of the room to keys. */
  get caller(): string {
    return this.key?.id ?? ""
  }

  header(name: string): string | undefined {
    return this.request.header(name)
  }

  /** The path parameters, percent-decoded. */
  get path(): Unvalidated["path"] {
    return this.route?.parameters ?? {}
  }

  /** Whether the store of the limits has counted the request. */
  get isCounted(): boolean {
    return this.verdict !== undefined && this.verdict !== this.standIn
  }

  /** Adds the id that the client gets in `X-Request-Id` to what an effect logs. */
  logged<A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.annotateLogs(effect, "request", this.id)
  }

  /** Waits until the host has room for the response; `undefined` if it has room now. Asks the host only once. */
  room(bytes: number): Effect.Effect<void, HostBusy> | undefined {
    if (this.#hasRoom) return undefined
    this.#hasRoom = true
    return this.request.room?.(bytes, this.caller)
  }
}
