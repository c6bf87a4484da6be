/** Creates a subject from storage ports, which are built again for every evaluation, so that laws are independent. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { limit as pageLimit } from "../../core/domain/Page.ts"
import * as PetStatus from "../../core/domain/PetStatus.ts"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import type { Plan } from "../../core/limits/Plan.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import type { Capability } from "../evaluation/Capability.ts"
import type { Catalogue } from "../evaluation/Catalogue.ts"
import type { Meter, Reading } from "../evaluation/Meter.ts"
import { type Failure, Violation } from "../evaluation/Outcome.ts"
import type { Trial } from "../evaluation/Trial.ts"
import type { Animal } from "../http/Animal.ts"
import * as PetJson from "../http/PetJson.ts"
import { portCall } from "./PortCall.ts"
import type { Subject } from "./Subject.ts"

/** A layer that builds an empty store each time. */
export type Store<Port> = Layer.Layer<Port, unknown>

export interface PortSubjectOptions {
  readonly name: string
  readonly petRepository?: Store<PetRepository> | undefined
  readonly rateLimitStore?: Store<RateLimitStore> | undefined
  readonly apiKeyStore?: Store<ApiKeyStore> | undefined
  /** Some or all ports over a backend that does not respond, to check how they fail. */
  readonly outage?: Store<never> | undefined
}

/**
 * The time at which laws about limits begin: a morning, so that minutes do not cross midnight, and far in the future,
 * because a store may delete spent states by the machine's clock.
 */
const MORNING = Date.UTC(2100, 0, 1, 9)

/** A small plan, so that laws can use up its limits. */
const PLAN: Plan = { perMinute: 5, perDay: 40 }

export const make = ({
  apiKeyStore,
  name,
  outage,
  petRepository,
  rateLimitStore
}: PortSubjectOptions): Subject => {
  const capabilities: ReadonlyArray<Capability> = [
    "parallel",
    "clock",
    "tinyPlan",
    "victimKey",
    "anyCategory",
    ...(outage === undefined ? [] : (["outage"] as const))
  ]
  return {
    name,
    kind: "port",
    capabilities: new Set(capabilities),
    exchanges: [],
    interfaces: {
      ...(petRepository === undefined
        ? {}
        : {
            catalogue: (trial: Trial) =>
              Effect.map(openPort(petRepository, PetRepository), (repository) =>
                catalogue(repository, trial)
              ),
            pets: () => openPort(petRepository, PetRepository)
          }),
      ...(rateLimitStore === undefined
        ? {}
        : {
            meter: (trial: Trial) => Effect.map(openPort(rateLimitStore, RateLimitStore), makeMeter(trial)),
            victim: (trial: Trial) => Effect.map(openPort(rateLimitStore, RateLimitStore), makeMeter(trial)),
            limits: () => openPort(rateLimitStore, RateLimitStore)
          }),
      ...(apiKeyStore === undefined ? {} : { keys: () => openPort(apiKeyStore, ApiKeyStore) }),
      ...(outage === undefined
        ? {}
        : {
            outage: () =>
              Effect.map(buildFresh(outage), (context) => ({
                pets: Context.getOption(context, PetRepository).pipe(Option.getOrUndefined),
                limits: Context.getOption(context, RateLimitStore).pipe(Option.getOrUndefined),
                keys: Context.getOption(context, ApiKeyStore).pipe(Option.getOrUndefined)
              }))
          })
    }
  }
}

const buildFresh = <Port>(store: Store<Port>): Effect.Effect<Context.Context<Port>, Violation, Scope.Scope> =>
  Effect.catchCause(Layer.build(Layer.fresh(store)), (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.interrupt
      : Effect.fail(
          new Violation({
            expected: "the layer to open an empty store",
            actual: String(Cause.squash(cause)).split("\n")[0] ?? ""
          })
        )
  )

const openPort = <Port, Service extends object>(
  store: Store<Port>,
  port: Context.Service<Port, Service>
): Effect.Effect<Service, Violation, Scope.Scope> =>
  Effect.map(buildFresh(store), (context) => suspended(Context.get(context, port)))

/** Returns a port whose methods are called when their effects run, so that a synchronous throw is also a defect. */
const suspended = <Port extends object>(port: Port): Port =>
  // The target is not the port, because a proxy cannot replace the methods of a frozen object.
  new Proxy({} as Port, {
    get: (_, name) => {
      const member: unknown = Reflect.get(port, name)
      return typeof member === "function"
        ? (...given: ReadonlyArray<unknown>) => Effect.suspend(() => Reflect.apply(member, port, given))
        : member
    }
  })

const describeAnimals = (animals: ReadonlyArray<Animal>): string =>
  animals.length === 0 ? "none" : animals.map(PetJson.line).join(", ")

/** Adapts a repository to a catalogue. */
export const catalogue = (pets: PetRepository["Service"], trial: Trial): Catalogue => ({
  isShared: false,
  categoryOf: (wanted) => wanted,
  create: (draft) =>
    portCall(
      trial,
      `insert ${PetJson.draft(draft)}`,
      () => pets.insert({ ...draft, status: draft.status ?? PetStatus.initial }),
      PetJson.line
    ),
  list: ({ limit = pageLimit.default, status }) =>
    portCall(
      trial,
      `page of ${limit}${status === undefined ? "" : ` ${status}`}`,
      () => pets.page({ limit, status, after: undefined }),
      describeAnimals
    ),
  get: (id) =>
    portCall(
      trial,
      `find ${id}`,
      () => pets.find(id),
      (found) => Option.match(found, { onNone: () => "none", onSome: PetJson.line })
    )
})

const makeMeter =
  (trial: Trial) =>
  (store: RateLimitStore["Service"]): Meter => {
    let now = MORNING
    let callers = 0
    const policy: RateLimit.Policy = { plan: PLAN, ban: BanPolicy.standard }
    const spend: Effect.Effect<Reading, Failure> = Effect.suspend(() => {
      const at = now
      const decided =
        store.consume?.(`key:${callers}`, at, policy) ??
        store.modify(`key:${callers}`, (state) => RateLimit.step(state, at, policy))
      return Effect.map(
        portCall(
          trial,
          `request at ${at - MORNING} ms`,
          () => decided,
          ({ outcome, remaining, retryAfter }) =>
            outcome === "admitted" ? `admitted, ${remaining} left` : `${outcome}, retry after ${retryAfter} s`
        ),
        ({ outcome, ...verdict }) => ({
          ...verdict,
          admitted: outcome === "admitted",
          banned: outcome === "banned",
          decidedBetween: [at, at] as const
        })
      )
    })
    return {
      plan: PLAN,
      spend,
      spendConcurrently: (requests) =>
        Effect.all(
          Array.from({ length: requests }, () => spend),
          { concurrency: "unbounded" }
        ),
      refill: Effect.sync(() => {
        callers++
      }),
      advance: (ms) =>
        Effect.sync(() => {
          now += ms
        }),
      now: Effect.sync(() => now),
      hasClock: true
    }
  }
