/** Lists requests of each operation and outcome, and helpers that programs send them with. */
import * as Effect from "effect/Effect"
import type { Animal } from "../http/Animal.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import type { Exchange } from "../model/Exchange.ts"
import * as Bodies from "./Bodies.ts"
import * as Draw from "./Draw.ts"
import type { Sent, Stopped, Tools } from "./Program.ts"
import * as Queries from "./Queries.ts"

/** An id that no animal is likely to have. */
export const UNKNOWN_ID = "5318008317345021"

/** Returns the members of an animal that every server accepts, with these values in JSON instead. */
export const members = (
  { categories, name }: Tools,
  given: { readonly name?: string; readonly categoryId?: string; readonly status?: string } = {}
): Bodies.Members => [
  ["name", given.name ?? JSON.stringify(name())],
  ["categoryId", given.categoryId ?? String(categories === "any" ? 1n : (categories[0] ?? 1n))],
  ...(given.status === undefined ? [] : [["status", JSON.stringify(given.status)] as const])
]

/** The statuses of new animals; `undefined` for a creation without a status. */
export const newStatuses = [...Queries.statuses, undefined] as const

/** Draws a creation that every server accepts. */
export const creation = (tools: Tools): Effect.Effect<Sent> =>
  Effect.map(Draw.one(newStatuses), (status) =>
    Bodies.creation(members(tools, status === undefined ? {} : { status }))
  )

type Call = (tools: Tools) => Effect.Effect<Sent>

const fixed =
  (method: string, path: string): Call =>
  () =>
    Effect.succeed({ method, path })

const ofAnimal =
  (method: string, choose: (animals: ReadonlyArray<Animal>) => Animal | undefined): Call =>
  ({ created }) =>
    Effect.sync(() => ({ method, path: `/pets/${choose(created())?.id ?? UNKNOWN_ID}` }))

/** Requests of each operation that a valid key may send, and their usual outcome. */
export const calls = {
  list: fixed("GET", "/pets?limit=2"),
  create: creation,
  "get the newest": ofAnimal("GET", (animals) => animals.at(-1)),
  "get the first": ofAnimal("GET", (animals) => animals[0]),
  "get none": fixed("GET", `/pets/${UNKNOWN_ID}`),
  "list all": fixed("GET", "/pets"),
  "list by status": () =>
    Effect.map(Draw.one(Queries.statuses), (status) => ({
      path: Queries.list(`status=${status}`, "limit=3")
    })),
  "HEAD of the list": fixed("HEAD", "/pets?limit=2"),
  "HEAD of an animal": ofAnimal("HEAD", (animals) => animals[0]),
  "HEAD of none": fixed("HEAD", `/pets/${UNKNOWN_ID}`),
  "create without a name": () => Effect.succeed(Bodies.creation([["categoryId", "1"]])),
  "create without JSON": () => Effect.succeed(Bodies.creation([], { write: () => "{" })),
  "create with another type": (tools) =>
    Effect.succeed(Bodies.creation(members(tools), Bodies.plain, ["text/plain"])),
  "a limit of 0": fixed("GET", "/pets?limit=0"),
  "an unknown status": fixed("GET", "/pets?status=lost"),
  "OPTIONS of the list": fixed("OPTIONS", "/pets"),
  "another method": fixed("PATCH", "/pets"),
  "no id": fixed("GET", "/pets/abc"),
  "an unknown path": fixed("GET", "/nothing"),
  "without a key": () => Effect.succeed({ path: "/pets", authorization: [] })
} as const satisfies { readonly [name: string]: Call }

export type CallName = keyof typeof calls

/** Sends a request of this kind. */
export const send = (tools: Tools, name: CallName): Effect.Effect<Exchange, Stopped> =>
  Effect.flatMap(calls[name](tools), tools.send)

/** Creates animals until the run has created this many. */
export const stock = Effect.fnUntraced(function* (tools: Tools, animals: number, status?: string) {
  const missing =
    animals - tools.created().filter((each) => status === undefined || each.status === status).length
  for (let more = 0; more < missing; more++) {
    yield* status === undefined
      ? send(tools, "create")
      : tools.send(Bodies.creation(members(tools, { status })))
  }
})

/** Lists all animals and those of each status, with the largest limit. */
export const lookAtLists = ({ send: sendPaced }: Tools): Effect.Effect<void, Stopped> =>
  Effect.forEach(["", ...Queries.statuses], (status) =>
    sendPaced({ path: Queries.list("limit=100", ...(status === "" ? [] : [`status=${status}`])) })
  ).pipe(Effect.asVoid)

/** Sends a creation, and gets the animal if the response shows one. */
export const createAndGet = Effect.fnUntraced(function* (tools: Tools, sent: Sent) {
  const before = tools.created().length
  yield* tools.send(sent)
  const animal = tools.created()[before]
  if (animal !== undefined) yield* tools.send({ path: `/pets/${animal.id}` })
})

/** Sends every creation and looks at what they created: each animal at once, and the lists after each `few` creations. */
export const createAll = Effect.fnUntraced(function* (tools: Tools, all: ReadonlyArray<Sent>, few = 30) {
  for (const [index, sent] of all.entries()) {
    yield* createAndGet(tools, sent)
    if (index % few === few - 1 || index === all.length - 1) yield* lookAtLists(tools)
  }
})

/** Maximum wait for the limit of callers without a key, and maximum number of such waits, if the wait is in real time. */
const [MAX_WAIT_S, MAX_WAITS] = [3, 10]

/**
 * Returns a function that sends requests without a valid key. After a 429 it waits, then sends the request again; once
 * waits become too long, it sends nothing more.
 */
export const sender = ({ advance, hasClock, send: sendPaced }: Tools) => {
  let waits = 0
  let isOver = false
  return Effect.fnUntraced(function* (sent: Sent): Effect.fn.Return<void, Stopped> {
    if (isOver) return
    const { response, to } = yield* sendPaced(sent)
    if (response?.status !== 429) return
    const seconds = RateHeaders.retryAfterSeconds({ response, receivedAt: to, byClock: hasClock }) ?? 60
    isOver = hasClock ? seconds > 86_400 : seconds > MAX_WAIT_S || ++waits > MAX_WAITS
    if (isOver) return
    yield* advance((seconds + 1) * 1_000)
    yield* sendPaced(sent)
  })
}
