/** What is known of the animals, and the laws of the responses that show them (§2, §3, §4.1 to §4.3). */
import * as Result from "effect/Result"
import type { Animal } from "../http/Animal.ts"
import * as PetJson from "../http/PetJson.ts"
import { REMOVAL_BEGINS } from "../http/Removal.ts"
import { text } from "../http/Wire.ts"
import { type Break, breaks, type Exchange, type Violation } from "./Exchange.ts"
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
  const {
    asked: { operation },
    exchange,
    status
  } = seen
  if (operation.is === "create")
    return status === 201
      ? afterCreation(catalogue, seen, operation)
      : [[], afterRejection(catalogue, seen, operation)]
  if (operation.is === "list" && status === 200) return afterList(catalogue, known, seen, operation)
  if (operation.is === "get" && status === 200) return afterGet(catalogue, seen, operation)
  if (operation.is === "get" && status === 404 && operation.id !== undefined && seen.key !== undefined) {
    const isKnown =
      operation.form === "shortest" && exchange.to < REMOVAL_BEGINS && catalogue.animals.has(operation.id)
    return [
      [],
      isKnown
        ? {
            ...catalogue,
            hidden: new Map(catalogue.hidden).set(`${seen.key.name} ${operation.id}`, exchange)
          }
        : catalogue
    ]
  }
  // An operation that is not in the contract may change or delete animals (§4.4).
  const isRead = ["GET", "HEAD", "OPTIONS"].includes(exchange.request.method)
  return [
    [],
    operation.is === "none" && !isRead && status < 400 ? withoutCertainty(catalogue, exchange) : catalogue
  ]
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

const afterCreation = (
  catalogue: Catalogue,
  seen: Seen,
  { creation: { sent } }: Operation & { is: "create" }
): Step => {
  const { exchange, key } = seen
  const read = readOne(exchange)
  if (Result.isFailure(read)) return [[violation(read.failure, [exchange])], afterLoss(catalogue)]
  const animal = read.success
  const violations: Array<Violation> = []
  const earlier = catalogue.animals.get(animal.id)
  // A header such as Idempotency-Key may ask for the animal of an earlier creation.
  if (earlier !== undefined && seen.asked.isPlain) {
    const found = breaks(
      "resources.id-unique",
      `an id other than ${animal.id}, that of ${PetJson.line(earlier.animal)}`,
      String(animal.id)
    )
    violations.push(violation(found, [earlier.evidence, exchange]))
  }
  const isKept =
    (sent.categoryId === undefined || animal.categoryId === sent.categoryId) &&
    (sent.status === undefined || animal.status === sent.status)
  if (!isKept) {
    const isStatus = sent.categoryId === undefined || animal.categoryId === sent.categoryId
    const expected = `categoryId ${sent.categoryId ?? "of any value"}, ${sent.status ?? "any status"}, as sent`
    violations.push(
      violation(
        breaks(isStatus ? "create.status-kept" : "create.int64-exact", expected, PetJson.line(animal)),
        [exchange]
      )
    )
  }
  const named = withName(catalogue, exchange, sent.name, animal.name)
  violations.push(...named[0])
  return [violations, show(named[1], animal, exchange, key?.name)]
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
  const isPossible = Names.explain(Names.forms, sent, returned).length > 0
  const expected = isPossible
    ? `a service that ${forms[0]?.says ?? ""}, as before, to return ${PetJson.excerpt(forms[0]?.store(sent) ?? "")}`
    : `the name ${JSON.stringify(sent)}`
  return [
    [
      violation(breaks("create.returns-created", expected, JSON.stringify(returned)), [
        ...(isPossible ? formEvidence : []),
        exchange
      ])
    ],
    catalogue
  ]
}

const afterRejection = (
  catalogue: Catalogue,
  { exchange, status }: Seen,
  { creation: { sent } }: Operation & { is: "create" }
): Catalogue => {
  if (status < 400 || status >= 500) return afterLoss(catalogue)
  return sent.name === undefined
    ? catalogue
    : { ...catalogue, rejected: new Map(catalogue.rejected).set(sent.name, exchange) }
}

// Lists and retrievals

