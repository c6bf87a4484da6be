/** The animals that responses showed, and the laws of lists and their pages: by id, page after page (design of §4.1). */
import * as Result from "effect/Result"
import type { Animal } from "../http/Animal.ts"
import * as LinkHeader from "../http/LinkHeader.ts"
import * as PetJson from "../http/PetJson.ts"
import { headerValues, text } from "../http/Wire.ts"
import { broken, type Exchange, type Ruling, rule } from "../model/Exchange.ts"
import type { Seen } from "../model/Seen.ts"
import * as Reading from "./Reading.ts"

interface Known {
  readonly animal: Animal
  /** The first response that showed it. */
  readonly shownBy: Exchange
}

/** Where a page begins: after an id, in the list of a status. */
interface Start {
  readonly after: bigint | undefined
  readonly status: string | undefined
  /** The response that links to it. */
  readonly linkedBy: ReadonlyArray<Exchange>
}

export interface Lists {
  readonly animals: ReadonlyMap<bigint, Known>
  /** The pages to which responses linked, by cursor. */
  readonly cursors: ReadonlyMap<string, Start>
}

export const empty: Lists = { animals: new Map(), cursors: new Map() }

type Step = readonly [ReadonlyArray<Ruling>, Lists]

/** Judges the animals of a successful response by what earlier responses showed, and learns them. */
export const judge = (lists: Lists, exchange: Seen["exchange"], reading: Reading.Reading): Step => {
  const body = text(exchange.response.body)
  const parsed = PetJson.parse(body)
  const isList = reading.route?.operation?.id === "listPets"
  const read = isList
    ? Result.flatMap(parsed, PetJson.animals)
    : Result.map(Result.flatMap(parsed, PetJson.animal), (animal) => [animal])
  const integers = Result.isSuccess(parsed) ? [ofIntegers(body)] : []
  if (Result.isFailure(read)) return [integers, lists]
  const shown = read.success
  const added = shown.filter(({ id }) => !lists.animals.has(id))
  const learned = added.map((animal) => [animal.id, { animal, shownBy: exchange }] as const)
  const next = added.length === 0 ? lists : { ...lists, animals: new Map([...lists.animals, ...learned]) }
  const [ofPages, after] = isList ? ofPage(next, exchange, reading, shown) : [[], next]
  return [[...integers, ...ofShown(lists, shown), ...ofPages], after]
}

/** Every int64 is a JSON number with all its digits. */
const ofIntegers = (body: string): Ruling => {
  const numbers = body.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").match(/-?[0-9][^\s,\]}]*/g) ?? []
  const odd = numbers.find((number) => !/^-?(?:0|[1-9][0-9]*)$/.test(number))
  return rule(odd === undefined, "resources.int64-numbers", "integers in plain digits", odd)
}

/** The status of an animal never changes; the contract itself says so of its other fields. */
const ofShown = ({ animals }: Lists, shown: ReadonlyArray<Animal>): ReadonlyArray<Ruling> => {
  const again = shown.filter(({ id }) => animals.has(id))
  const changed = again.find(({ id, status }) => animals.get(id)?.animal.status !== status)
  const first = animals.get(changed?.id ?? 0n)
  if (again.length === 0) return []
  const earlier = first === undefined ? [] : [first.shownBy]
  const expected = `the status ${first?.animal.status}`
  return [rule(changed === undefined, "resources.status-stable", expected, changed?.status, ...earlier)]
}

/** Judges a page, and learns the cursor of the next one. */
const ofPage = (
  lists: Lists,
  exchange: Seen["exchange"],
  reading: Reading.Reading,
  shown: ReadonlyArray<Animal>
): Step => {
  const [cursor, status] = ["cursor", "status"].map((name) => reading.sent.get(name) ?? undefined)
  const first = { after: undefined, status, linkedBy: [] }
  const start = cursor === undefined ? first : lists.cursors.get(cursor)
  // The cursor came from no link.
  if (start === undefined) return [[], lists]
  const [target] = LinkHeader.targets(headerValues(exchange.response, "link"), "next")
  const [last, nextCursor] = [shown.at(-1), new URLSearchParams(target?.split("?")[1]).get("cursor")]
  const cursors = new Map(lists.cursors)
  if (last && nextCursor) cursors.set(nextCursor, { ...start, after: last.id, linkedBy: [exchange] })
  // What a request in flight creates may be on the page or not; the model judges the filter.
  const isOfStatus = shown.every((animal) => start.status === undefined || animal.status === start.status)
  const rulings = exchange.isAlone && isOfStatus ? lawsOf(lists, start, shown, target, reading) : []
  return [[...rulings], { ...lists, cursors }]
}

/** Returns the known animals from the start of a page on, by id. */
const restOf = ({ animals }: Lists, { after, status }: Start): ReadonlyArray<Known> =>
  [...animals.values()]
    .filter(({ animal }) => status === undefined || animal.status === status)
    .filter(({ animal }) => after === undefined || animal.id > after)
    .toSorted((a, b) => (a.animal.id < b.animal.id ? -1 : 1))

/** A page shows all animals from its start by id; it links to the next page if and only if more animals follow. */
function* lawsOf(
  lists: Lists,
  start: Start,
  shown: ReadonlyArray<Animal>,
  target: string | undefined,
  reading: Reading.Reading
): Iterable<Ruling> {
  const { basePath, sent } = reading
  const { linkedBy, status } = start
  const isFirst = start.after === undefined
  const odd = Reading.isOdd(reading) ? "list.unknown-parameters" : undefined
  const rest = restOf(lists, start)
  const at = shown.findIndex(({ id }, index) => rest[index]?.animal.id !== id)
  const [expected, actual] = [rest[at]?.animal, shown[at]].map((animal) => animal && PetJson.line(animal))
  const ofOrder = odd ?? (isFirst ? "list.order" : "list.paging.complete")
  const missed = rest[at] === undefined ? [] : [rest[at].shownBy]
  yield rule(at === -1, ofOrder, `${expected ?? "no animal"} next by id`, actual, ...linkedBy, ...missed)
  if (at !== -1) return
  if (!isFirst && shown.length === 0)
    return yield broken("list.paging.last", "an animal on the page of a next link", "none", ...linkedBy)
  const limit = sent.get("limit")
  if (shown.length < Number(limit ?? 20))
    return yield rule(
      target === undefined,
      odd ?? "list.paging.last",
      "no next link after the last animal",
      target
    )
  const following = rest[shown.length]
  if (following === undefined && target === undefined) return
  // The link has the same limit and status.
  const [path = "", query] = target?.split("?") ?? []
  const linked = new URLSearchParams(query)
  const isKept =
    linked.get("limit") === (limit ?? linked.get("limit")) && linked.get("status") === (status ?? null)
  const isRight = isKept && Reading.isAddressOf(path, basePath, "/pets")
  const link = `a link to ${basePath}/pets with the limit ${limit ?? "if any"} and the status ${status ?? "if any"}`
  const next = following === undefined ? [] : [following.shownBy]
  yield rule(isRight, "list.paging", link, target, ...next)
}
