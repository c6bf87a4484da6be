/** Defines what the model judges: exchanges, the service that they were exchanged with, and violations. */
import type { Plan } from "../../core/limits/Plan.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { WireRequest, WireResponse } from "../http/Wire.ts"

/** One request as sent, and its response as received. */
export interface Exchange {
  /** The number of the request in the run. */
  readonly index: number
  /** The request in one line, without keys. */
  readonly did: string
  readonly request: WireRequest
  /** `undefined` if no complete response arrived. */
  readonly response: WireResponse | undefined
  /** Why no complete response arrived. */
  readonly missing?: string
  /** The interval of the service's time (epoch ms) in which it handled the request. */
  readonly from: number
  readonly to: number
  /** Whether no other request was in flight at the same time. */
  readonly isAlone: boolean
}

/** An API key that the run uses. */
export interface Key {
  readonly name: string
  readonly secret: string
  /** Its limits; if absent, only the form of its rate headers is judged. */
  readonly plan?: Plan | undefined
  /** False for a key that the user declares as revoked or expired. */
  readonly isValid: boolean
}

/** What the user of the suite declares about a service. */
export interface Setup {
  /** The path before `/pets`, such as `/v1`. */
  readonly basePath: string
  readonly keys: ReadonlyArray<Key>
  /** The categories that exist; `any` if undeclared. */
  readonly categories: "any" | ReadonlyArray<bigint>
}

/** A sentence of the contract that a service broke. */
export interface Violation {
  readonly clause: ClauseSlug
  readonly expected: string
  readonly actual: string
  /** All exchanges that the violation follows from; the last one is the exchange that shows it. */
  readonly evidence: ReadonlyArray<Exchange>
}

/** A violation before its evidence is added. */
export type Break = Omit<Violation, "evidence">

export const breaks = (clause: ClauseSlug, expected: string, actual: string): Break => ({
  clause,
  expected,
  actual
})

/** Returns a break unless the law holds. */
export const unless = (
  holds: boolean,
  clause: ClauseSlug,
  expected: string,
  actual: string | number
): Break | undefined => (holds ? undefined : breaks(clause, expected, String(actual)))

export const violation = (
  clause: ClauseSlug,
  expected: string,
  actual: string,
  ...evidence: ReadonlyArray<Exchange>
): Violation => ({ clause, expected, actual, evidence })
