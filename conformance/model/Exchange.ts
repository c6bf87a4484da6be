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
  /** Whether it was sent at the same time as others. */
  readonly isTogether?: boolean
  /** Whether no other request was in flight once its response had arrived. */
  readonly isLast?: boolean
  /** The number of requests sent before its response arrived; of use if it was not alone. */
  readonly until?: number
}

/** Whether other requests were sent at the same time, even if each got its response before the next began. */
export const isConcurrent = ({ isAlone, isTogether }: Exchange): boolean => !isAlone || isTogether === true

/** Whether the response to one exchange arrived before the other was sent. */
export const precedes = (a: Exchange, b: Exchange): boolean =>
  a.index < b.index && (a.isAlone || b.isAlone || (a.until ?? Number.POSITIVE_INFINITY) <= b.index)

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

/** What a law says of a response: it decides the clause, and finds it kept or broken. */
export interface Ruling {
  readonly clause: ClauseSlug
  readonly broken?: Break
}

export interface Break {
  readonly expected: string
  readonly actual: string
  /** The earlier exchanges that the violation follows from; the judged one is added to them. */
  readonly earlier: ReadonlyArray<Exchange>
}

/** Rules on a clause; `earlier` are the exchanges that, with the judged one, show that it is broken. */
export const rule = (
  isKept: boolean,
  clause: ClauseSlug,
  expected: string,
  actual: string | number | undefined,
  ...earlier: ReadonlyArray<Exchange>
): Ruling => (isKept ? { clause } : broken(clause, expected, actual, ...earlier))

export const kept = (clause: ClauseSlug): Ruling => ({ clause })

export const broken = (
  clause: ClauseSlug,
  expected: string,
  actual: string | number | undefined,
  ...earlier: ReadonlyArray<Exchange>
) => ({ clause, broken: { expected, actual: String(actual ?? "none"), earlier } }) satisfies Ruling

export const isBroken = (ruling: Ruling): ruling is Ruling & { readonly broken: Break } =>
  ruling.broken !== undefined

/** Gathers rulings: the violations among them, and the clauses that they decide. */
export const gathering = () => {
  const violations: Array<Violation> = []
  const decided = new Set<ClauseSlug>()
  /** Adds rulings on an exchange; it is absent if no exchange shows what they are about. */
  const add = (rulings: ReadonlyArray<Ruling>, exchange?: Exchange): void => {
    for (const { broken, clause } of rulings) {
      decided.add(clause)
      if (broken === undefined) continue
      const { actual, earlier, expected } = broken
      const all = new Set([...earlier, ...(exchange === undefined ? [] : [exchange])])
      violations.push({ clause, expected, actual, evidence: [...all].toSorted((a, b) => a.index - b.index) })
    }
  }
  return { violations, decided, add }
}
