/** Lists requests of each operation and outcome, which every situation can be reached with. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Animal } from "../http/Animal.ts"
import * as PetJson from "../http/PetJson.ts"
import type { Exchange } from "../model/Exchange.ts"
import * as Bodies from "./Bodies.ts"
import * as Draw from "./Draw.ts"
import * as Names from "./Names.ts"
import type { Sent, Stopped, Tools } from "./Program.ts"
import * as Queries from "./Queries.ts"
import { boundaries, margins } from "./scenarios/Moments.ts"
import { words } from "./Words.ts"

/** An id that no animal is likely to have. */
export const UNKNOWN_ID = "5318008317345021"

interface Values {
  readonly name?: string | undefined
  /** In JSON; of use only if the server accepts every category. */
  readonly categoryId?: string | undefined
  readonly status?: string | undefined
}

/** Returns the members of an animal that every server accepts, with these values instead. */
export const members = ({ categories, name }: Tools, values: Values = {}): Bodies.Members => [
  ["name", JSON.stringify(values.name ?? name())],
  ["categoryId", categories === "any" ? (values.categoryId ?? "1") : String(categories[0] ?? 1n)],
  ...(values.status === undefined ? [] : [["status", JSON.stringify(values.status)] as const])
]

/** Draws the status of a new animal; `undefined` for a creation without a status. */
export const newStatus = Draw.one([...Queries.statuses, undefined])

/** A request that may depend on the animals so far, and on chance. */
export type Call = (tools: Tools) => Effect.Effect<Sent>

const call =
  (make: (tools: Tools) => Sent): Call =>
  (tools) =>
    Effect.sync(() => make(tools))

const fixed = (path: string, method = "GET") => call(() => ({ method, path }))

/** A request for one of these paths. */
const oneOf =
  (paths: ReadonlyArray<string>): Call =>
  () =>
    Effect.map(Draw.one(paths), (path) => ({ path }))

const byStatus = (limit: string): Call =>
  oneOf(Queries.filters.slice(1).map((filter) => Queries.list(filter, limit)))

const ofAnimal = (choose: (animals: ReadonlyArray<Animal>) => Animal | undefined, method = "GET") =>
  call(({ created }) => ({ method, path: `/pets/${choose(created())?.id ?? UNKNOWN_ID}` }))

/** Gets an id that no animal is likely to have, but that is the id of one for a service that loses high bits. */
const unknown: Call = ({ created }) =>
  Effect.map(Draw.one([32n, 40n, 53n, 62n]), (bit) => {
    const { id } = created().at(-1) ?? { id: 1n }
    return { path: `/pets/${BigInt.asIntN(64, id ^ (1n << bit))}` }
  })

/** Number of animals among which there are some with unusual names. */
const FIRST = 24

/** A creation that the service accepts: with a name that every one does, or that ends like the longest one before. */
export const creating =
  (values: Values): Call =>
  (tools) =>
    Effect.gen(function* () {
      const names = tools.created().map(({ name }) => name)
      const [longest = ""] = names.slice(0, FIRST).toSorted((a, b) => b.length - a.length)
      const plain = tools.name()
      const name = plain + (yield* Draw.one(["", longest.slice(plain.length)]))
      return Bodies.creation(members(tools, { name, status: yield* newStatus, ...values }))
    })

/** A creation with another value of a field in JSON, or without the field. */
const defective = (field: string, json?: string) =>
  call((tools) => Bodies.creation(Bodies.withValue(members(tools), field, json)))

const newest = (animals: ReadonlyArray<Animal>) => animals.at(-1)

/** Returns the status that the fewest animals have, so that a list may show all of them. */
const rarest = (animals: ReadonlyArray<Animal>): string => {
  const countOf = (status: string) => animals.filter((animal) => animal.status === status).length
  const [first] = Queries.statuses.toSorted((a, b) => countOf(a) - countOf(b))
  return first ?? ""
}

export const lists = {
  list: fixed("/pets"),
  "list with a limit": oneOf(words("/pets?limit=1 /pets?limit=1 /pets?limit=2")),
  "whole list": call(({ created }) => ({
    path: Queries.list("limit=100", `status=${rarest(created())}`)
  })),
  "list with the largest limit": fixed("/pets?limit=100"),
  "list by status": byStatus(""),
  "list with both parameters": byStatus("limit=3")
}

export const creations = {
  creation: creating({}),
  "creation without a status": creating({ status: undefined }),
  "creation in a large category": creating({ categoryId: Bodies.inexactCategories[0] })
}

export const retrievals = {
  "the newest": ofAnimal(newest),
  "the first": ofAnimal((animals) => animals[0]),
  "an early one": (tools: Tools) =>
    Effect.flatMap(Random.nextIntBetween(0, FIRST), (index) =>
      ofAnimal((animals) => animals[index % animals.length])(tools)
    )
}

/** Requests that the contract describes, with an error. */
const refusals = {
  "an unknown id": unknown,
  "a negative id": fixed("/pets/-9000000000000000001"),
  "creation without a name": defective("name"),
  "creation without a category": defective("categoryId"),
  "creation with a number as its name": defective("name", "1"),
  "creation with a text as its category": defective("categoryId", '"one"'),
  "creation with a category beyond int64": defective("categoryId", "9223372036854775808"),
  "creation with a fraction as its category": defective("categoryId", "1.5"),
  "creation with an unknown status": defective("status", '"lost"'),
  "creation with a number as its status": defective("status", "1"),
  "creation that is no object": call(() => ({ method: "POST", path: "/pets", json: "[]" })),
  "creation that is no JSON": call(() => ({ method: "POST", path: "/pets", json: "{" })),
  "creation without a body": fixed("/pets", "POST")
}

