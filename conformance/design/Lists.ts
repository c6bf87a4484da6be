/** The animals that responses showed, and the laws of lists and their pages: by id, page after page (design of §4.1). */
import * as Result from "effect/Result"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Animal } from "../http/Animal.ts"
import * as LinkHeader from "../http/LinkHeader.ts"
import * as PetJson from "../http/PetJson.ts"
import { headerValues, text } from "../http/Wire.ts"
import { broken, type Exchange, isBroken, type Ruling, rule } from "../model/Exchange.ts"
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
  const { basePath, sent } = reading
  const [cursor, limit, status] = ["cursor", "limit", "status"].map((name) => sent.get(name) ?? undefined)
  const first = { after: undefined, status, linkedBy: [] }
  const start = cursor === undefined ? first : lists.cursors.get(cursor)
  // The cursor came from no link.
  if (start === undefined) return [[], lists]
  const [target] = LinkHeader.targets(headerValues(exchange.response, "link"), "next")
  const [last, nextCursor] = [shown.at(-1), new URLSearchParams(target?.split("?")[1]).get("cursor")]
  const cursors = new Map(lists.cursors)
  if (last && nextCursor) cursors.set(nextCursor, { ...start, after: last.id, linkedBy: [exchange] })
  const after = { ...lists, cursors }
  // What a request in flight creates may be on the page or not; the model judges the filter.
  const isOfStatus = shown.every((animal) => start.status === undefined || animal.status === start.status)
  if (!exchange.isAlone || !isOfStatus) return [[], after]
  const rest = restOf(lists, start)
  const page = { shown, start, rest, limit, target, basePath, odd: Reading.isOdd(reading) ? odd : undefined }
  const order = ofOrder(page)
  return [isBroken(order) ? [order] : [order, ...ofEnd(page)], after]
}

interface Page {
  readonly shown: ReadonlyArray<Animal>
  readonly start: Start
  /** The known animals from its start on, by id. */
  readonly rest: ReadonlyArray<Known>
  readonly limit: string | undefined
  /** The target of the link to the next page. */
  readonly target: string | undefined
  readonly basePath: string
  /** The clause that is broken if the request has unknown parameters. */
  readonly odd: ClauseSlug | undefined
}

const odd: ClauseSlug = "list.unknown-parameters"

/** Returns the known animals from the start of a page on, by id. */
const restOf = ({ animals }: Lists, { after, status }: Start): ReadonlyArray<Known> =>
  [...animals.values()]
    .filter(({ animal }) => status === undefined || animal.status === status)
    .filter(({ animal }) => after === undefined || animal.id > after)
    .toSorted((a, b) => (a.animal.id < b.animal.id ? -1 : 1))

/** A page shows all animals from its start up to its last animal, by id. */
const ofOrder = ({ odd, rest, shown, start }: Page): Ruling => {
  const at = shown.findIndex(({ id }, index) => rest[index]?.animal.id !== id)
  const [expected, actual] = [rest[at]?.animal, shown[at]].map((animal) => animal && PetJson.line(animal))
  const clause = odd ?? (start.after === undefined ? "list.order" : "list.paging.complete")
  const earlier = [...start.linkedBy, ...(rest[at] === undefined ? [] : [rest[at].shownBy])]
  return rule(at === -1, clause, `${expected ?? "no animal"} next by id`, actual, ...earlier)
}

/** A page has a link to the next one, with the same limit and status, if and only if more animals follow. */
const ofEnd = ({ basePath, limit, odd, rest, shown, start, target }: Page): ReadonlyArray<Ruling> => {
  const following = rest[shown.length]
  if (start.after !== undefined && shown.length === 0)
    return [broken("list.paging.last", "an animal on the page of a next link", "none", ...start.linkedBy)]
  if (shown.length < Number(limit ?? 20)) {
    const clause = odd ?? "list.paging.last"
    return [rule(target === undefined, clause, "no next link after the last animal", target)]
  }
  if (following === undefined && target === undefined) return []
  const [path = "", query] = target?.split("?") ?? []
  const sent = new URLSearchParams(query)
  const isKept =
    sent.get("limit") === (limit ?? sent.get("limit")) && sent.get("status") === (start.status ?? null)
  const isRight = isKept && Reading.isAddressOf(path, basePath, "/pets")
  const expected = `a link to ${basePath}/pets with the limit ${limit ?? "if any"} and the status ${start.status ?? "if any"}`
  const earlier = following === undefined ? [] : [following.shownBy]
  return [rule(isRight, "list.paging", expected, target, ...earlier)]
}
