/** The animals that responses showed, and the laws of lists and their pages: by id, page after page (design of §4.1). */
import * as Result from "effect/Result"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Animal } from "../http/Animal.ts"
import * as LinkHeader from "../http/LinkHeader.ts"
import * as PetJson from "../http/PetJson.ts"
import { headerValues, text, type WireResponse } from "../http/Wire.ts"
import { type Ruling, rule } from "../model/Exchange.ts"
import type { Seen } from "../model/Seen.ts"
import * as Reading from "./Reading.ts"

/** Where a page begins: after an id, in the list of a status. */
interface Start {
  readonly after: bigint | undefined
  readonly status: string | undefined
  /** Whether all animals up to `after` were shown. */
  readonly isWalked: boolean
}

export interface Lists {
  readonly animals: ReadonlyMap<bigint, Animal>
  /** The cursors of all links to a next page. */
  readonly cursors: ReadonlyMap<string, Start>
  /** The statuses whose lists were walked to the end, so that all their animals are known; `all` is the whole list. */
  readonly whole: ReadonlySet<string>
}

export const empty: Lists = { animals: new Map(), cursors: new Map(), whole: new Set() }

/** Returns what is still known after a request that may have created an animal. */
export const afterLoss = (lists: Lists): Lists => ({ ...lists, whole: new Set() })

const parse = ({ body }: WireResponse): Result.Result<unknown, string> => PetJson.parse(text(body))

/** Learns the animal in a response. */
export const withAnimal = (lists: Lists, response: WireResponse): Lists => {
  const animal = Result.flatMap(parse(response), PetJson.animal)
  return Result.isSuccess(animal) ? withAll(lists, [animal.success]) : afterLoss(lists)
}

const withAll = (lists: Lists, shown: ReadonlyArray<Animal>): Lists => {
  const added = shown.filter(({ id }) => !lists.animals.has(id))
  if (added.length === 0) return lists
  return { ...lists, animals: new Map([...lists.animals, ...added.map((each) => [each.id, each] as const)]) }
}

/** Judges the animals that a response shows by what earlier responses showed. */
export const ofShown = ({ animals }: Lists, response: WireResponse): ReadonlyArray<Ruling> => {
  const shown = Result.match(parse(response), {
    onSuccess: (value) => (Array.isArray(value) ? value : [value]).map(PetJson.animal),
    onFailure: () => []
  })
  const rulings: Array<Ruling> = []
  for (const each of shown) {
    const first = Result.isSuccess(each) ? animals.get(each.success.id) : undefined
    if (first === undefined || Result.isFailure(each)) continue
    const { name, status } = each.success
    const [nameBefore, nameNow] = [JSON.stringify(first.name), JSON.stringify(name)]
    rulings.push(rule(nameBefore === nameNow, "create.name-exact", nameBefore, nameNow))
    rulings.push(rule(first.status === status, "resources.status-stable", String(first.status), status))
  }
  // One of each kind is enough.
  return rulings.filter(
    ({ broken, clause }, index) =>
      broken !== undefined || rulings.findIndex((each) => each.clause === clause) === index
  )
}

/** Judges a list that was requested alone, and learns its animals and its cursor. */
export const judge = (
  lists: Lists,
  reading: Reading.Reading,
  { isAlone, response }: Seen["exchange"],
  basePath: string
): readonly [ReadonlyArray<Ruling>, Lists] => {
  const read = Result.flatMap(parse(response), PetJson.animals)
  if (Result.isFailure(read)) return [[], lists]
  const shown = read.success
  const next = withAll(lists, shown)
  const [status] = Reading.valuesOf(reading, "status")
  const [cursor] = Reading.valuesOf(reading, "cursor")
  const limit = Number(Reading.valuesOf(reading, "limit")[0] ?? 20)
  const start =
    cursor === undefined ? { after: undefined, status, isWalked: true } : lists.cursors.get(cursor)
  if (start === undefined) return [[], next]
  const page: Page = { shown, limit, start, target: targetOf(response), isOdd: hasOthers(reading) }
  const learned = learn(next, page)
  if (!isAlone) return [[], learned]
  const [sent] = Reading.valuesOf(reading, "limit")
  return [[...ofAnimals(lists, page), ...ofEnd(lists, page), ...ofTarget(page, sent, basePath)], learned]
}

interface Page {
  readonly shown: ReadonlyArray<Animal>
  readonly limit: number
  readonly start: Start
  /** The target of the link to the next page. */
  readonly target: string | undefined
  /** Whether the request has unknown parameters. */
  readonly isOdd: boolean
}

