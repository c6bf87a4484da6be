/** Makes a subject of a server that is reached through a transport; the server may be written in any language. */
import * as Effect from "effect/Effect"
import type { Plan } from "../../core/limits/Plan.ts"
import type { Capability } from "../evaluation/Capability.ts"
import type { Facts, Http } from "../evaluation/Http.ts"
import { type Failure, undecided } from "../evaluation/Outcome.ts"
import type { Trial } from "../evaluation/Trial.ts"
import type { ServerClock } from "../http/ServerClock.ts"
import type { Transport } from "../http/Wire.ts"
import type { Budget } from "./Budget.ts"
import * as Conversation from "./Conversation.ts"
import * as CurlScript from "./curl/CurlScript.ts"
import * as HttpCatalogue from "./HttpCatalogue.ts"
import * as HttpMeter from "./HttpMeter.ts"
import * as Redaction from "./Redaction.ts"
import type { FailingCase, Subject } from "./Subject.ts"

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
  /** The address of the subject, for scripts; `undefined` without a socket. */
  readonly baseUrl: string | undefined
  readonly keys: Keys
  readonly clock?: ServerClock | undefined
  readonly declared?: Partial<Declarations> | undefined
  readonly budget?: Partial<Budget> | undefined
}

/** The default budget of a run. */
export const defaultBudget: Budget = { requests: 6_000, milliseconds: 180_000 }

export interface HttpSubject extends Subject {
  readonly target: HttpTarget
  readonly conversation: Conversation.Conversation
}

/** Whether a subject is reached over HTTP. */
export const is = (subject: Subject): subject is HttpSubject => "conversation" in subject

/** Creates a subject for one run; fails if the clock does not respond. */
export const make = Effect.fnUntraced(function* (target: HttpTarget): Effect.fn.Return<HttpSubject, Failure> {
  const { basePath, baseUrl, clock, declared, keys, transport } = target
  const secrets = {
    main: keys.main,
    tiny: keys.tiny?.secret,
    victim: keys.victim?.secret,
    revoked: keys.revoked,
    expired: keys.expired
  }
  const categories = declared?.categories ?? "any"
  const budget = { ...defaultBudget, ...target.budget }
  const conversation = yield* Conversation.make({
    transport,
    basePath,
    secrets,
    clock,
    budget
  })
  const facts: Facts = {
    mainKey: keys.main,
    basePath,
    categories,
    tinyPlan: keys.tiny,
    hasClock: clock !== undefined
  }

  const created = HttpCatalogue.trackCreated(conversation)
  const http = (trial: Trial): Http => ({
    facts,
    // Only the main key is paced: laws about the limits of other keys and callers need every 429.
    send: (sent) =>
      (sent.key ?? "main") === "main" && sent.authorization === undefined
        ? conversation.sendPaced(sent, trial)
        : conversation.send(sent, trial),
    sendUnpaced: (sent) => conversation.send(sent, trial),
    sendConcurrently: (sent) =>
      Effect.andThen(conversation.reserve(sent.length), conversation.sendConcurrently(sent, trial)),
    create: (draft) => HttpCatalogue.create(conversation, categories, draft, trial),
    created,
    now: conversation.now,
    advance: (ms) =>
      Effect.andThen(
        conversation.advance(ms),
        Effect.sync(() => trial.record({ did: `let ${ms / 1_000} s pass`, got: "", passedMs: ms }))
      ),
    advanceUntil: (moment) =>
      Effect.flatMap(conversation.now, (now) =>
        now >= moment
          ? Effect.void
          : Effect.andThen(
              conversation.advance(moment - now),
              Effect.sync(() =>
                trial.record({
                  did: `let time pass until ${new Date(moment).toISOString()}`,
                  got: "",
                  passedUntil: moment
                })
              )
            )
      )
  })

  const meter = (small: SmallKey | undefined, name: "tiny" | "victim") =>
    small === undefined
      ? () => undecided(`it needs a key on a small plan: give one with --${name} KEY:PERMINUTE:PERDAY`)
      : HttpMeter.make(conversation, { name, plan: small })

  const capabilities: ReadonlyArray<readonly [Capability, boolean]> = [
    ["clock", clock !== undefined],
    ["tinyPlan", keys.tiny !== undefined],
    ["victimKey", keys.victim !== undefined],
    ["revokedKey", keys.revoked !== undefined],
    ["expiredKey", keys.expired !== undefined],
    ["anyCategory", categories === "any"],
    ["parallel", true]
  ]
  const tinyMeter = meter(keys.tiny, "tiny")
  const victimMeter = meter(keys.victim, "victim")
  return {
    name: target.name,
    kind: "http",
    budget,
    target,
    conversation,
    interfaces: {
      catalogue: (trial) => Effect.succeed(HttpCatalogue.make(conversation, categories, trial)),
      http: (trial) => Effect.succeed(http(trial)),
      meter: tinyMeter,
      victim: victimMeter
    },
    capabilities: new Set(capabilities.filter(([, has]) => has).map(([name]) => name)),
    notApplicable: ({ profile, needs = [] }) => {
      if (profile === "ban" && declared?.bans === false) return "the subject declares that it never bans"
      if (needs.includes("anyCategory") && categories !== "any") {
        return "the subject declares that it accepts only certain categories"
      }
      if (needs.includes("revokedKey") && keys.revoked === undefined) {
        return "no revoked key is declared, and the contract defines no way to revoke one"
      }
      if (needs.includes("expiredKey") && keys.expired === undefined) {
        return "no expired key is declared, and the contract does not mention expiry"
      }
      return undefined
    },
    ...(baseUrl === undefined
      ? {}
      : {
          script: (failing: FailingCase) =>
            CurlScript.make({
              ...failing,
              baseUrl,
              basePath,
              secrets,
              created: created(),
              ...(categories === "any" ? {} : { category: categories[0] })
            })
        }),
    redact: Redaction.make(secrets),
    ...(baseUrl === undefined ? {} : { origin: new URL(baseUrl).origin }),
    basePath,
    exchanges: conversation.exchanges,
    waitedMs: conversation.waitedMs
  }
})
