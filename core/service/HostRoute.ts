/** Defines routes of the host behind the keys and limits of the service: the service admits, and the host responds. */
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ApiKey } from "../access/ApiKey.ts"
import * as Plan from "../limits/Plan.ts"
import { InvalidOption } from "../options/InvalidOption.ts"
import * as Options from "../options/Options.ts"
import * as Rule from "../options/Rule.ts"
import type { FlatHeaders } from "./ServiceResponse.ts"

/** The API key of an admitted request. */
export interface Caller extends Pick<ApiKey, "id" | "plan" | "label" | "account" | "metadata"> {}

/** Returns the part of a key that the host may see. */
export const callerOf = ({ account, id, label, metadata, plan }: ApiKey): Caller => ({
  id,
  plan,
  label,
  account,
  metadata
})

/** Options of a route of the host, whose requests are of the type `Request`. */
export interface GuardOptions<Request> {
  /**
   * Number of requests as which a request counts: that many tokens from both windows, or none; 1 by default. At most the
   * whole limits of the key are counted. Requests without a valid key count as 1. If a function throws or returns no
   * whole number from 1, the request counts as 1, the response is a 500, and the reason is logged.
   */
  readonly cost?: number | ((request: Request) => number) | undefined
  /**
   * Template of the path for logs and metrics, such as `/orders/{id}`. By default that of Express or Fastify; with other
   * hosts, logs have the path instead.
   */
  readonly route?: string | undefined
}

/** A route of the host, as the service sees it for one request. */
export interface HostRoute {
  /** Returns the number of requests as which a request with a valid key counts, at most as the whole limits of the key. */
  readonly cost: () => number
  /** Returns the template of the path, such as `/orders/{id}`, after the response; `undefined` if it is unknown. */
  readonly template: () => string | undefined
  /** Runs the route for an admitted request, with headers for its response; completes when the response has ended. */
  readonly respond: (caller: Caller, headers: FlatHeaders) => Effect.Effect<HostResponse>
}

/** The response of the host, for observers. */
export interface HostResponse {
  readonly status: number
  /** Size of the body in bytes; 0 if it is unknown. */
  readonly bodyBytes: number
}

const cost = Rule.integer(Plan.bounds)

const rules: Options.Rules<GuardOptions<never>> = {
  cost: {
    isValid: (value): value is number | ((request: never) => number) =>
      typeof value === "function" || cost.isValid(value),
    reasonFor: (value) => `${cost.reasonFor(value)}, or a function`
  },
  route: Rule.text
}

/** Checks the options, and returns them with `costOf`, which checks the cost of a request. Throws `InvalidOption`. */
export const resolve = <Request>(given: GuardOptions<Request> | undefined) => {
  const options = Options.check<GuardOptions<never>>(rules, given)
  const { cost: checked, route } = Result.getOrThrowWith(options, (invalid) => invalid)
  // The cast is safe: the parameter of a function cannot be checked.
  const givenCost = (checked ?? 1) as number | ((request: Request) => number)
  const costOf = (request: Request): number => {
    if (typeof givenCost === "number") return givenCost
    const value = givenCost(request)
    if (cost.isValid(value)) return value
    throw new InvalidOption({ option: "cost", reason: cost.reasonFor(value) })
  }
  return { costOf, route }
}
