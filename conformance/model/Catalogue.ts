/** What is known of the animals, and the laws of the responses that show them (§2, §3, §4.1 to §4.3). */
import * as Result from "effect/Result"
import type { Animal } from "../http/Animal.ts"
import * as PetJson from "../http/PetJson.ts"
import { REMOVAL_BEGINS } from "../http/Removal.ts"
import { text } from "../http/Wire.ts"
import type { Sent } from "./Creation.ts"
import { type Exchange, type Violation, violation } from "./Exchange.ts"
import * as Names from "./Names.ts"
import type { Operation } from "./Request.ts"
import type { Seen } from "./Seen.ts"

/** An animal that a response showed. */
export interface Known {
  readonly animal: Animal
  /** The first response that showed it. */
  readonly evidence: Exchange
  /** The keys that saw it; others may have a catalogue of their own. */
  readonly keys: ReadonlySet<string>
  /** Whether every response showed the same status; the contract describes no change of it (§3). */
  readonly isSettled: boolean
}

export interface Catalogue {
  readonly animals: ReadonlyMap<bigint, Known>
  /** The name forms that explain every name so far, and the last exchange that excluded one. */
  readonly forms: ReadonlyArray<Names.NameForm>
  readonly formEvidence: ReadonlyArray<Exchange>
  /** The keys and filters for which a list showed everything: other animals appear only by creation. */
  readonly complete: ReadonlyMap<string, Exchange>
  /** The responses that denied an animal to a key other than its creator's, by key and id. */
  readonly hidden: ReadonlyMap<string, Exchange>
  /** The rejected creations, by the name that they sent. */
  readonly rejected: ReadonlyMap<string, Exchange>
}

export const empty: Catalogue = {
  animals: new Map(),
  forms: Names.forms,
  formEvidence: [],
  complete: new Map(),
  hidden: new Map(),
  rejected: new Map()
}

/** A catalogue after a response, and what the response breaks. */
type Step = readonly [violations: ReadonlyArray<Violation>, next: Catalogue]

const [MAX_LIMIT, DEFAULT_LIMIT] = [100, 20]

/** Whether an animal certainly exists for a key. */
export const has = ({ animals }: Catalogue, id: bigint | undefined, key: string | undefined): boolean =>
  id !== undefined && key !== undefined && animals.get(id)?.keys.has(key) === true

/** Judges the animals in a response; `known` is what was known before all requests that were in flight with it. */
export const judge = (catalogue: Catalogue, known: Catalogue, seen: Seen): Step => {
  const { asked, exchange, status } = seen
  const { operation } = asked
  switch (operation.is) {
    case "create":
      return status === 201
        ? afterCreation(catalogue, seen, operation.creation.sent)
        : [[], afterRejection(catalogue, seen, operation.creation.sent)]
    case "list":
      return status === 200 ? afterList(catalogue, known, seen, operation) : [[], catalogue]
    case "get":
      return status === 200
        ? afterGet(catalogue, seen, operation.id)
        : [[], afterDenied(catalogue, seen, operation)]
    case "none": {
      // An operation that is not in the contract may change or delete animals (§4.4).
      const isRead = ["GET", "HEAD", "OPTIONS"].includes(exchange.request.method)
      return [[], isRead || status >= 400 ? catalogue : withoutCertainty(catalogue, exchange)]
    }
  }
}

/** Returns what is still known after a request that may have changed the animal in its path. */
const withoutCertainty = (catalogue: Catalogue, { request }: Exchange): Catalogue => {
  const id = /\/(-?[0-9]{1,19})(?:\?|$)/.exec(request.target)?.[1]
  const animals = new Map(catalogue.animals)
  if (id !== undefined) animals.delete(BigInt(id))
  return { ...catalogue, animals, complete: new Map() }
}

/** Returns what is known after a creation whose outcome is unknown. */
export const afterLoss = (catalogue: Catalogue): Catalogue => ({ ...catalogue, complete: new Map() })

// Creation

const afterCreation = (catalogue: Catalogue, { asked, exchange, key }: Seen, sent: Sent): Step => {
  const read = readOne(exchange)
  if (Result.isFailure(read)) return [[read.failure], afterLoss(catalogue)]
  const animal = read.success
  const violations: Array<Violation> = []
  const first = catalogue.animals.get(animal.id)
  // A header such as Idempotency-Key may ask for the animal of an earlier creation.
  if (first !== undefined && asked.isPlain) {
    const expected = `an id other than ${animal.id}, that of ${PetJson.line(first.animal)}`
    violations.push(violation("resources.id-unique", expected, String(animal.id), first.evidence, exchange))
  }
  if (sent.categoryId !== undefined && animal.categoryId !== sent.categoryId) {
    violations.push(
      violation("create.int64-exact", `categoryId ${sent.categoryId}`, PetJson.line(animal), exchange)
    )
  }
  if (sent.status !== undefined && animal.status !== sent.status) {
    violations.push(violation("create.status-kept", sent.status, PetJson.line(animal), exchange))
  }
  const [ofName, named] = withName(catalogue, exchange, sent.name, animal.name)
  return [[...violations, ...ofName], show(named, animal, exchange, key?.name)]
}

