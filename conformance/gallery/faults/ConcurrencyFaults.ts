/** Backends that are right for one client and wrong for several at a time. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Pet } from "../../../core/domain/Pet.ts"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"
import type { PetRepository } from "../../../core/ports/PetRepository.ts"
import type { Fault, Spoil } from "../Fault.ts"
import * as Rewrite from "../Rewrite.ts"

type Pets = PetRepository["Service"]

/** Another client may go on here. */
const pause = Effect.yieldNow

/** Reads from an array that is asked for anew for each call. */
const readsFrom = (all: () => ReadonlyArray<Pet>): Omit<Pets, "insert"> => ({
  find: (id) => Effect.sync(() => Option.fromUndefinedOr(all().find((pet) => pet.id === id))),
  page: ({ after = -1n, limit, status }) =>
    Effect.sync(() =>
      all()
        .filter((pet) => pet.id > after && (status === undefined || pet.status === status))
        .slice(0, limit)
    )
})

/** Reads everything, adds the new animal after a while, writes everything back. */
const lostUpdate: Spoil<Pets> = () => {
  let all: ReadonlyArray<Pet> = []
  let ids = 0n
  return {
    ...readsFrom(() => all),
    insert: Effect.fnUntraced(function* (pet) {
      const before = all
      yield* pause
      const stored = new Pet(++ids, pet)
      all = [...before, stored]
      return stored
    })
  }
}

/** Looks for the largest id, and gives the next one after a while. */
const racyId: Spoil<Pets> = () => {
  const all: Array<Pet> = []
  return {
    ...readsFrom(() => all),
    insert: Effect.fnUntraced(function* (pet) {
      const id = BigInt(all.length + 1)
      yield* pause
      const stored = new Pet(id, pet)
      all.push(stored)
      return stored
    })
  }
}

/** Reads that see the store as it was at the latest multiple of so many reads. */
const stale =
  (reads: number): Spoil<Pets> =>
  (real) => {
    let seen = 0n
    let newest = 0n
    let count = 0
    const look = Effect.sync(() => {
      if (count++ % reads === 0) seen = newest
    })
    const isSeen = ({ id }: Pet) => id <= seen
    return {
      insert: (pet) =>
        Effect.tap(real.insert(pet), ({ id }) =>
          Effect.sync(() => {
            newest = id
          })
        ),
      find: (id) => Effect.andThen(look, Effect.map(real.find(id), Option.filter(isSeen))),
      page: (query) =>
        Effect.andThen(
          look,
          Effect.map(real.page(query), (pets) => pets.filter(isSeen))
        )
    }
  }

/** Two nodes that take turns; each sees what the other stored only after it was asked three more times. */
const twoNodes: Spoil<Pets> = (real) => {
  const origin = new Map<bigint, number>()
  const asked = new Map<string, number>()
  let turn = 0
  const isSeen = (node: number) => (pet: Pet) => {
    if (origin.get(pet.id) === node) return true
    const key = `${node}/${pet.id}`
    const times = (asked.get(key) ?? 0) + 1
    asked.set(key, times)
    return times > 3
  }
  const next = Effect.sync(() => turn++ % 2)
  return {
    insert: (pet) =>
      Effect.flatMap(next, (node) =>
        Effect.tap(real.insert(pet), ({ id }) => Effect.sync(() => origin.set(id, node)))
      ),
    find: (id) => Effect.flatMap(next, (node) => Effect.map(real.find(id), Option.filter(isSeen(node)))),
    page: (query) =>
      Effect.flatMap(next, (node) => Effect.map(real.page(query), (pets) => pets.filter(isSeen(node))))
  }
}

