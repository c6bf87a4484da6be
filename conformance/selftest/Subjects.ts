/** Makes the servers and stores that the suite tests: those with a fault, correct ones that differ from ours, and ours. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as PetStatus from "../../core/domain/PetStatus.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import { make as makeRateLimitStore, RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as PortSubject from "../subjects/PortSubject.ts"
import * as ServiceTarget from "../subjects/ServiceTarget.ts"
import type { Subject } from "../subjects/Subject.ts"
import * as ArrayStores from "./ArrayStores.ts"
import type { ConformingVariant, DisguisedVariant, PlainVariant } from "./ConformingVariants.ts"
import type { Fault, SpoiledPorts } from "./Fault.ts"
import * as PlainServer from "./plain/PlainServer.ts"

const identity = <A>(real: A): A => real

const stores = ({ keys = identity, limits = identity, pets = identity }: SpoiledPorts) => ({
  petRepository: Layer.sync(PetRepository, () => pets(ArrayStores.petRepository())),
  rateLimitStore: Layer.sync(RateLimitStore, () => makeRateLimitStore(limits(ArrayStores.rateLimitStore()))),
  apiKeyStore: Layer.sync(ApiKeyStore, () => keys(ArrayStores.apiKeyStore()))
})

const mergedStores = (ports: SpoiledPorts) => {
  const { apiKeyStore, petRepository, rateLimitStore } = stores(ports)
  return Layer.mergeAll(petRepository, rateLimitStore, apiKeyStore)
}

/** Makes the subject of a fault, for one run. */
export const ofFault = ({
  id,
  where
}: Pick<Fault, "id" | "where">): Effect.Effect<Subject, unknown, Scope.Scope> => {
  if (where.at === "port") {
    return Effect.succeed(
      PortSubject.make({ name: id, ...stores(where), outage: ArrayStores.outOfReach(where) })
    )
  }
  return Effect.gen(function* () {
    const target = yield* ServiceTarget.make({
      name: id,
      stores: mergedStores(where),
      options: where.options,
      ban: where.ban,
      clock: where.clock
    })
    const { main, revoked = "", tiny, victim } = target.keys
    const world = {
      now: target.nowUnsafe,
      keys: { main, tiny: tiny?.secret ?? "", victim: victim?.secret ?? "", revoked }
    }
    const { transport: spoil = identity } = where
    return yield* HttpSubject.make({ ...target, transport: spoil(target.transport, world) })
  })
}

/** The reference server: the core's service over plain arrays. */
export const reference: Effect.Effect<Subject, unknown, Scope.Scope> = Effect.flatMap(
  Effect.suspend(() => ServiceTarget.make({ name: "reference", stores: ArrayStores.layer })),
  HttpSubject.make
)

/** The reference stores: the ports over plain arrays. */
export const referencePorts: Effect.Effect<Subject> = Effect.sync(() =>
  PortSubject.make({ name: "reference ports", ...stores({}), outage: ArrayStores.outOfReach({}) })
)

/** Makes the subject of a conforming variant, for one run. */
export const ofVariant = (variant: ConformingVariant): Effect.Effect<Subject, unknown, Scope.Scope> =>
  "disguise" in variant ? ofDisguised(variant) : ofPlain(variant)

/** Makes animals, of which one in ten is pending or sold: a list can show all animals with these statuses. */
const manyAnimals = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `Old ${index}`,
    categoryId: 1n,
    status: PetStatus.all[index % 20 < 2 ? 1 + (index % 20) : 0] ?? "available"
  }))

const ofDisguised = ({
  animals,
  disguise,
  id
}: DisguisedVariant): Effect.Effect<Subject, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const petRepository = Layer.sync(PetRepository, () => ArrayStores.petRepository(manyAnimals(animals)))
    const { apiKeyStore, rateLimitStore } = stores({})
    const target = yield* ServiceTarget.make({
      name: id,
      stores: Layer.mergeAll(petRepository, rateLimitStore, apiKeyStore)
    })
    return yield* HttpSubject.make({ ...target, transport: disguise(target.transport) })
  })

const ofPlain = ({ choices, id }: PlainVariant): Effect.Effect<Subject, unknown> =>
  Effect.gen(function* () {
    const { clock, controls } = ServiceTarget.stoppedClock(yield* Clock.Clock, ServiceTarget.MORNING)
    const now = () => clock.currentTimeMillisUnsafe()
    const { main, tiny, victim } = ServiceTarget.plans
    const keys = {
      main: { secret: "main-0123456789abcdef", ...main },
      tiny: { secret: "tiny-0123456789abcdef", ...tiny },
      victim: { secret: "victim-0123456789abcdef", ...victim },
      revoked: { secret: "revoked-0123456789abcdef", ...tiny, isValid: false },
      expired: { secret: "expired-0123456789abcdef", ...tiny, isValid: false }
    }
    const transport = PlainServer.make({ keys: Object.values(keys), now, choices })
    return yield* HttpSubject.make({
      name: id,
      transport,
      basePath: "/v1",
      baseUrl: undefined,
      keys: { ...keys, main: keys.main.secret, revoked: keys.revoked.secret, expired: keys.expired.secret },
      clock: controls
    })
  })