const afterList = (
  catalogue: Catalogue,
  known: Catalogue,
  { exchange, key }: Seen,
  { hasOthers, limit, status }: Operation & { is: "list" }
): Step => {
  const read = Result.flatMap(parse(exchange), PetJson.animals)
  if (Result.isFailure(read))
    return [[violation(breaks("list.array", "an array of Pet", read.failure), [exchange])], catalogue]
  const shown = read.success
  const filter = status.is === "valid" ? status.value : undefined
  const found: Array<Break> = []
  const max = limit.is === "valid" ? limit.value : limit.is === "absent" ? DEFAULT_LIMIT : MAX_LIMIT
  if (shown.length > max) {
    const clause =
      limit.is === "valid"
        ? "list.limit.maximum-returned"
        : limit.is === "absent"
          ? "list.limit.default"
          : "list.limit.ceiling"
    found.push(breaks(clause, `at most ${max} animals`, String(shown.length)))
  }
  // A service may read `SOLD` as `sold`, but an animal with another status than the given one is never wanted.
  const wanted =
    filter ?? (status.is === "open" && status.because !== "repeated" ? status.text.trim().toLowerCase() : "")
  const other = wanted === "" ? undefined : shown.find((animal) => animal.status !== wanted)
  if (other !== undefined)
    found.push(breaks("list.status.filter", `only ${wanted} animals`, PetJson.line(other)))
  const ids = new Set(shown.map(({ id }) => id))
  if (ids.size < shown.length) {
    const twice = shown.find(({ id }, index) => shown.findIndex((first) => first.id === id) < index)
    found.push(
      breaks("list.distinct", "each animal once", `twice ${twice === undefined ? "" : PetJson.line(twice)}`)
    )
  }
  const violations = found.map((each) => violation(each, [exchange]))
  const isWhole =
    shown.length < max && !hasOthers && limit.is !== "open" && status.is !== "open" && key !== undefined
  if (isWhole) {
    for (const { animal, evidence, isSettled, keys } of known.animals.values()) {
      const mustShow = keys.has(key.name) && (filter === undefined || (isSettled && animal.status === filter))
      if (!mustShow || ids.has(animal.id)) continue
      const expected = `${PetJson.line(animal)} in a list of fewer than ${max}`
      violations.push(
        violation(breaks("list.sees-created", expected, `${shown.length} animals without it`), [
          evidence,
          exchange
        ])
      )
      break
    }
  }
  const [others, next] = showAll(catalogue, shown, exchange, key?.name)
  return [
    [...violations, ...others],
    isWhole ? { ...next, complete: new Map(next.complete).set(viewOf(key.name, filter), exchange) } : next
  ]
}

const viewOf = (key: string, filter: string | undefined): string => `${key} ${filter ?? ""}`

const afterGet = (catalogue: Catalogue, { exchange, key }: Seen, { id }: Operation & { is: "get" }): Step => {
  const read = readOne(exchange)
  if (Result.isFailure(read)) return [[violation(read.failure, [exchange])], catalogue]
  if (id !== undefined && read.success.id !== id) {
    const found = breaks("get.faithful", `the animal ${id}`, PetJson.line(read.success))
    return [[violation(found, [exchange])], catalogue]
  }
  return showAll(catalogue, [read.success], exchange, key?.name)
}

/** Judges animals that are shown by what is known of them. */
const showAll = (
  catalogue: Catalogue,
  shown: ReadonlyArray<Animal>,
  exchange: Exchange,
  key: string | undefined
): Step => {
  const violations: Array<Violation> = []
  let next = catalogue
  for (const animal of shown) {
    const first = next.animals.get(animal.id)
    if (first !== undefined && !PetJson.isSameAnimal(first.animal, animal)) {
      const found = breaks("resources.stable", PetJson.line(first.animal), PetJson.line(animal))
      violations.push(violation(found, [first.evidence, exchange]))
      continue
    }
    if (first === undefined) {
      const ghost = ghostOf(next, animal, exchange, key)
      if (ghost !== undefined) violations.push(ghost)
    }
    const denied = next.hidden.get(`${key} ${animal.id}`)
    if (first !== undefined && denied !== undefined) {
      const found = breaks(
        "get.found",
        `${PetJson.line(animal)} shown to the key always or never`,
        "404 first"
      )
      violations.push(violation(found, [first.evidence, denied, exchange]))
    }
    next = show(next, animal, exchange, key)
  }
  return [violations.slice(0, 1), next]
}

/** Returns a violation if the animal did not exist when a list showed everything, and nothing created it since. */
const ghostOf = (
  catalogue: Catalogue,
  animal: Animal,
  exchange: Exchange,
  key: string | undefined
): Violation | undefined => {
  const view =
    key === undefined
      ? undefined
      : (catalogue.complete.get(viewOf(key, undefined)) ?? catalogue.complete.get(viewOf(key, animal.status)))
  if (view === undefined) return undefined
  const rejected = catalogue.rejected.get(animal.name)
  return rejected === undefined
    ? violation(breaks("list.complete", "only animals that existed or were created", PetJson.line(animal)), [
        view,
        exchange
      ])
    : violation(breaks("create.refused-unstored", "no animal of a rejected creation", PetJson.line(animal)), [
        view,
        rejected,
        exchange
      ])
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
  if (first !== undefined && isSettled === first.isSettled && (key === undefined || first.keys.has(key)))
    return catalogue
  const keys = new Set([...(first?.keys ?? []), ...(key === undefined ? [] : [key])])
  const entry = { animal: first?.animal ?? animal, evidence: first?.evidence ?? evidence, keys, isSettled }
  return { ...catalogue, animals: new Map(catalogue.animals).set(animal.id, entry) }
}

const parse = ({ response }: Exchange): Result.Result<unknown, string> => PetJson.parse(text(response?.body))

/** Reads the animal in a response. */
const readOne = (exchange: Exchange): Result.Result<Animal, Break> =>
  Result.mapError(Result.flatMap(parse(exchange), PetJson.animal), (reason) =>
    breaks(reason.startsWith("status") ? "resources.status-values" : "resources.pet-types", "a Pet", reason)
  )

const violation = (found: Break, evidence: ReadonlyArray<Exchange>): Violation => ({ ...found, evidence })