export const faults: ReadonlyArray<Fault> = [
  {
    id: "concurrent.lost-update",
    does: "Writes all animals back as they were read, so that creations at the same time undo each other.",
    breaks: "create.concurrent",
    killedBy: "concurrent.creations",
    words: "since it was created none",
    where: { at: "port", pets: lostUpdate }
  },
  {
    id: "concurrent.lost-update-http",
    does: "A server that writes all animals back as it read them, so that creations undo each other.",
    breaks: "create.concurrent",
    killedBy: "concurrent.creations",
    words: "since it was created none",
    where: { at: "http", pets: lostUpdate }
  },
  {
    id: "concurrent.lost-update-history",
    does: "Loses creations that others overtake, as seen by clients that read meanwhile.",
    breaks: "create.concurrent",
    killedBy: "concurrent.history",
    words: "none explains client",
    where: { at: "port", pets: lostUpdate }
  },
  {
    id: "concurrent.duplicate-id",
    does: "Gives creations at the same time the same id.",
    breaks: "resources.id-unique",
    killedBy: "concurrent.creations",
    words: "8 different ids 1:",
    where: { at: "port", pets: racyId }
  },
  {
    id: "concurrent.duplicate-id-http",
    does: "A server that gives creations at the same time the same id.",
    breaks: "resources.id-unique",
    killedBy: "concurrent.creations",
    words: "8 different ids 1:",
    where: { at: "http", pets: racyId }
  },
  {
    id: "concurrent.overwrites",
    does: "Keeps animals by an id that it draws too early, so that one takes the place of another.",
    breaks: "create.concurrent",
    killedBy: "concurrent.creations",
    words: "8 different ids 1:",
    where: {
      at: "port",
      pets: () => {
        const byId = new Map<bigint, Pet>()
        return {
          ...readsFrom(() => [...byId.values()]),
          insert: Effect.fnUntraced(function* (pet) {
            const id = BigInt(byId.size + 1)
            yield* pause
            const stored = new Pet(id, pet)
            byId.set(id, stored)
            return stored
          })
        }
      }
    }
  },
  {
    id: "concurrent.shared-buffer",
    does: "Keeps the animal that is being stored where the next one is put too.",
    breaks: "create.concurrent",
    killedBy: "concurrent.creations",
    words: "to show the animal as it was created",
    where: {
      at: "port",
      pets: (real) => {
        let buffer: Parameters<Pets["insert"]>[0] | undefined
        return {
          ...real,
          insert: Effect.fnUntraced(function* (pet) {
            buffer = pet
            yield* pause
            return yield* real.insert(buffer)
          })
        }
      }
    }
  },
  {
    id: "concurrent.wrong-answers",
    does: "Answers creations at the same time with each other's animals, though it stores them well.",
    breaks: "create.returns-created",
    killedBy: "concurrent.creations",
    words: "the answer to its creation",
    where: {
      at: "http",
      pets: (real) => {
        let latest: Pet | undefined
        return {
          ...real,
          insert: Effect.fnUntraced(function* (pet) {
            latest = yield* real.insert(pet)
            yield* pause
            return latest
          })
        }
      }
    }
  },
  {
    id: "concurrent.one-writer",
    does: "Fails when a creation comes while another is under way.",
    breaks: "create.concurrent",
    killedBy: "concurrent.creations",
    words: "StoreUnavailable",
    where: {
      at: "port",
      pets: (real) => {
        let isBusy = false
        return {
          ...real,
          insert: Effect.fnUntraced(function* (pet) {
            if (isBusy) {
              return yield* Effect.fail(new StoreUnavailable({ retryable: true, cause: new Error("locked") }))
            }
            isBusy = true
            yield* pause
            isBusy = false
            return yield* real.insert(pet)
          })
        }
      }
    }
  },
  {
    id: "concurrent.one-writer-http",
    does: "Answers 503 when a creation comes while another is under way.",
    breaks: "create.concurrent",
    killedBy: "concurrent.creations",
    words: "201 with the created Pet 503",
    where: {
      at: "http",
      transport: (real) => {
        let underWay = 0
        return (request) =>
          Effect.suspend(() => {
            const isBusy = Rewrite.isCreation(request) && underWay > 0
            underWay++
            return pause.pipe(
              Effect.andThen(real(isBusy ? { ...request, method: "GET" } : request)),
              Effect.map((response) => (isBusy ? Rewrite.withStatus(response, 503) : response)),
              Effect.ensuring(
                Effect.sync(() => {
                  underWay--
                })
              )
            )
          })
      }
    }
  },
  {
    id: "concurrent.stale-reads",
    does: "Reads from a copy that is renewed at every third read.",
    breaks: "list.sees-created",
    killedBy: "concurrent.read-after-write",
    words: "since it was created none",
    where: { at: "port", pets: stale(3) }
  },
  {
    id: "concurrent.stale-reads-http",
    does: "A server that reads from a copy that is renewed at every third read.",
    breaks: "list.sees-created",
    killedBy: "concurrent.read-after-write",
    words: "since it was created none",
    where: { at: "http", pets: stale(3) }
  },
  {
    id: "concurrent.stale-history",
    does: "Reads from a copy that is renewed at every second read.",
    breaks: "list.sees-created",
    killedBy: "concurrent.history",
    words: "none explains client",
    where: { at: "port", pets: stale(2) }
  },
  {
    id: "concurrent.two-nodes",
    does: "Shows a creation at once only to who is served by the same node.",
    breaks: "get.found",
    killedBy: "concurrent.read-after-write",
    words: "since it was created none",
    where: { at: "port", pets: twoNodes }
  },
  {
    id: "concurrent.two-nodes-http",
    does: "A server of two nodes, each of which shows the other's animals late.",
    breaks: "get.found",
    killedBy: "concurrent.read-after-write",
    words: "since it was created none",
    where: { at: "http", pets: twoNodes }
  },
  {
    id: "concurrent.index-lags",
    does: "Finds a new animal under its id at once, and leaves it out of the next two lists.",
    breaks: "list.sees-created",
    killedBy: "concurrent.read-after-write",
    words: "animals, without {id",
    where: {
      at: "http",
      pets: (real) => {
        let waiting = 0
        return {
          ...real,
          insert: (pet) => Effect.tap(real.insert(pet), () => Effect.sync(() => (waiting = 2))),
          page: (query) => Effect.map(real.page(query), (pets) => (waiting-- > 0 ? pets.slice(0, -1) : pets))
        }
      }
    }
  },
  {
    id: "concurrent.answered-first",
    does: "Answers a creation before it has stored the animal.",
    breaks: "get.found",
    killedBy: "concurrent.read-after-write",
    words: "since it was created none",
    where: {
      at: "port",
      pets: () => {
        const all: Array<Pet> = []
        let ids = 0n
        return {
          ...readsFrom(() => all),
          insert: Effect.fnUntraced(function* (pet) {
            const stored = new Pet(++ids, pet)
            const store = Effect.sync(() => {
              all.push(stored)
            })
            yield* Effect.forkDetach(Effect.andThen(Effect.repeat(pause, { times: 8 }), store))
            return stored
          })
        }
      }
    }
  },
  {
    id: "concurrent.half-written",
    does: "Shows an animal while its name is still missing.",
    breaks: "list.faithful",
    killedBy: "concurrent.history",
    words: 'name "", categoryId',
    where: {
      at: "port",
      pets: () => {
        const all: Array<Pet> = []
        return {
          ...readsFrom(() => all),
          insert: Effect.fnUntraced(function* (pet) {
            const at = all.length
            const stored = new Pet(BigInt(at + 1), pet)
            all.push(new Pet(stored.id, { ...pet, name: "" }))
            yield* pause
            all[at] = stored
            return stored
          })
        }
      }
    }
  },
  {
    id: "concurrent.uncommitted",
    does: "Shows an animal, takes it back and stores it again before it answers its creation.",
    breaks: "create.concurrent",
    killedBy: "concurrent.history",
    words: "none explains client",
    where: {
      at: "port",
      pets: () => {
        let all: ReadonlyArray<Pet> = []
        let ids = 0n
        return {
          ...readsFrom(() => all),
          insert: Effect.fnUntraced(function* (pet) {
            const stored = new Pet(++ids, pet)
            all = [...all, stored]
            yield* Effect.repeat(pause, { times: 1 })
            all = all.filter((other) => other !== stored)
            yield* Effect.repeat(pause, { times: 2 })
            all = [...all, stored].toSorted((one, other) => Number(one.id - other.id))
            return stored
          })
        }
      }
    }
  },
  {
    id: "concurrent.torn-list",
    does: "Reads a list status by status, so that it holds a later animal and lacks an earlier one.",
    breaks: "pets.linearizable",
    killedBy: "concurrent.interleaving",
    words: "none explains client",
    where: {
      at: "port",
      pets: (real) => ({
        ...real,
        page: (query) =>
          query.status !== undefined
            ? real.page(query)
            : Effect.map(
                Effect.forEach(PetStatus.all, (status) => Effect.tap(real.page({ ...query, status }), pause)),
                (parts) =>
                  parts
                    .flat()
                    .sort((one, other) => Number(one.id - other.id))
                    .slice(0, query.limit)
              )
      })
    }
  },
  {
    id: "concurrent.id-before-write",
    does: "Takes an id and stores the animal under it in two steps, with nothing between that would wait.",
    breaks: "pets.insert.concurrent",
    killedBy: "concurrent.interleaving",
    words: "ids for 8",
    where: {
      at: "port",
      pets: () => {
        const all: Array<Pet> = []
        return {
          ...readsFrom(() => all),
          insert: (pet) =>
            Effect.flatMap(
              Effect.sync(() => BigInt(all.length + 1)),
              (id) =>
                Effect.suspend(() => {
                  const stored = new Pet(id, pet)
                  all.push(stored)
                  return Effect.succeed(stored)
                })
            )
        }
      }
    }
  },
  {
    id: "concurrent.write-back",
    does: "Reads all animals and writes them back with a new one, with nothing between that would wait.",
    breaks: "pets.linearizable",
    killedBy: "concurrent.interleaving",
    words: "none explains client",
    where: {
      at: "port",
      pets: () => {
        let all: ReadonlyArray<Pet> = []
        let ids = 0n
        return {
          ...readsFrom(() => all),
          insert: (pet) =>
            Effect.flatMap(
              Effect.sync(() => all),
              (before) =>
                Effect.suspend(() => {
                  const stored = new Pet(++ids, pet)
                  all = [...before, stored]
                  return Effect.succeed(stored)
                })
            )
        }
      }
    }
  }
]