/** Judges a name that came back, and excludes the forms that do not explain it. */
const withName = (
  catalogue: Catalogue,
  exchange: Exchange,
  sent: string | undefined,
  returned: string
): Step => {
  // Nobody can store a lone surrogate in UTF-8.
  if (sent === undefined || /\p{Surrogate}/u.test(sent)) return [[], catalogue]
  const { formEvidence, forms } = catalogue
  const left = Names.explain(forms, sent, returned)
  if (left.length === forms.length) return [[], catalogue]
  if (left.length > 0) return [[], { ...catalogue, forms: left, formEvidence: [exchange] }]
  const isContradiction = Names.explain(Names.forms, sent, returned).length > 0
  const evidence = isContradiction ? [...formEvidence, exchange] : [exchange]
  const name = JSON.stringify(forms[0]?.store(sent))
  const expected = isContradiction
    ? `the name ${name}: the service ${forms[0]?.says}, as before`
    : `the name ${name}`
  return [[violation("create.returns-created", expected, JSON.stringify(returned), ...evidence)], catalogue]
}

const afterRejection = (catalogue: Catalogue, { exchange, status }: Seen, { name }: Sent): Catalogue => {
  if (status < 400 || status >= 500) return afterLoss(catalogue)
  return name === undefined
    ? catalogue
    : { ...catalogue, rejected: new Map(catalogue.rejected).set(name, exchange) }
}

// Lists

type List = Operation & { readonly is: "list" }

const afterList = (catalogue: Catalogue, known: Catalogue, seen: Seen, list: List): Step => {
  const { exchange, key } = seen
  const read = Result.flatMap(parse(exchange), PetJson.animals)
  if (Result.isFailure(read))
    return [[violation("list.array", "an array of Pet", read.failure, exchange)], catalogue]
  const shown = read.success
  const { hasOthers, limit, status } = list
  const isWhole = shown.length < maxOf(list) && !hasOthers && limit.is !== "open" && status.is !== "open"
  const filter = status.is === "valid" ? status.value : undefined
  const missing = isWhole && key !== undefined ? missingFrom(shown, known, key.name, filter, exchange) : []
  const [others, next] = showAll(catalogue, shown, exchange, key?.name)
  const complete =
    isWhole && key !== undefined
      ? new Map(next.complete).set(viewOf(key.name, filter), exchange)
      : next.complete
  return [[...alone(shown, list, exchange), ...missing, ...others], { ...next, complete }]
}

/** §8.1: at most `limit` animals, 20 without it, and never more than 100. */
const maxOf = ({ limit }: List): number =>
  limit.is === "valid" ? limit.value : limit.is === "absent" ? DEFAULT_LIMIT : MAX_LIMIT

const limitClauses = {
  valid: "list.limit.maximum-returned",
  absent: "list.limit.default",
  open: "list.limit.ceiling"
} as const

/** Judges a list by itself. */
const alone = (shown: ReadonlyArray<Animal>, list: List, exchange: Exchange): ReadonlyArray<Violation> => {
  const { limit, status } = list
  const found: Array<Violation> = []
  if (shown.length > maxOf(list)) {
    found.push(
      violation(limitClauses[limit.is], `at most ${maxOf(list)} animals`, String(shown.length), exchange)
    )
  }
  // A service may read `SOLD` as `sold`, but an animal with another status than the given one is never wanted.
  const lenient =
    status.is === "open" && status.because !== "repeated" ? status.text.trim().toLowerCase() : ""
  const wanted = status.is === "valid" ? status.value : lenient
  const other = wanted === "" ? undefined : shown.find((animal) => animal.status !== wanted)
  if (other !== undefined) {
    found.push(violation("list.status.filter", `only ${wanted} animals`, PetJson.line(other), exchange))
  }
  const twice = shown.find(({ id }, index) => shown.findIndex((first) => first.id === id) < index)
  if (twice !== undefined) {
    found.push(violation("list.distinct", "each animal once", `twice ${PetJson.line(twice)}`, exchange))
  }
  return found
}

