/** What is known of the animals, and the laws of the responses that show them (§2, §3, §4.1 to §4.3). */
import * as Result from "effect/Result"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Animal } from "../http/Animal.ts"
import * as Difference from "../http/Difference.ts"
import * as PetJson from "../http/PetJson.ts"
import { text } from "../http/Wire.ts"
import { acceptedBy, type Known, type Sent } from "./Creation.ts"
import {
  broken,
  type Exchange,
  isBroken,
  isConcurrent,
  type Key,
  kept,
  precedes,
  type Ruling,
  rule
} from "./Exchange.ts"
import * as ListLimit from "./ListLimit.ts"
import * as Names from "./Names.ts"
import type { Operation } from "./Request.ts"
import type { Seen } from "./Seen.ts"

/** An animal that a response showed. */
interface Shown {
  readonly animal: Animal
  /** The first response that showed it, and whether that was its creation. */
  readonly evidence: Exchange
  readonly isCreated: boolean
  /** The key that first saw it; other keys may have catalogues of their own. */
  readonly key: string | undefined
  /** The latest response that showed it. */
  readonly latest: Exchange
  /** The latest response that showed another status than the first one did. */
  readonly changed?: Seen | undefined
}

/** A list that showed everything. */
interface View {
  readonly exchange: Exchange
  readonly ids: ReadonlySet<bigint>
}

export interface Catalogue {
  readonly animals: ReadonlyMap<bigint, Shown>
  readonly names: Names.Names
  /** The first change of a status without a request for it (§3), after which no status is certain. */
  readonly change: string | undefined
  /** The lists that showed everything, by key and filter: other animals appear only by creation. */
  readonly complete: ReadonlyMap<string, View>
  /** Two keys of which the second one was shown an animal that the first one created. */
  readonly shared: ReadonlySet<string>
  /** The rejected creations, by the name that they sent. */
  readonly rejected: ReadonlyMap<string, { readonly seen: Seen; readonly sent: Sent }>
  /** What the service accepted of animals. */
  readonly accepted: Known["accepted"]
}

export const empty: Catalogue = {
  animals: new Map(),
  names: Names.unknown,
  change: undefined,
  complete: new Map(),
  shared: new Set(),
  rejected: new Map(),
  accepted: new Set()
}

/** Rulings on a response, and the catalogue after it. */
type Step = readonly [rulings: ReadonlyArray<Ruling>, next: Catalogue]

/** Whether an animal certainly existed for a key when an exchange began. */
export const has = (
  catalogue: Catalogue,
  id: bigint | undefined,
  key: Key | undefined,
  exchange: Exchange
): boolean => {
  const known = id === undefined ? undefined : catalogue.animals.get(id)
  return known !== undefined && isRequired(catalogue, known, key, exchange)
}

/** Returns what a creation is read by. */
export const forCreations = ({ accepted, animals }: Catalogue): Known => ({
  accepted,
  isTaken: (name) => [...animals.values()].some(({ animal }) => animal.name === name)
})

const isRequired = ({ shared }: Catalogue, known: Shown, key: Key | undefined, exchange: Exchange) =>
  (known.key === key?.name || shared.has(`${known.key} ${key?.name}`)) && precedes(known.evidence, exchange)

