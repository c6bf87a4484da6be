/** Laws about the end of a run: the animals that its checks created still exist (contract §2, §4). */
import * as Effect from "effect/Effect"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import type { Http } from "../../evaluation/Http.ts"
import { expect, type Failure, postponed, Violation } from "../../evaluation/Outcome.ts"
import type { Animal } from "../../http/Animal.ts"
import * as PetJson from "../../http/PetJson.ts"
import { REMOVAL_BEGINS } from "../../http/Removal.ts"
import { type Check, family } from "../Check.ts"
import * as Creations from "../http/Creations.ts"
import * as Lists from "../http/Lists.ts"
import * as Responses from "../http/Responses.ts"

/** Number of animals that are fetched from each part of a run: its beginning, its middle and its end. */
const SAMPLE_SIZE = 8

/** Maximum number of animals in a list, by the contract. */
const FULL = 100

/** Returns the first `SAMPLE_SIZE` animals, the last `SAMPLE_SIZE`, and `SAMPLE_SIZE` at equal distances in the whole list, each once. */
const sampleOf = (all: ReadonlyArray<Animal>): ReadonlyArray<Animal> => {
  const step = Math.max(1, Math.floor(all.length / (SAMPLE_SIZE + 1)))
  const middle = Array.from({ length: SAMPLE_SIZE }, (_, index) => all[(index + 1) * step])
  return [...new Set([...all.slice(0, SAMPLE_SIZE), ...middle, ...all.slice(-SAMPLE_SIZE)])].filter(
    (animal) => animal !== undefined
  )
}

const closing = family({ level: "spec", profile: "core", on: "http", isClosing: true })

/** A list of at most `FULL` animals. */
interface FetchedList {
  readonly animals: ReadonlyMap<bigint, Animal>
  /** Whether the list is not full, so that it must hold every matching animal. */
  readonly isComplete: boolean
}

const fetchList = (http: Http, query: string): Effect.Effect<FetchedList, Failure> =>
  Effect.map(Lists.list(http, `limit=${FULL}${query}`), (animals) => ({
    animals: new Map(animals.map((animal) => [animal.id, animal])),
    isComplete: animals.length < FULL
  }))

/** The list without a filter, the list for each status, and the status of animals that getPet showed. */
interface Reading {
  readonly all: FetchedList
  readonly lists: ReadonlyArray<FetchedList & { readonly status: PetStatus.PetStatus }>
  readonly byId: ReadonlyMap<bigint, Animal>
}

const listsWith = ({ lists }: Reading, { id }: Animal) => lists.filter(({ animals }) => animals.has(id))

/** Returns the current status of an animal as getPet, the list without a filter or the list for a status shows it. */
const statusOf = (reading: Reading, animal: Animal): PetStatus.PetStatus | undefined =>
  (reading.byId.get(animal.id) ?? reading.all.animals.get(animal.id))?.status ??
  listsWith(reading, animal)[0]?.status

/** Whether the reading decides the law for an animal. */
const isDecided = (reading: Reading, animal: Animal): boolean => {
  const current = statusOf(reading, animal)
  return reading.all.isComplete || reading.lists.some((list) => list.isComplete && list.status === current)
}

/** Returns the violation of the law by an animal, if there is one. */
const mismatchOf = (reading: Reading, animal: Animal): Violation | undefined => {
  const violation = (expected: string, actual: string) =>
    new Violation({ expected: `${PetJson.line(animal)} ${expected}`, actual })
  const { all, lists } = reading
  if (all.isComplete && !all.animals.has(animal.id))
    return violation("in the list of all", "a list without it")
  const holding = listsWith(reading, animal).map(({ status }) => status)
  if (holding.length > 1) {
    return violation("in exactly one of the lists by status", `it in ${holding.join(" and ")}`)
  }
  const current = statusOf(reading, animal)
  const list = lists.find(({ status }) => status === current)
  if (list?.isComplete === true && !list.animals.has(animal.id)) {
    return violation(`which is ${current}, in the list with status ${current}`, "a list without it")
  }
  const [other] = holding
  if (other !== undefined && other !== current) {
    return violation(`which is ${current}, not in the list with status ${other}`, "a list with it")
  }
  // An animal that was created without a status may have none.
  const isSomewhere = holding.length === 1 || current !== undefined || animal.status === undefined
  return isSomewhere || !lists.every(({ isComplete }) => isComplete)
    ? undefined
    : violation("in exactly one of the lists by status", "three lists without it")
}

/** Reads all lists, and fetches some animals that are missing from the complete list of their initial status. */
const read = Effect.fnUntraced(function* (
  http: Http,
  created: ReadonlyArray<Animal>
): Effect.fn.Return<Reading, Failure> {
  const all = yield* fetchList(http, "")
  const lists = yield* Effect.forEach(PetStatus.all, (status) =>
    Effect.map(fetchList(http, Lists.statusParameter(status)), (list) => ({ ...list, status }))
  )
  const byId = new Map<bigint, Animal>()
  const reading = { all, lists, byId }
  const missing = created.filter(
    (animal) =>
      statusOf(reading, animal) === undefined &&
      lists.some(({ isComplete, status }) => isComplete && status === animal.status)
  )
  for (const { id } of sampleOf(missing)) {
    if ((yield* http.now) >= REMOVAL_BEGINS) break
    byId.set(id, yield* Responses.petOf(yield* http.send({ path: `/pets/${id}` }), 200))
  }
  return reading
})

export const checks: ReadonlyArray<Check> = [
  closing({
    id: "history.kept",
    needsOneOf: ["getPet"],
    law: "At the end of a run, the first, the last and some other animals of the run are returned by their ids.",
    clauses: ["get.found", "get.faithful", "resources.stable"],
    requests: 26,
    examples: [null],
    *holds(http, _given, trial) {
      if ((yield* http.now) >= REMOVAL_BEGINS) {
        return yield* postponed(
          "by the server's time, getPet is removed: restart the server with an earlier time"
        )
      }
      yield* Creations.createOwn(http, trial)
      for (const animal of sampleOf(http.created())) {
        const shown = yield* Responses.petOf(yield* http.send({ path: `/pets/${animal.id}` }), 200)
        const isSame = shown.name === animal.name && shown.categoryId === animal.categoryId
        yield* expect(isSame, PetJson.line(animal), PetJson.line(shown))
      }
    }
  }),
  closing({
    id: "history.kept-in-lists",
    needsOneOf: ["room for the whole run"],
    law: "At the end of a run, each of its animals is in the list of all and the list with its status, and in no other.",
    clauses: ["list.complete", "list.sees-created", "list.status.filter"],
    requests: 5,
    examples: [null],
    *holds(http, _given, trial) {
      yield* Creations.createOwn(http, trial, "pending")
      const created = http.created()
      const firstMismatch = (reading: Reading): Violation | undefined => {
        for (const animal of created) {
          const mismatch = mismatchOf(reading, animal)
          if (mismatch !== undefined) return mismatch
        }
        return undefined
      }
      let reading = yield* read(http, created)
      // The contract neither describes nor excludes changes of status, and one may happen while the lists are read.
      if (firstMismatch(reading) !== undefined) reading = yield* read(http, created)
      const mismatch = firstMismatch(reading)
      if (mismatch !== undefined) return yield* mismatch
      if (!created.some((animal) => isDecided(reading, animal))) {
        return yield* postponed("the lists are full, so they need not show the animals of the run")
      }
    }
  })
]
