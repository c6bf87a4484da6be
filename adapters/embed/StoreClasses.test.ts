/** Checks stores of a program with Effect that are instances of classes: their methods need `this`. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect, it } from "vitest"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as RateLimitStore from "../../core/ports/RateLimitStore.ts"
import * as Memory from "../memory/Memory.ts"
import { openAnimalStore } from "./index.ts"

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
  isRehearsed = false
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

it("stores may be instances of classes", async () => {
  const log: Array<string> = []
  const memory = await Effect.runPromise(Effect.scoped(Layer.build(Memory.layer)))
  const build = <A>(
    effect: Effect.Effect<A, never, ApiKeyStore | PetRepository | RateLimitStore.RateLimitStore>
  ) => Effect.runSync(Effect.provide(effect, memory))
  const keys = build(Effect.map(ApiKeyStore, (store) => new ClassOfKeys(store)))
  const limits = build(Effect.map(RateLimitStore.RateLimitStore, (store) => new ClassOfLimits(store)))
  const pets = build(Effect.map(PetRepository, (store) => new ClassOfPets(store)))
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
