/** Laws about animals over the whole history of a run, whichever check sent the requests (contract §2, §4). */
import * as Result from "effect/Result"
import type { Violation } from "../../evaluation/Outcome.ts"
import type { Animal } from "../../http/Animal.ts"
import * as CreatedAnimal from "../../http/CreatedAnimal.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import { REMOVAL_BEGINS } from "../../http/Removal.ts"
import { text } from "../../http/Wire.ts"
import { type AmbientCheck, type HistoryLaw, overHistory } from "../AmbientCheck.ts"
import { describedAs, momentsOf, ofLevel, violation } from "./ExchangeLaws.ts"

/** Maximum and default number of animals in a list (contract §8.1). */
const [MAX_LIMIT, DEFAULT_LIMIT] = [100, 20]

/** Parses the body and reads its value; returns `undefined` if only the beginning of the body is stored. */
const parseBody = <A>(
  { response }: Exchange,
  read: (value: unknown) => Result.Result<A, string>
): Result.Result<A, string> | undefined =>
  response.cut === undefined ? Result.flatMap(PetJson.parse(text(response.body)), read) : undefined

/** Returns the animal that a request with the main key created, because a server may have a catalogue for each key. */
const createdByMain = (exchange: Exchange): Animal | undefined =>
  exchange.key === "main" ? CreatedAnimal.of(exchange) : undefined

/** Returns the animals in a successful list or retrieval that the contract describes, and no animals for others. */
const shownBy = (exchange: Exchange): ReadonlyArray<Animal> => {
  if (exchange.response.status !== 200) return []
  const operation = describedAs(exchange)
  if (operation !== "list" && operation !== "get") return []
  const read =
    operation === "list"
      ? parseBody(exchange, PetJson.animals)
      : parseBody(exchange, (value) => Result.map(PetJson.animal(value), (animal) => [animal]))
  return (read && Result.getOrUndefined(read)) ?? []
}

const parameterOf = ({ request }: Exchange, name: string): string | null =>
  new URLSearchParams(request.target.split("?")[1] ?? "").get(name)

/** Creates a law about the animals that earlier exchanges with the main key created; `created` has them by id. */
const withCreated =
  (
    isAbout: (exchange: Exchange, created: ReadonlyMap<bigint, Animal>) => boolean,
    examine: (exchange: Exchange, created: ReadonlyMap<bigint, Animal>) => Violation | undefined
  ) =>
  () => {
    const created = new Map<bigint, Animal>()
    return (exchange: Exchange) => {
      const result = isAbout(exchange, created) ? { violation: examine(exchange, created) } : undefined
      const animal = createdByMain(exchange)
      if (animal !== undefined && !created.has(animal.id)) created.set(animal.id, animal)
      return result
    }
  }

/**
 * Creates a law that compares each animal in a list or a retrieval with its creation or, if the run did not create it,
 * with the first response that showed it: during a run, no other program changes animals
 * (docs/decisions/conformance.md#one-store-and-time-moves-forward). Responses to different keys are compared only if the main key created the
 * animal, because a server may have a catalogue for each key.
 */
const withFirstShown =
  (compare: (first: Animal, shown: Animal) => Violation | undefined) => (): HistoryLaw => {
    const ofMain = new Map<bigint, Animal>()
    const ofKeys = new Map<string, Animal>()
    return (exchange) => {
      const entryOf = (id: bigint) => `${exchange.key} ${id}`
      const created = CreatedAnimal.of(exchange)
      if (created !== undefined) {
        if (exchange.key !== "main") ofKeys.set(entryOf(created.id), created)
        else if (!ofMain.has(created.id)) ofMain.set(created.id, created)
        return undefined
      }
      let result: ReturnType<HistoryLaw>
      for (const shown of shownBy(exchange)) {
        const first = ofKeys.get(entryOf(shown.id)) ?? ofMain.get(shown.id)
        if (first === undefined) ofKeys.set(entryOf(shown.id), shown)
        else result ??= { violation: undefined }
        const found = first && compare(first, shown)
        if (found !== undefined) return { violation: found }
      }
      return result
    }
  }

