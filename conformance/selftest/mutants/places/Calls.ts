/** Defines places at calls of the stores: a mutant skips, repeats, delays or fails a call, or returns an old result. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ApiKey } from "../../../../core/access/ApiKey.ts"
import type { NewPet } from "../../../../core/domain/NewPet.ts"
import { Pet } from "../../../../core/domain/Pet.ts"
import { StoreUnavailable } from "../../../../core/errors/StoreUnavailable.ts"
import type { SpoiledPorts } from "../../Fault.ts"
import type { Mutate, Place } from "../Place.ts"
import * as Situation from "../Situation.ts"

const failed = Effect.fail(new StoreUnavailable({ retryable: false, cause: new Error("a mutant") }))

/** Returns the action for a call: `skip`, `repeat`, `stale`, `delay`, `fail`; any other text makes the call. */
type Decide = (situation: Situation.Situation) => string

/**
 * Makes a function that performs calls of one method, each with the action that `decide` returns; `skipped` gives the
 * result of a call that is skipped or delayed.
 */
const performer = <A, E>(decide: () => string) => {
  let latest: A | undefined
  let delayed: ReadonlyArray<Effect.Effect<A, E>> = []
  return (call: Effect.Effect<A, E>, skipped: () => A): Effect.Effect<A, E | StoreUnavailable> =>
    Effect.suspend((): Effect.Effect<A, E | StoreUnavailable> => {
      const action = decide()
      const before = latest
      const recorded = Effect.tap(call, (value) =>
        Effect.sync(() => {
          latest = value
        })
      )
      if (action === "skip") return Effect.sync(skipped)
      if (action === "repeat") return Effect.andThen(call, recorded)
      if (action === "stale") return Effect.map(recorded, (value) => before ?? value)
      if (action === "fail") return failed
      // A delayed call is made together with the next one.
      const due = Effect.all(delayed)
      delayed = action === "delay" ? [call] : []
      return action === "delay" ? Effect.andThen(due, Effect.sync(skipped)) : Effect.andThen(due, recorded)
    })
}

const place = (
  id: string,
  install: (decide: () => string) => SpoiledPorts,
  topics: Place["topics"] = ["any", "key", "history", "time"]
): Place => ({
  id: `call of ${id}`,
  kind: "call",
  operations: ["list", "create", "get", "head"],
  group: "calls of stores",
  topics,
  install: (mutate: Mutate) => {
    const tracker = Situation.make()
    const decide: Decide = (situation) => String(mutate("call", situation))
    return {
      at: "http",
      transport: tracker.follow((real, { request }) => real(request)),
      ...install(() => {
        const situation = tracker.current()
        return situation === undefined ? "call" : decide(situation)
      })
    }
  }
})

const createInventor = (): ((newPet: NewPet) => Pet) => {
  let id = 1_000_000n
  return (newPet) => new Pet(++id, newPet)
}

export const places: ReadonlyArray<Place> = [
  place("pets.insert", (decide) => ({
    pets: (real) => {
      const perform = performer<Pet, StoreUnavailable>(decide)
      const invent = createInventor()
      return { ...real, insert: (newPet) => perform(real.insert(newPet), () => invent(newPet)) }
    }
  })),
  place("pets.find", (decide) => ({
    pets: (real) => {
      const perform = performer<Option.Option<Pet>, StoreUnavailable>(decide)
      return { ...real, find: (id) => perform(real.find(id), Option.none) }
    }
  })),
  place("pets.page", (decide) => ({
    pets: (real) => {
      const perform = performer<ReadonlyArray<Pet>, StoreUnavailable>(decide)
      return { ...real, page: (query) => perform(real.page(query), () => []) }
    }
  })),
  place(
    "keys.findByHash",
    (decide) => ({
      keys: (real) => {
        const perform = performer<Option.Option<ApiKey>, StoreUnavailable>(decide)
        return { ...real, findByHash: (hash) => perform(real.findByHash(hash), Option.none) }
      }
    }),
    ["any", "operation", "key", "no key", "history", "time"]
  )
]
