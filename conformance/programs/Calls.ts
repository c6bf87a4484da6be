/** Lists requests of each operation and outcome, and helpers that programs send them with. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Animal } from "../http/Animal.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import type { Exchange } from "../model/Exchange.ts"
import * as Bodies from "./Bodies.ts"
import * as Draw from "./Draw.ts"
import * as Headers from "./Headers.ts"
import * as Names from "./Names.ts"
import type { Sent, Stopped, Tools } from "./Program.ts"
import * as Queries from "./Queries.ts"

/** An id that no animal is likely to have. */
export const UNKNOWN_ID = "5318008317345021"

interface Values {
  readonly name?: string | undefined
  /** In JSON. */
  readonly categoryId?: string | undefined
  readonly status?: string | undefined
}

/** Returns the members of an animal that every server accepts, with these values instead. */
export const members = ({ categories, name }: Tools, values: Values = {}): Bodies.Members => [
  ["name", JSON.stringify(values.name ?? name())],
  ["categoryId", values.categoryId ?? String(categories === "any" ? 1n : (categories[0] ?? 1n))],
  ...(values.status === undefined ? [] : [["status", JSON.stringify(values.status)] as const])
]

/** Draws the status of a new animal; `undefined` for a creation without a status. */
export const newStatus = Draw.one([...Queries.statuses, undefined])

/** Draws a creation that every server accepts. */
export const creation = (tools: Tools): Effect.Effect<Sent> =>
  Effect.map(newStatus, (status) => Bodies.creation(members(tools, { status })))

type Call = (tools: Tools) => Effect.Effect<Sent>

const fixed =
  (method: string, path: string): Call =>
  () =>
    Effect.succeed({ method, path })

const ofAnimal =
  (method: string, choose: (animals: ReadonlyArray<Animal>) => Animal | undefined): Call =>
  ({ created }) =>
    Effect.sync(() => ({ method, path: `/pets/${choose(created())?.id ?? UNKNOWN_ID}` }))

/** Requests with a valid key, by their operation and usual outcome. */
export const calls = {
  list: fixed("GET", "/pets?limit=2"),
  create: creation,
  "get the first": ofAnimal("GET", (animals) => animals[0]),
  "get the newest": ofAnimal("GET", (animals) => animals.at(-1)),
  "get none": fixed("GET", `/pets/${UNKNOWN_ID}`),
  "list by status": () =>
    Effect.map(Draw.one(Queries.statuses), (status) => ({
      path: Queries.list(`status=${status}`, "limit=3")
    })),
  "HEAD of the list": fixed("HEAD", "/pets?limit=2"),
  "HEAD of an animal": ofAnimal("HEAD", (animals) => animals[0]),
  "create without a name": () => Effect.succeed(Bodies.creation([["categoryId", "1"]])),
  "create without JSON": () => Effect.succeed(Bodies.creation([], { write: () => "{" })),
  "a limit of 0": fixed("GET", "/pets?limit=0"),
  "OPTIONS of the list": fixed("OPTIONS", "/pets"),
  "another method": fixed("PATCH", "/pets"),
  "an unknown path": fixed("GET", "/nothing"),
  "without a key": () => Effect.succeed({ path: "/pets", authorization: [] })
} as const satisfies { readonly [name: string]: Call }

export type CallName = keyof typeof calls

/** Sends a request of this kind. */
export const send = (tools: Tools, name: CallName): Effect.Effect<Exchange, Stopped> =>
  Effect.flatMap(calls[name](tools), tools.send)

/** Draws a function that adds a header which changes nothing to some requests. */
export const dresser = Effect.map(
  Draw.swarm([...Headers.harmless.map(() => []), ...Headers.harmless]),
  (draw) =>
    Effect.fnUntraced(function* (sent: Sent): Effect.fn.Return<Sent> {
      return { ...sent, headers: [...(sent.headers ?? []), ...(yield* draw)] }
    })
)

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
  const unusual = tools.categories === "any" ? yield* Draw.one(Bodies.inexactCategories) : undefined
  for (const categoryId of [unusual, undefined]) {
    for (const end of Names.ends) {
      const name = tools.name(end)
      yield* tools.send(Bodies.creation(members(tools, { name, categoryId, status })))
      if (tools.created().length > before) return
    }
  }
})

/** Lists all animals and those of each status, with the largest limit. */
export const lookAtLists = ({ send: sendPaced }: Tools): Effect.Effect<void, Stopped> =>
  Effect.forEach([[], ...Queries.statuses.map((status) => [`status=${status}`])], (given) =>
    sendPaced({ path: Queries.list("limit=100", ...given) })
  ).pipe(Effect.asVoid)

/** Sends a creation, and gets the animal if the response shows one. */
export const createAndGet = Effect.fnUntraced(function* (tools: Tools, sent: Sent) {
  const before = tools.created().length
  yield* tools.send(sent)
  const animal = tools.created()[before]
  if (animal !== undefined) yield* tools.send({ path: `/pets/${animal.id}` })
})

/** Sends all creations and gets half of what they create; looks at the lists after and between them. */
export const createAll = Effect.fnUntraced(function* (tools: Tools, all: ReadonlyArray<Sent>) {
  for (const [index, sent] of all.entries()) {
    yield* (yield* Random.nextBoolean) ? createAndGet(tools, sent) : tools.send(sent)
    if (index % BETWEEN_LOOKS === BETWEEN_LOOKS - 1 || index === all.length - 1) yield* lookAtLists(tools)
  }
})

/** Number of creations between two looks at the lists. */
const BETWEEN_LOOKS = 50

/** Maximum wait for the limit of callers without a key in seconds, and maximum number of waits, in real time. */
const [MAX_WAIT_S, MAX_WAITS] = [3, 10]

/**
 * Returns a function that sends requests without a valid key and waits when their limit is used up. Sends nothing more
 * once the waits are too long.
 */
export const sender = ({ advance, hasClock, now, send: sendPaced }: Tools) => {
  let waits = 0
  let isOver = false
  return Effect.fnUntraced(function* (sent: Sent): Effect.fn.Return<void, Stopped> {
    if (isOver) return
    const { response, to } = yield* sendPaced(sent)
    if (response === undefined) return
    const rate = RateHeaders.of(response)
    if (hasClock && rate?.remaining === 0 && rate.limit > 0)
      yield* advance(Math.min(rate.resetAt * 1_000 - (yield* now), MAX_ADVANCE_MS))
    if (response.status !== 429) return
    const seconds = RateHeaders.retryAfterSeconds({ response, receivedAt: to, byClock: hasClock }) ?? 60
    isOver = hasClock ? seconds * 1_000 > MAX_ADVANCE_MS : seconds > MAX_WAIT_S || ++waits > MAX_WAITS
    if (isOver) return
    yield* advance((seconds + 1) * 1_000)
    yield* sendPaced(sent)
  })
}

/** Maximum wait if time can be moved: a day. */
const MAX_ADVANCE_MS = 86_400_000