const idOf = ({ request }: Exchange): bigint | undefined => {
  // Another form, such as 075, need not be an id.
  const digits = /\/pets\/(0|-?[1-9][0-9]{0,18})$/.exec(request.target)?.[1]
  return digits === undefined ? undefined : BigInt(digits)
}

export const checks: ReadonlyArray<AmbientCheck> = [
  ...ofLevel("spec", [
    overHistory({
      id: "history.unchanged",
      law: "Every list and retrieval of a run shows an animal with the same name and category as its creation, or as the first response with it.",
      clauses: ["resources.stable", "list.faithful", "get.faithful"],
      begin: withFirstShown((first, shown) =>
        PetJson.isSameAnimal(first, shown) ? undefined : violation(PetJson.line(first), PetJson.line(shown))
      )
    }),
    overHistory({
      id: "history.ids-unique",
      law: "No two creations of a run return the same id.",
      clauses: ["resources.id-unique"],
      begin: withCreated(
        (exchange) => createdByMain(exchange) !== undefined,
        (exchange, created) => {
          const animal = createdByMain(exchange)
          const known = animal && created.get(animal.id)
          return known && violation(`an id other than ${known.id}, that of ${known.name}`, String(known.id))
        }
      )
    }),
    overHistory({
      id: "history.found",
      needsOneOf: ["getPet"],
      law: "Every retrieval of an animal that the run created returns it, until the operation is removed.",
      clauses: ["get.found"],
      inapplicable: ([first]) =>
        first !== undefined && momentsOf(first)[1] >= REMOVAL_BEGINS
          ? "by the server's time, getPet is removed: restart the server with an earlier time"
          : undefined,
      begin: withCreated(
        (exchange, created) => {
          const id = exchange.key === "main" && describedAs(exchange) === "get" ? idOf(exchange) : undefined
          return id !== undefined && created.has(id) && momentsOf(exchange)[1] < REMOVAL_BEGINS
        },
        ({ request, response }) =>
          response.status === 404
            ? violation(`the animal of ${request.target}, which the run created`, "404")
            : undefined
      )
    }),
    overHistory({
      id: "history.lists",
      law: "Every list of a run is a bare array of animals with the requested status, at most as many as requested.",
      clauses: [
        "list.array",
        "list.empty",
        "list.status.filter",
        "list.limit.maximum-returned",
        "list.limit.default"
      ],
      begin: () => (exchange) => {
        if (describedAs(exchange) !== "list" || exchange.response.status !== 200) return undefined
        const read = parseBody(exchange, PetJson.animals)
        if (read === undefined) return undefined
        if (Result.isFailure(read)) return { violation: violation("an array of Pet", read.failure) }
        const status = parameterOf(exchange, "status")
        const other = status === null ? undefined : read.success.find((animal) => animal.status !== status)
        if (other !== undefined)
          return { violation: violation(`only ${status} animals`, PetJson.line(other)) }
        const limit = Math.min(Number(parameterOf(exchange, "limit") ?? DEFAULT_LIMIT), MAX_LIMIT)
        return {
          violation:
            read.success.length <= limit
              ? undefined
              : violation(`at most ${limit} animals`, String(read.success.length))
        }
      }
    }),
    overHistory({
      id: "history.lists-distinct",
      law: "No list of a run shows an animal twice.",
      clauses: ["list.distinct"],
      begin: () => (exchange) => {
        const shown = describedAs(exchange) === "list" ? shownBy(exchange) : []
        if (shown.length < 2) return undefined
        const twice = shown.find(({ id }, index) => shown.findIndex((other) => other.id === id) < index)
        return { violation: twice && violation("each animal once", `twice ${PetJson.line(twice)}`) }
      }
    })
  ]),
  ...ofLevel("design", [
    overHistory({
      id: "history.status-unchanged",
      law: "Every list and retrieval of a run shows an animal with the same status as its creation, or as the first response with it.",
      clauses: ["resources.status-stable"],
      begin: withFirstShown((first, shown) =>
        first.status === shown.status ? undefined : violation(PetJson.line(first), PetJson.line(shown))
      )
    })
  ])
]