const hasOthers = ({ query = [] }: Reading.Reading): boolean =>
  query.some(([name]) => !["limit", "status", "cursor"].includes(name))

const targetOf = (response: WireResponse): string | undefined =>
  LinkHeader.parse(headerValues(response, "link")).find((link) => LinkHeader.hasRelation(link, "next"))
    ?.target

const cursorOf = (target: string | undefined): string | undefined =>
  Reading.queryOf(target?.split("?")[1] ?? "")?.find(([name]) => name === "cursor")?.[1]

const isIn = ({ after, status }: Start, animal: Animal): boolean =>
  (status === undefined || animal.status === status) && (after === undefined || animal.id > after)

const learn = (lists: Lists, { shown, start, target }: Page): Lists => {
  const cursor = cursorOf(target)
  const last = shown.at(-1)
  if (cursor !== undefined && last !== undefined) {
    return { ...lists, cursors: new Map(lists.cursors).set(cursor, { ...start, after: last.id }) }
  }
  const isWhole = target === undefined && start.isWalked
  return isWhole ? { ...lists, whole: new Set(lists.whole).add(start.status ?? "all") } : lists
}

const ofAnimals = ({ animals }: Lists, { isOdd, shown, start }: Page): ReadonlyArray<Ruling> => {
  const line = (animal: Animal | undefined) => (animal === undefined ? "all in order" : PetJson.line(animal))
  const complete: ClauseSlug = start.after === undefined ? "list.order" : "list.paging.complete"
  const unordered = shown.find(({ id }, index) => index > 0 && id <= (shown[index - 1]?.id ?? id))
  const last = shown.at(-1)?.id
  const ids = new Set(shown.map(({ id }) => id))
  const missing = [...animals.values()].find(
    (animal) => isIn(start, animal) && last !== undefined && animal.id < last && !ids.has(animal.id)
  )
  const first = shown.find(({ id }) => start.after !== undefined && id <= start.after)
  return [
    rule(unordered === undefined, "list.order", "ascending ids", line(unordered)),
    ...(isOdd
      ? []
      : [
          rule(missing === undefined, complete, "every animal up to the last one", `none of ${line(missing)}`)
        ]),
    ...(start.after === undefined
      ? []
      : [rule(first === undefined, "list.paging.complete", `animals after ${start.after}`, line(first))])
  ]
}

/** A page has a link to the next one if and only if more animals follow. */
const ofEnd = (
  { animals, whole }: Lists,
  { isOdd, limit, shown, start, target }: Page
): ReadonlyArray<Ruling> => {
  const last = shown.at(-1)?.id
  const follows = [...animals.values()].some(
    (animal) => isIn(start, animal) && (last === undefined || animal.id > last)
  )
  const clause = (usual: ClauseSlug): ClauseSlug => (isOdd ? "list.unknown-parameters" : usual)
  const actual = target === undefined ? "no link" : `<${target}>`
  if (shown.length < limit) {
    const rulings = [
      rule(target === undefined, clause("list.paging.last"), "no next link after the last animal", actual)
    ]
    // A link promises at least one animal.
    const isPromised = start.after !== undefined && shown.length === 0
    return isPromised
      ? [...rulings, rule(false, "list.paging.last", "an animal on the page of a next link", "none")]
      : rulings
  }
  if (follows) return [rule(target !== undefined, "list.paging", "a link to the next page", actual)]
  const isKnown = whole.has("all") || (start.status !== undefined && whole.has(start.status))
  return isKnown
    ? [rule(target === undefined, "list.paging.last", "no next link after the last animal", actual)]
    : []
}

const ofTarget = (
  { start: { status }, target }: Page,
  limit: string | undefined,
  basePath: string
): ReadonlyArray<Ruling> => {
  if (target === undefined) return []
  const [path = "", query = ""] = target.split("?")
  const isAddress = path === `${basePath}/pets` || /^https?:\/\/[^/]+(?:\/.*)?\/pets$/.test(path)
  const of = (name: string) => new RegExp(`(?:^|&)${name}=([^&]*)`).exec(query)?.[1]
  const isKept = of("status") === status && (limit === undefined || of("limit") === limit)
  const expected = `the limit ${limit ?? "if any"} and the status ${status ?? "if any"}`
  return [
    rule(isAddress, "list.paging.address", `${basePath}/pets or an absolute address`, target),
    rule(isKept, "list.paging.filter", expected, target)
  ]
}
