/** Makes a subject of a server that is reached through a transport; the server may be written in any language. */
import type { Plan } from "../../core/limits/Plan.ts"
import type { ServerClock } from "../http/ServerClock.ts"
import type { Transport } from "../http/Wire.ts"
import type { Exchange } from "../model/Exchange.ts"
import type { Secrets } from "./KeyText.ts"
import * as Redaction from "./Redaction.ts"
import type { Capability, Subject } from "./Subject.ts"

/** A key on a small plan, whose limits the suite may use up. */
export interface SmallKey extends Plan {
  readonly secret: string
}

/** Declarations about points that the contract leaves open. */
export interface Declarations {
  /** Accepted values of `categoryId`: any int64 (the default), or only these. */
  readonly categories: "any" | ReadonlyArray<bigint>
  /** Whether the subject bans keys that ignore a 429 (contract §8.4.3 allows both); true by default. */
  readonly bans: boolean
}

/** The API keys that a run uses; each optional key enables more checks. */
export interface Keys {
  /** A key on a plan that is large enough for the run. */
  readonly main: string
  readonly tiny?: SmallKey | undefined
  /** A key that may be banned. */
  readonly victim?: SmallKey | undefined
  readonly revoked?: string | undefined
  readonly expired?: string | undefined
}

export interface HttpTarget {
  readonly name: string
  readonly transport: Transport
  /** Path of the base address, such as `/v1`. */
  readonly basePath: string
  /** The address of the subject, for commands; `undefined` without a socket. */
  readonly baseUrl: string | undefined
  readonly keys: Keys
  readonly clock?: ServerClock | undefined
  readonly declared?: Partial<Declarations> | undefined
  readonly budget?: Partial<Budget> | undefined
}

/** The maximum cost of a run. */
export interface Budget {
  readonly requests: number
  /** Maximum wall-clock time, in milliseconds. */
  readonly milliseconds: number
}

/** The default budget of a run. */
export const defaultBudget: Budget = { requests: 6_000, milliseconds: 180_000 }

export interface HttpSubject extends Subject {
  readonly kind: "http"
  readonly target: HttpTarget
  readonly budget: Budget
  readonly secrets: Secrets
  /** Replaces keys in a text. */
  readonly redact: (text: string) => string
  /** The exchanges of its run so far; the run adds them. */
  readonly exchanges: Array<Exchange>
}

/** Whether a subject is reached over HTTP. */
export const is = (subject: Subject): subject is HttpSubject => subject.kind === "http"

/** Returns the declared keys by name. */
export const secretsOf = ({ expired, main, revoked, tiny, victim }: Keys): Secrets => ({
  main,
  tiny: tiny?.secret,
  victim: victim?.secret,
  revoked,
  expired
})

/** Returns what a server has, by its declarations. */
export const capabilitiesOf = ({ clock, keys }: HttpTarget): ReadonlySet<Capability> => {
  const all: ReadonlyArray<readonly [Capability, boolean]> = [
    ["clock", clock !== undefined],
    ["tinyPlan", keys.tiny !== undefined],
    ["victimKey", keys.victim !== undefined],
    ["revokedKey", keys.revoked !== undefined],
    ["expiredKey", keys.expired !== undefined]
  ]
  return new Set(all.filter(([, has]) => has).map(([name]) => name))
}

/** Creates a subject for one run. */
export const make = (target: HttpTarget): HttpSubject => {
  const secrets = secretsOf(target.keys)
  return {
    name: target.name,
    kind: "http",
    capabilities: capabilitiesOf(target),
    target,
    budget: { ...defaultBudget, ...target.budget },
    secrets,
    redact: Redaction.make(secrets),
    exchanges: []
  }
}
