/** Defines routes of the host behind the keys and limits of the service: the service admits, and the host responds. */
import type * as Effect from "effect/Effect"
import type { ApiKey } from "../access/ApiKey.ts"
import type * as Options from "../options/Options.ts"
import * as Rule from "../options/Rule.ts"
import type { FlatHeaders } from "./ServiceResponse.ts"

/** The API key of an admitted request. */
export interface Caller extends Pick<ApiKey, "id" | "plan" | "label"> {}

/** Returns the part of a key that the host may see. */
export const callerOf = ({ id, label, plan }: ApiKey): Caller => ({ id, plan, label })

/** Options of a route of the host. */
export interface GuardOptions {
  /**
   * Template of the path for logs and metrics, such as `/orders/{id}`. By default that of Express or Fastify; with other
   * hosts, logs have the path instead.
   */
  readonly route?: string | undefined
}

/** A route of the host, as the service sees it for one request. */
export interface HostRoute {
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

/** The rule of each option. */
export const rules: Options.Rules<GuardOptions> = { route: Rule.text }
