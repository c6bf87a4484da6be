/** Makes the servers and stores that the suite tests: those with a fault, correct ones that differ from ours, and ours. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as References from "effect/References"
import type * as Scope from "effect/Scope"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { make as makeRateLimitStore, RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import type { Report } from "../engine/Report.ts"
import * as Run from "../engine/Run.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as PortSubject from "../subjects/PortSubject.ts"
import type { Subject } from "../subjects/Subject.ts"
import * as ArrayStores from "./ArrayStores.ts"
import type { SpoiledPorts, Where } from "./Fault.ts"
import type { Choices } from "./plain/Choices.ts"
import * as PlainServer from "./plain/PlainServer.ts"
import * as ServiceTarget from "./ServiceTarget.ts"

const identity = <A>(real: A): A => real

/** Makes the layers of the three ports over plain arrays. */
export const stores = ({ keys = identity, limits = identity, pets = identity }: SpoiledPorts) => ({
  petRepository: Layer.sync(PetRepository, () => pets(ArrayStores.petRepository())),
  rateLimitStore: Layer.sync(RateLimitStore, () => makeRateLimitStore(limits(ArrayStores.rateLimitStore()))),
  apiKeyStore: Layer.sync(ApiKeyStore, () => keys(ArrayStores.apiKeyStore()))
})

type Opened = Effect.Effect<Subject, unknown, Scope.Scope>

/** Makes the subject of a fault, for one run. */
export const ofFault = (id: string, where: Where): Opened => {
  switch (where.at) {
    case "port":
      return Effect.succeed(
        PortSubject.make({ name: id, ...stores(where), outage: ArrayStores.outOfReach(where) })
      )
    case "http":
      return Effect.map(serviceOf(id, where), HttpSubject.make)
    case "plain":
      return Effect.map(plainOf(id, where.choices, where.transport), HttpSubject.make)
  }
}

/** Makes a target of the core's service, with a fault. */
const serviceOf = Effect.fnUntraced(function* (name: string, where: Where & { readonly at: "http" }) {
  const { apiKeyStore, petRepository, rateLimitStore } = stores(where)
  const { ban, clock, options, transport = identity } = where
  const target = yield* ServiceTarget.make({
    name,
    stores: Layer.mergeAll(petRepository, rateLimitStore, apiKeyStore),
    options,
    ban,
    clock
  })
  const { main, revoked = "", tiny, victim } = target.keys
  const keys = { main, tiny: tiny?.secret ?? "", victim: victim?.secret ?? "", revoked }
  return { ...target, transport: transport(target.transport, { now: target.nowUnsafe, keys }) }
})

/** Makes a target of a plain server, perhaps with a fault. */
const plainOf = Effect.fnUntraced(function* (
  name: string,
  choices: Partial<Choices> = {},
  spoil: NonNullable<(Where & { readonly at: "plain" })["transport"]> = identity
) {
  const { clock, controls } = ServiceTarget.stoppedClock(yield* Clock.Clock, ServiceTarget.MORNING)
  const now = () => clock.currentTimeMillisUnsafe()
  const { main, tiny, victim } = ServiceTarget.plans
  const keys = {
    main: { secret: "main-0123456789Abcdef", ...main },
    tiny: { secret: "tiny-0123456789Abcdef", ...tiny },
    victim: { secret: "victim-0123456789Abcdef", ...victim },
    revoked: { secret: "revoked-0123456789Abcdef", ...tiny, isValid: false },
    expired: { secret: "expired-0123456789Abcdef", ...tiny, isValid: false }
  }
  const real = PlainServer.make({ keys: Object.values(keys), now, choices })
  const secrets = {
    main: keys.main.secret,
    tiny: keys.tiny.secret,
    victim: keys.victim.secret,
    revoked: keys.revoked.secret
  }
  return {
    name,
    transport: spoil(real, { now, keys: secrets }),
    basePath: "/v1",
    baseUrl: undefined,
    keys: { ...keys, main: secrets.main, revoked: secrets.revoked, expired: keys.expired.secret },
    clock: controls
  }
})

/** The reference server: the core's service over plain arrays. */
export const reference: Opened = Effect.suspend(() => ofFault("reference", { at: "http" }))

/** The reference stores: the ports over plain arrays. */
export const referencePorts: Opened = Effect.suspend(() => ofFault("reference ports", { at: "port" }))

/** Makes a plain server with these choices, for one run. */
export const ofChoices = (id: string, choices: Partial<Choices>): Opened =>
  ofFault(id, { at: "plain", choices })

/** Opens a subject, passes it to `use`, and closes it; with the same seed, the run is the same. */
export const withSubject = <A, Some = Subject>(
  subject: Effect.Effect<Some, unknown, Scope.Scope>,
  seed: number,
  use: (opened: Some) => Effect.Effect<A, unknown>
): Effect.Effect<A, unknown> =>
  Effect.scoped(Effect.flatMap(subject, use)).pipe(
    // The names of animals are random.
    Random.withSeed(seed),
    // Logs of a backend about its deliberate fault are of no use.
    Effect.provideService(References.MinimumLogLevel, "None")
  )

/** Opens the subject, runs the suite on it, and closes it. */
export const examine = (subject: Opened, options: Run.RunOptions): Effect.Effect<Report, unknown> =>
  withSubject(subject, options.seed ?? 0, (opened) => Run.run(opened, options))
