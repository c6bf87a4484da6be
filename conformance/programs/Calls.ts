/** Lists requests of each operation and outcome, which every situation can be reached with. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Animal } from "../http/Animal.ts"
import * as CreatedAnimal from "../http/CreatedAnimal.ts"
import * as PetJson from "../http/PetJson.ts"
import type { Exchange } from "../model/Exchange.ts"
import * as Bodies from "./Bodies.ts"
import * as Draw from "./Draw.ts"
import * as Names from "./Names.ts"
import type { Sent, Stopped, Tools } from "./Program.ts"
import * as Queries from "./Queries.ts"
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

const byStatus =
  (limit: string): Call =>
  () =>
    Effect.map(Draw.one(Queries.filters.slice(1)), (filter) => ({ path: Queries.list(filter, limit) }))

const ofAnimal = (choose: (animals: ReadonlyArray<Animal>) => Animal | undefined, method = "GET") =>
  call(({ created }) => ({ method, path: `/pets/${choose(created())?.id ?? UNKNOWN_ID}` }))

/** A creation that every server accepts. */
const creating =
  (values: Values): Call =>
  (tools) =>
    Effect.map(newStatus, (status) => Bodies.creation(members(tools, { status, ...values })))

/** A creation with another value of a field in JSON, or without the field. */
const defective = (field: string, json?: string) =>
  call((tools) => Bodies.creation(Bodies.withValue(members(tools), field, json)))

const newest = (animals: ReadonlyArray<Animal>) => animals.at(-1)

export const lists = {
  list: fixed("/pets"),
  "list with a limit": fixed("/pets?limit=2"),
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
  "an early one": ofAnimal((animals) => animals[11] ?? animals[0])
}

/** Requests that the contract describes, with an error. */
const refusals = {
  "an unknown id": fixed(`/pets/${UNKNOWN_ID}`),
  "another unknown id": fixed("/pets/-9000000000000000001"),
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
  "creation with an unusual name": (tools: Tools) => creating({ name: tools.name(Names.ends[0]) })(tools),
  ...lists,
  ...creations,
  ...retrievals,
  ...refusals,
  ...others,
  "no key": () => Effect.succeed({ path: "/pets", authorization: [] })
} satisfies { readonly [name: string]: Call }

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
  for (const categoryId of [yield* Draw.one(Bodies.inexactCategories), undefined]) {
    for (const end of Names.ends) {
      const name = tools.name(end)
      yield* tools.send(Bodies.creation(members(tools, { name, categoryId, status })))
      if (tools.created().length > before) return
    }
  }
})

/** Lists all animals and those of each status, with the largest limit, and gets an animal that a list shows. */
export const lookAtLists = Effect.fnUntraced(function* (
  tools: Tools,
  key: "main" | "tiny" | "victim" = "main"
) {
  let shown: Animal | undefined
  for (const filter of Queries.filters) {
    const path = Queries.list(...(yield* Random.shuffle(["limit=100", filter])))
    const { response } = yield* tools.send({ path, key })
    shown = PetJson.listedIn(response)[0] ?? shown
  }
  if (shown !== undefined) yield* tools.send({ path: `/pets/${shown.id}`, key })
})

/** Sends a creation, and gets the animal with the same key if the response shows one; returns the animal. */
export const createAndGet = Effect.fnUntraced(function* (tools: Tools, sent: Sent) {
  const { request, response } = yield* tools.send(sent)
  const animal = response && CreatedAnimal.of({ request, response })
  if (animal) yield* tools.send({ ...(sent.key && { key: sent.key }), path: `/pets/${animal.id}` })
  return animal || undefined
})

/** Sends all creations and gets half of what they create; looks at the lists after and between them. */
export const createAll = Effect.fnUntraced(function* (tools: Tools, sent: ReadonlyArray<Sent>) {
  for (const [index, each] of sent.entries()) {
    yield* (yield* Random.nextBoolean) ? createAndGet(tools, each) : tools.send(each)
    if (index % BETWEEN_LOOKS === BETWEEN_LOOKS - 1 || index === sent.length - 1) yield* lookAtLists(tools)
  }
})

/** Number of creations between two looks at the lists. */
const BETWEEN_LOOKS = 80