/** Requests that the contract does not describe. */
const others = {
  "HEAD of the list": fixed("/pets", "HEAD"),
  "HEAD of an animal": ofAnimal(newest, "HEAD"),
  "HEAD of an unknown id": fixed(`/pets/${UNKNOWN_ID}`, "HEAD"),
  "OPTIONS of the list": fixed("/pets", "OPTIONS"),
  "another method": fixed("/pets", "PUT"),
  "another method of an animal": call(() => ({ method: "PUT", path: `/pets/${UNKNOWN_ID}`, json: "{}" })),
  "creation of an unusual size": (tools: Tools) =>
    Effect.map(creating({})(tools), (sent) => ({ ...sent, body: `${sent.body}${" ".repeat(70_000)}` })),
  "creation in another type": call(() => Bodies.creation([], Bodies.plain, ["text/plain"]))
}

export const calls = {
  ...lists,
  ...creations,
  ...retrievals,
  ...refusals,
  ...others
} satisfies { readonly [name: string]: Call }

/** Lists of which most show all animals, so that each shows whether one is missing. */
export const looks: ReadonlyArray<Call> = [lists["whole list"], lists.list, lists["list with a limit"]]

export const usual: ReadonlyArray<Call> = Object.values<Call>({ ...lists, ...creations, ...retrievals })
export const refused: ReadonlyArray<Call> = Object.values(refusals)
export const undescribed: ReadonlyArray<Call> = [
  ...Object.values(others),
  ...words("limit=0 limit=101 limit=many status=lost sort=name").map((query) => fixed(`/pets?${query}`)),
  ...words("/pets/rex /nothing").map((path) => fixed(path))
]

/** The calls that certainly count, whatever a service does with requests that the contract does not describe. */
export const described: ReadonlyArray<Call> = [...usual, ...refused]
export const all: ReadonlyArray<Call> = [...described, ...undescribed]

/** The three operations, and what HTTP adds to two of them. */
export const operations: ReadonlyArray<Call> = [
  ...[calls.list, calls.creation, calls["the newest"], calls["an unknown id"]],
  ...[calls["HEAD of the list"], calls["HEAD of an animal"]]
]

/** Sends a call with the main key. */
export const send = (tools: Tools, call: Call): Effect.Effect<Exchange, Stopped> =>
  Effect.flatMap(call(tools), tools.send)

/** Creates animals until the run has created this many, with this status if one is given. */
export const stock = Effect.fnUntraced(function* (tools: Tools, animals: number, status?: string) {
  const isCounted = (animal: Animal) => status === undefined || animal.status === status
  const missing = animals - tools.created().filter(isCounted).length
  for (let more = 0; more < missing; more++)
    yield* tools.send(Bodies.creation(members(tools, { status: status ?? (yield* newStatus) })))
})

/** Creates the most unusual animal with this status that the service accepts. */
export const createUnusual = Effect.fnUntraced(function* (tools: Tools, status: string) {
  const before = tools.created().length
  const categoryId = yield* Draw.one(Bodies.inexactCategories)
  for (const end of Names.ends) {
    yield* tools.send(Bodies.creation(members(tools, { name: tools.name(end), categoryId, status })))
    if (tools.created().length > before) return
  }
})

/** Lists all animals and those of each status, with the largest limit, and gets an animal that a list shows. */
export const lookAtLists = Effect.fnUntraced(function* (
  tools: Tools,
  key: "main" | "tiny" | "victim" = "main"
) {
  const statuses = new Map(tools.created().map(({ id, status }) => [id, status]))
  let [first, got]: ReadonlyArray<Animal | undefined> = []
  for (const filter of Queries.filters) {
    const path = Queries.list(...(yield* Random.shuffle(["limit=100", filter])))
    const { response } = yield* tools.send({ path, key })
    const shown = PetJson.listedIn(response)
    // Another status than at first is wrong if the retrieval shows the first one.
    got ??= shown.find(({ id, status }) => statuses.has(id) && statuses.get(id) !== status)
    first = shown[0] ?? first
  }
  const animal = got ?? first
  if (animal !== undefined) yield* tools.send({ path: `/pets/${animal.id}`, key })
})

/** Sends a creation, and gets the animal with the same key if the response shows one; returns the animal. */
export const createAndGet = Effect.fnUntraced(function* (tools: Tools, sent: Sent) {
  const { request, response } = yield* tools.send(sent)
  const animal = response && PetJson.createdBy({ request, response })
  if (animal) yield* tools.send({ ...(sent.key && { key: sent.key }), path: `/pets/${animal.id}` })
  return animal || undefined
})

/** Sends all requests, some of them at boundaries of the clock, and gets half of what they create; looks at the lists. */
export const sendAll = Effect.fnUntraced(function* (tools: Tools, sent: ReadonlyArray<Sent>) {
  for (const [index, each] of sent.entries()) {
    if (index % BETWEEN_PAUSES === 0) yield* pause(tools)
    const isGot = each.method === "POST" && (yield* Random.nextBoolean)
    yield* isGot ? createAndGet(tools, each) : tools.send(each)
    if (index % BETWEEN_LOOKS === BETWEEN_LOOKS - 1 || index === sent.length - 1) yield* lookAtLists(tools)
  }
})

/** Number of requests between two pauses, and between two looks at the lists. */
const [BETWEEN_PAUSES, BETWEEN_LOOKS] = [5, 80]

/** Lets less than a minute pass, until shortly before a second or a minute ends, or until the next begins. */
const pause = Effect.fnUntraced(function* (tools: Tools) {
  if (!tools.hasClock) return
  const now = yield* tools.now
  const next = (yield* Draw.one([boundaries.second, boundaries.minute]))(now)
  yield* tools.advance(next - now - (yield* Draw.one([0, ...margins])))
})