export const judge = (catalogue: Catalogue, seen: Seen): Step => {
  const { asked, exchange, status } = seen
  const { operation } = asked
  if (operation.is === "create" && status !== 201)
    return [[], afterRejection(catalogue, seen, operation.creation.sent)]
  if (operation.is === "create") return afterCreation(catalogue, seen, operation.creation.sent)
  if (operation.is === "list" && status === 200) return afterList(catalogue, seen, operation)
  if (operation.is === "get" && status === 200) return afterGet(catalogue, seen, operation.id)
  // An operation that is not in the contract may change or delete animals (§4.4).
  const isRead = ["GET", "HEAD", "OPTIONS"].includes(exchange.request.method)
  return [[], isRead || status >= 400 ? catalogue : withoutCertainty(catalogue, exchange)]
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

// Creations

const afterCreation = (catalogue: Catalogue, seen: Seen, sent: Sent): Step => {
  const { asked, exchange } = seen
  const read = readOne(exchange)
  if (Result.isFailure(read)) {
    const [isId, ruling] = [/^not |\bid\b/.test(read.failure), ofFields(read.failure)]
    return [[isId ? { ...ruling, clause: "create.id-assigned" } : ruling], afterLoss(catalogue)]
  }
  const animal = read.success
  const rulings: Array<Ruling> = [kept("create.id-assigned"), ...fieldClauses.map(kept)]
  // A header such as Idempotency-Key may ask for the animal of an earlier creation.
  if (asked.isPlain) {
    const first = catalogue.animals.get(animal.id)
    const ofId = first ? sharedId(first.animal, animal, first.evidence) : kept("resources.id-unique")
    rulings.push(ofId)
    if (isConcurrent(exchange)) rulings.push({ ...ofId, clause: "create.concurrent" })
  }
  for (const [field, clause] of exactFields) {
    if (sent[field] === undefined) continue
    const [expected, actual] = [sent, animal].map((each) => `the ${field} ${each[field] ?? "absent"}`)
    rulings.push(rule(animal[field] === sent[field], clause, expected ?? "", actual))
  }
  const accepted = new Set([...catalogue.accepted, ...acceptedBy(sent)])
  const next = { ...show(catalogue, [animal], seen), accepted }
  // Nobody can store a lone surrogate in UTF-8.
  if (sent.name === undefined || /\p{Surrogate}/u.test(sent.name)) return [rulings, next]
  const [ruling, names] = Names.judge(catalogue.names, sent.name, animal.name, exchange)
  return [[...rulings, ruling], { ...next, names }]
}

/** Rules on two animals with the same id. */
const sharedId = (one: Animal, other: Animal, ...earlier: ReadonlyArray<Exchange>): Ruling => {
  const actual = `${Difference.nameOf(one)} and ${Difference.nameOf(other)}`
  return broken("resources.id-unique", "an id of its own for each animal", actual, ...earlier)
}

const exactFields = [
  ["categoryId", "create.int64-exact"],
  ["status", "create.status-kept"]
] as const

const afterRejection = (catalogue: Catalogue, seen: Seen, sent: Sent): Catalogue => {
  const { name } = sent
  if (seen.status < 400 || seen.status >= 500) return afterLoss(catalogue)
  if (name === undefined) return catalogue
  return { ...catalogue, rejected: new Map(catalogue.rejected).set(name, { seen, sent }) }
}

const rejectionClause = ({ status }: Seen): ClauseSlug =>
  `${status === 401 ? "auth" : status === 429 ? "limits" : "create"}.refused-unstored`

// Lists

type List = Operation & { readonly is: "list" }

const afterList = (catalogue: Catalogue, seen: Seen, list: List): Step => {
  const { exchange, key } = seen
  const parsed = parse(exchange)
  const read = Result.flatMap(parsed, PetJson.animals)
  if (Result.isFailure(read)) {
    const value = Result.getOrUndefined(parsed)
    const clause = value === null ? "list.empty" : "list.array"
    const isField = Array.isArray(value)
    return [[isField ? ofFields(read.failure) : broken(clause, "an array of Pet", read.failure)], catalogue]
  }
  const shown = read.success
  const alone = [...ofOne(shown, list)]
  const [others, next] = showAll(catalogue, shown, seen, "list.faithful")
  const { hasOthers, limit, status } = list
  const isDecided = !hasOthers && limit.is !== "open" && status.is !== "open" && key !== undefined
  if (!isDecided) return [[...alone, ...others], next]
  if (shown.length >= ListLimit.maxOf(limit)) {
    const isDefault = limit.is === "absent" ? [kept("list.limit.default-fills")] : []
    return [[...alone, ...isDefault, ...others], next]
  }
  const view = viewOf(key, status.is === "valid" ? status.value : undefined)
  const ids = new Set(shown.map(({ id }) => id))
  const complete = new Map(next.complete).set(view, { exchange, ids })
  return [[...alone, ...ofWhole(shown, catalogue, seen, list), ...others], { ...next, complete }]
}

/** The laws of a list by itself. */
function* ofOne(shown: ReadonlyArray<Animal>, list: List): Iterable<Ruling> {
  const { limit, status } = list
  yield kept("list.array")
  if (shown.length === 0) yield kept("list.empty")
  else yield* fieldClauses.map(kept)
  const isWithin = (max: number, clause: ClauseSlug) =>
    rule(shown.length <= max, clause, `at most ${max} in the list`, `${shown.length} animals`)
  yield isWithin(ListLimit.MAX, "list.limit.ceiling")
  if (limit.is === "valid") yield isWithin(limit.value, "list.limit.maximum-returned")
  if (limit.is === "absent") yield isWithin(ListLimit.DEFAULT, "list.limit.default")
  // A service may read `SOLD` as `sold`, but an animal with another status than the given one is never wanted.
  const lenient =
    status.is === "open" && status.because !== "repeated" ? status.text.trim().toLowerCase() : ""
  const wanted = status.is === "valid" ? status.value : lenient
  if (wanted !== "" && shown.length > 0) {
    const other = shown.find((animal) => animal.status !== wanted)
    const actual = other === undefined ? "" : Difference.nameOf(other)
    yield rule(other === undefined, "list.status.filter", `only ${wanted} animals`, actual)
  }
  const ids = new Set<bigint>()
  const twice = shown.find(({ id }) => ids.size === ids.add(id).size)
  if (twice === undefined) return yield* [kept("list.distinct"), kept("resources.id-unique")]
  const first = shown.find(({ id }) => id === twice.id) ?? twice
  yield PetJson.isSameAnimal(first, twice)
    ? broken("list.distinct", "each animal once", `${Difference.nameOf(twice)} twice`)
    : sharedId(first, twice)
}

/** The laws of a list with fewer animals than its limit, which must therefore show every animal. */
const ofWhole = (
  shown: ReadonlyArray<Animal>,
  catalogue: Catalogue,
  { exchange, key }: Seen,
  { limit, status }: List
): ReadonlyArray<Ruling> => {
  const ids = new Set(shown.map(({ id }) => id))
  const filter = status.is === "valid" ? status.value : undefined
  const required = [...catalogue.animals.values()].filter((known) => {
    const isCertain = catalogue.change === undefined && isSoon(known.latest, exchange)
    const isWanted = filter === undefined || (known.animal.status === filter && isCertain)
    return isWanted && isRequired(catalogue, known, key, exchange)
  })
  const missing = required.find(({ animal }) => !ids.has(animal.id))
  const max = ListLimit.maxOf(limit)
  const isCut = missing === undefined || ListLimit.mayBeCut([...ids], [...catalogue.animals.keys()], max)
  const about = missing === undefined ? required : [missing]
  const statuses = new Set(shown.map((animal) => animal.status))
  const isEachStatusTried = missing === undefined ? statuses.size > 1 : !statuses.has(missing.animal.status)
  const clauses: ReadonlyArray<readonly [ClauseSlug, boolean]> = [
    ["list.status.before-limit", status.is === "valid" && limit.is === "valid" && isCut],
    ["create.concurrent", about.some(({ evidence }) => isConcurrent(evidence))],
    ["list.status.all", status.is === "absent" && shown.length > 0 && isEachStatusTried],
    ["list.limit.default-fills", limit.is === "absent" && required.length >= ListLimit.DEFAULT],
    ["list.sees-created", about.some(({ isCreated }) => isCreated)],
    ["list.complete", about.length > 0]
  ]
  const tried = clauses.flatMap(([clause, isTried]) => (isTried ? [clause] : []))
  if (missing !== undefined) {
    const actual = `${shown.length} animals without it, fewer than ${max}`
    const expected = `${Difference.nameOf(missing.animal)} in the list`
    return [broken(tried[0] ?? "list.complete", expected, actual, missing.evidence)]
  }
  const names = new Set(shown.map(({ name }) => name))
  const unstored = [...catalogue.rejected]
    .filter(([name, { sent }]) => !names.has(name) && (filter === undefined || sent.status === filter))
    .map(([, { seen }]) => rejectionClause(seen))
  return [...tried, ...new Set(unstored)].map(kept)
}

/** Whether so little time passed that an animal without a request about it still has its status. */
const isSoon = (earlier: Exchange, later: Exchange): boolean => later.to - earlier.from < HOUR_MS

const HOUR_MS = 3_600_000

const viewOf = (key: Key | undefined, filter?: string): string => `${key?.name} ${filter ?? ""}`

// Retrievals

const afterGet = (catalogue: Catalogue, seen: Seen, id: bigint | undefined): Step => {
  const read = readOne(seen.exchange)
  if (Result.isFailure(read)) return [[ofFields(read.failure)], catalogue]
  if (id !== undefined && read.success.id !== id)
    return [[broken("get.faithful", `the animal ${id}`, Difference.nameOf(read.success))], catalogue]
  const [rulings, next] = showAll(catalogue, [read.success], seen, "get.faithful")
  return [[...fieldClauses.map(kept), ...rulings], next]
}

// All responses with animals

/** Compares animals that are shown with what is known of them, up to the first contradiction, and remembers them. */
const showAll = (
  catalogue: Catalogue,
  shown: ReadonlyArray<Animal>,
  seen: Seen,
  faithful: ClauseSlug
): Step => {
  let rulings: ReadonlyArray<Ruling> = []
  for (const animal of shown) {
    const ruling = agreement(catalogue, animal, seen, faithful)
    if (ruling === undefined) continue
    rulings = [ruling, kept("resources.stable"), ofStatus(catalogue.animals.get(animal.id), animal, seen)]
    if (rulings.some(isBroken)) break
  }
  return [rulings, show(catalogue, shown, seen)]
}

/** Rules on an animal that is shown again, or that cannot be there. */
const agreement = (
  catalogue: Catalogue,
  animal: Animal,
  { exchange, key }: Seen,
  faithful: ClauseSlug
): Ruling | undefined => {
  const { animals, complete, rejected } = catalogue
  const first = animals.get(animal.id)
  const ofStatus = complete.get(viewOf(key, animal.status))
  const view =
    complete.get(viewOf(key)) ?? (ofStatus && isSoon(ofStatus.exchange, exchange) ? ofStatus : undefined)
  const name = Difference.nameOf(animal)
  if (first !== undefined) {
    // Now that the key is known to see it, an earlier list should have shown it, too.
    const isLate = view !== undefined && !view.ids.has(animal.id) && precedes(first.evidence, view.exchange)
    const isUnchanged = first.isCreated && first.animal.status === animal.status
    if (isLate && isUnchanged && !isRequired(catalogue, first, key, exchange))
      return broken(
        "list.complete",
        `${name} also in the list before`,
        "a list without it",
        first.evidence,
        view.exchange
      )
    const isSame = PetJson.isSameAnimal(first.animal, animal)
    const clause = first.isCreated ? faithful : "resources.stable"
    const [expected, actual] = isSame ? ["", ""] : Difference.between(first.animal, animal)
    const source = first.isCreated ? "its creation returned it" : "an earlier response showed it"
    return rule(isSame, clause, `${expected}, as ${source}`, actual, first.evidence)
  }
  // Once a list has shown everything, an unknown animal must have been created since.
  if (view === undefined) return undefined
  const rejection = rejected.get(animal.name)?.seen
  if (rejection === undefined)
    return broken("list.complete", "only animals that existed or were created", name, view.exchange)
  const expected = `no animal of a creation that got ${rejection.status}`
  return broken(rejectionClause(rejection), expected, name, view.exchange, rejection.exchange)
}

/** §3 excuses a status that changes; but if one operation shows the old one again, another one showed a wrong one. */
const ofStatus = (known: Shown | undefined, { id, status }: Animal, { asked, exchange }: Seen): Ruling => {
  const clause = "resources.status-agreed"
  if (known?.changed === undefined || known.animal.status !== status) return kept(clause)
  const { changed, evidence, isCreated } = known
  const isOther = changed.asked.operation.is !== asked.operation.is && isSoon(changed.exchange, exchange)
  const expected = `the status ${status} of animal ${id} in every response`
  const actual = `another status in response to ${changed.exchange.did}`
  return rule(!(isCreated && isOther), clause, expected, actual, evidence, changed.exchange)
}

/** Remembers animals that a response showed, unless they contradict what is known. */
const show = (catalogue: Catalogue, shown: ReadonlyArray<Animal>, seen: Seen): Catalogue => {
  const { asked, exchange, key } = seen
  const isCreated = asked.operation.is === "create"
  const [animals, shared] = [new Map(catalogue.animals), new Set(catalogue.shared)]
  let { change } = catalogue
  for (const animal of shown) {
    const first = animals.get(animal.id)
    if (first !== undefined && !PetJson.isSameAnimal(first.animal, animal)) continue
    const known = first ?? { animal, evidence: exchange, latest: exchange, isCreated, key: key?.name }
    const hasChanged = known.animal.status !== animal.status
    animals.set(animal.id, { ...known, latest: exchange, changed: hasChanged ? seen : undefined })
    const [before, now] = [known.animal, animal].map(({ status }) => status ?? "absent")
    if (hasChanged)
      change ??= `the status of animal ${animal.id} changes without a request for it: ${before} in response ${known.latest.index + 1}, ${now} in response ${exchange.index + 1}`
    // An animal that no key of the run created may belong to everybody.
    if (first?.isCreated && key !== undefined) shared.add(`${first.key} ${key.name}`)
  }
  return { ...catalogue, animals, shared, change }
}

const parse = ({ response }: Exchange): Result.Result<unknown, string> => PetJson.parse(text(response?.body))

const readOne = (exchange: Exchange): Result.Result<Animal, string> =>
  Result.flatMap(parse(exchange), PetJson.animal)

const fieldClauses = ["resources.pet-fields", "resources.pet-types", "resources.status-values"] as const

/** Rules on an animal that lacks a field, or has one of another type, by the reason why it is no animal. */
const ofFields = (reason: string): Ruling & { readonly broken: object } => {
  const clause = reason.includes("status is not")
    ? "resources.status-values"
    : reason.endsWith(": absent")
      ? "resources.pet-fields"
      : "resources.pet-types"
  return broken(clause, "a Pet", reason)
}