/** Returns a violation if a list with fewer animals than its limit lacks one that it must show. */
const missingFrom = (
  shown: ReadonlyArray<Animal>,
  { animals }: Catalogue,
  key: string,
  filter: string | undefined,
  exchange: Exchange
): ReadonlyArray<Violation> => {
  const ids = new Set(shown.map(({ id }) => id))
  for (const { animal, evidence, isSettled, keys } of animals.values()) {
    const isWanted = filter === undefined || (isSettled && animal.status === filter)
    if (!isWanted || !keys.has(key) || ids.has(animal.id)) continue
    const actual = `${shown.length} animals without it, fewer than the limit`
    return [violation("list.sees-created", PetJson.line(animal), actual, evidence, exchange)]
  }
  return []
}

const viewOf = (key: string, filter: string | undefined): string => `${key} ${filter ?? ""}`

// Retrievals

const afterGet = (catalogue: Catalogue, { exchange, key }: Seen, id: bigint | undefined): Step => {
  const read = readOne(exchange)
  if (Result.isFailure(read)) return [[read.failure], catalogue]
  return id !== undefined && read.success.id !== id
    ? [[violation("get.faithful", `the animal ${id}`, PetJson.line(read.success), exchange)], catalogue]
    : showAll(catalogue, [read.success], exchange, key?.name)
}

/** Remembers that an animal that exists was not found with a key. */
const afterDenied = (
  catalogue: Catalogue,
  { exchange, key, status }: Seen,
  { form, id }: Operation & { readonly is: "get" }
): Catalogue => {
  const isDenied = status === 404 && form === "shortest" && exchange.to < REMOVAL_BEGINS
  return isDenied && id !== undefined && key !== undefined && catalogue.animals.has(id)
    ? { ...catalogue, hidden: new Map(catalogue.hidden).set(`${key.name} ${id}`, exchange) }
    : catalogue
}

// All responses with animals

/** Judges animals that are shown by what is known of them; returns at most one violation. */
const showAll = (
  catalogue: Catalogue,
  shown: ReadonlyArray<Animal>,
  exchange: Exchange,
  key: string | undefined
): Step => {
  let found: Violation | undefined
  let next = catalogue
  for (const animal of shown) {
    found ??= disagreement(next, animal, exchange, key)
    const first = next.animals.get(animal.id)
    if (first === undefined || PetJson.isSameAnimal(first.animal, animal))
      next = show(next, animal, exchange, key)
  }
  return [found === undefined ? [] : [found], next]
}

/** Returns the violation if an animal contradicts what earlier responses showed. */
const disagreement = (
  { animals, complete, hidden, rejected }: Catalogue,
  animal: Animal,
  exchange: Exchange,
  key = ""
): Violation | undefined => {
  const line = PetJson.line(animal)
  const first = animals.get(animal.id)
  if (first !== undefined) {
    if (!PetJson.isSameAnimal(first.animal, animal)) {
      return violation("resources.stable", PetJson.line(first.animal), line, first.evidence, exchange)
    }
    const denied = hidden.get(`${key} ${animal.id}`)
    if (denied === undefined) return undefined
    const expected = `${line} shown to the key always or never`
    return violation("get.found", expected, "404 first", first.evidence, denied, exchange)
  }
  // Once a list has shown everything, an unknown animal must have been created since.
  const view = complete.get(viewOf(key, undefined)) ?? complete.get(viewOf(key, animal.status))
  if (view === undefined) return undefined
  const rejection = rejected.get(animal.name)
  return rejection === undefined
    ? violation("list.complete", "only animals that existed or were created", line, view, exchange)
    : violation(
        "create.refused-unstored",
        "no animal of a rejected creation",
        line,
        view,
        rejection,
        exchange
      )
}

/** Adds an animal that a response showed to a key. */
const show = (
  catalogue: Catalogue,
  animal: Animal,
  evidence: Exchange,
  key: string | undefined
): Catalogue => {
  const first = catalogue.animals.get(animal.id)
  const isSettled = first === undefined || (first.isSettled && first.animal.status === animal.status)
  const isNew =
    first === undefined || isSettled !== first.isSettled || (key !== undefined && !first.keys.has(key))
  if (!isNew) return catalogue
  const keys = new Set([...(first?.keys ?? []), ...(key === undefined ? [] : [key])])
  const entry = { animal: first?.animal ?? animal, evidence: first?.evidence ?? evidence, keys, isSettled }
  return { ...catalogue, animals: new Map(catalogue.animals).set(animal.id, entry) }
}

const parse = ({ response }: Exchange): Result.Result<unknown, string> => PetJson.parse(text(response?.body))

/** Reads the animal in a response. */
const readOne = (exchange: Exchange): Result.Result<Animal, Violation> =>
  Result.mapError(Result.flatMap(parse(exchange), PetJson.animal), (reason) => {
    const clause = reason.startsWith("status") ? "resources.status-values" : "resources.pet-types"
    return violation(clause, "a Pet", reason, exchange)
  })
