/** Checks stores of a program with Effect that are instances of classes: their methods need `this`. */
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect, it } from "vitest"
import * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import * as KeyStatus from "../../core/access/KeyStatus.ts"
import * as LastSeen from "../../core/access/LastSeen.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as RateLimitStore from "../../core/ports/RateLimitStore.ts"
import * as ReadinessProbe from "../../core/service/ReadinessProbe.ts"
import * as Memory from "../memory/Memory.ts"
import { openAnimalStore } from "./index.ts"
import * as NodeDigest from "./NodeDigest.ts"

type Keys = ApiKeyStore["Service"]
type Limits = RateLimitStore.RateLimitStore["Service"]
type Pets = PetRepository["Service"]

class ClassOfKeys {
  readonly #store: Keys
  readonly marked: Array<string> = []
  constructor(store: Keys) {
    this.#store = store
  }
  get list() {
    return this.#store.list
  }
  findByHash(hash: string) {
    return this.#store.findByHash(hash)
  }
  insert(...parameters: Parameters<Keys["insert"]>) {
    return this.#store.insert(...parameters)
  }
  insertFirst(...parameters: Parameters<Keys["insertFirst"]>) {
    return this.#store.insertFirst(...parameters)
  }
  update: Keys["update"] = (id, change) => this.#store.update(id, change)
  events(id?: string) {
    return this.#store.events?.(id) ?? Effect.succeed([])
  }
  markSeen(ids: ReadonlyArray<string>) {
    return Effect.sync(() => void this.marked.push(...ids))
  }
}

class ClassOfLimits {
  readonly #store: Limits
  readonly costs: Array<number> = []
  constructor(store: Limits) {
    this.#store = store
  }
  modify: Limits["modify"] = (key, step) => this.#store.modify(key, step)
  consumeMany(...parameters: Parameters<NonNullable<Limits["consumeMany"]>>) {
    this.costs.push(parameters[3])
    return RateLimitStore.consume(this.#store, ...parameters)
  }
  read(...parameters: Parameters<NonNullable<Limits["read"]>>) {
    return RateLimitStore.read(this.#store, ...parameters)
  }
}

class ClassWithRehearsal extends ClassOfLimits {
  isRehearsed = false
  get rehearse() {
    return Effect.sync(() => {
      this.isRehearsed = true
    })
  }
}

class ClassOfPets {
  readonly #store: Pets
  constructor(store: Pets) {
    this.#store = store
  }
  insert(...parameters: Parameters<Pets["insert"]>) {
    return this.#store.insert(...parameters)
  }
  find(id: bigint) {
    return this.#store.find(id)
  }
  page(...parameters: Parameters<Pets["page"]>) {
    return this.#store.page(...parameters)
  }
}

/** Returns stores that are instances of classes. */
const make = async () => {
  const memory = await Effect.runPromise(Effect.scoped(Layer.build(Memory.layer)))
  const keys = new ClassOfKeys(Context.get(memory, ApiKeyStore))
  const pets = new ClassOfPets(Context.get(memory, PetRepository))
  return { keys, limits: Context.get(memory, RateLimitStore.RateLimitStore), pets }
}

it("stores of openAnimalStore may be instances of classes", async () => {
  const log: Array<string> = []
  const stores = await make()
  const { keys, pets } = stores
  const limits = new ClassWithRehearsal(stores.limits)
  const store = await openAnimalStore({
    database: Layer.mergeAll(
      Layer.succeed(ApiKeyStore, keys),
      Layer.succeed(RateLimitStore.RateLimitStore, RateLimitStore.make(limits)),
      Layer.succeed(PetRepository, pets)
    ),
    log: (line) => log.push(line)
  })
  const { id, key } = await store.keys.issue({ plan: "Free" })
  const request = (path: string) =>
    new Request(`http://store.test${path}`, { headers: { Authorization: `Bearer ${key}` } })
  const admission = await store.admit(request("/orders"), { cost: 5 })
  if (!admission.admitted) throw new Error("the request was not admitted")
  admission.respond(new Response())
  expect((await store.fetch(request("/v1/pets"))).status).toBe(200)
  expect((await store.fetch(request("/readyz"))).status).toBe(200)
  expect((await store.keys.list())[0]?.usage.day.used).toBe(6)
  expect((await store.keys.log(id)).map(({ action }) => action)).toEqual(["issued"])
  await store.close()
  expect([keys.marked, limits.costs, limits.isRehearsed]).toEqual([[id], [5], true])
  expect(log.filter((line) => !line.includes("level=INFO"))).toEqual([])
})

it("stores of a service in a program with Effect may be instances of classes", async () => {
  const { keys, limits, pets } = await make()
  const complete = Object.assign(new ClassOfLimits(limits), { consume: limits.consume })
  const program = Effect.gen(function* () {
    const { key } = yield* KeyLifecycle.issue({ plan: "Free" })
    const noteSeen = yield* LastSeen.LastSeen
    noteSeen(key, Date.UTC(2030, 0))
    yield* yield* ReadinessProbe.make({ onLimitsUnavailable: "closed" })
    return { id: key.id, events: yield* KeyStatus.log() }
  }).pipe(
    Effect.provide(LastSeen.layer),
    Effect.provideService(ApiKeyStore, keys),
    Effect.provideService(PetRepository, pets),
    Effect.provideService(RateLimitStore.RateLimitStore, complete),
    Effect.provide(Layer.merge(NodeDigest.layer, SecureRandom.layerWebCrypto))
  )
  const { events, id } = await Effect.runPromise(program)
  expect(events).toHaveLength(1)
  expect(keys.marked).toEqual([id])
})
