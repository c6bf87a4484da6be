/** Defines places at calls of the stores: a mutant skips, repeats, delays or fails a call, or returns an old result. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { NewPet } from "../../../../core/domain/NewPet.ts"
import { Pet } from "../../../../core/domain/Pet.ts"
import { StoreUnavailable } from "../../../../core/errors/StoreUnavailable.ts"
import type { PetRepository } from "../../../../core/ports/PetRepository.ts"
import type { SpoiledPorts } from "../../Fault.ts"
import type { Mutate, Place } from "../Place.ts"
import * as Situation from "../Situation.ts"

type Pets = PetRepository["Service"]

const failed = Effect.fail(new StoreUnavailable({ retryable: false, cause: new Error("a mutant") }))

/** Returns the action for a call: `skip`, `repeat`, `stale`, `delay`, `fail`; any other text makes the call. */
type Decide = (situation: Situation.Situation) => string

/** Performs the action that `decide` returns; `skipped` gives the result of a call that is skipped or delayed. */
const performCall = <A, E>(
  decide: () => string,
  call: Effect.Effect<A, E>,
  latest: { value: A | undefined; delayed: ReadonlyArray<Effect.Effect<A, E>> },
  skipped: () => A
): Effect.Effect<A, E | StoreUnavailable> =>
  Effect.suspend((): Effect.Effect<A, E | StoreUnavailable> => {
    const action = decide()
    const before = latest.value
    const recorded = Effect.tap(call, (value) =>
      Effect.sync(() => {
        latest.value = value
      })
    )
    switch (action) {
      case "skip":
        return Effect.sync(skipped)
      case "repeat":
        return Effect.andThen(call, recorded)
      case "stale":
        return Effect.map(recorded, (value) => before ?? value)
      case "delay": {
        // The call is made together with the next one.
        const { delayed } = latest
        latest.delayed = [call]
        return Effect.andThen(Effect.all(delayed), Effect.sync(skipped))
      }
      case "fail":
        return failed
      default: {
        const { delayed } = latest
        latest.delayed = []
        return Effect.andThen(Effect.all(delayed), recorded)
      }
    }
  })

const newLatest = () => ({ value: undefined, delayed: [] })

const place = (
  id: string,
  install: (decide: () => string) => SpoiledPorts,
  topics: Place["topics"] = ["any", "key", "history", "time"]
): Place => ({
  id: `call of ${id}`,
  kind: "call",
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
      const latest: { value: Pet | undefined; delayed: ReadonlyArray<ReturnType<Pets["insert"]>> } =
        newLatest()
      const invent = createInventor()
      return {
        ...real,
        insert: (newPet) => performCall(decide, real.insert(newPet), latest, () => invent(newPet))
      }
    }
  })),
  place("pets.find", (decide) => ({
    pets: (real) => {
      const latest: {
        value: Option.Option<Pet> | undefined
        delayed: ReadonlyArray<ReturnType<Pets["find"]>>
      } = newLatest()
      return { ...real, find: (id) => performCall(decide, real.find(id), latest, Option.none) }
    }
  })),
  place("pets.page", (decide) => ({
    pets: (real) => {
      const latest: {
        value: ReadonlyArray<Pet> | undefined
        delayed: ReadonlyArray<ReturnType<Pets["page"]>>
      } = newLatest()
      return { ...real, page: (query) => performCall(decide, real.page(query), latest, () => []) }
    }
  })),
  place(
    "keys.findByHash",
    (decide) => ({
      keys: (real) => {
        type Found = ReturnType<typeof real.findByHash>
        const latest: {
          value: Effect.Success<Found> | undefined
          delayed: ReadonlyArray<Found>
        } = newLatest()
        return {
          ...real,
          findByHash: (hash) => performCall(decide, real.findByHash(hash), latest, Option.none)
        }
      }
    }),
    ["any", "operation", "key", "no key", "history", "time"]
  )
]
