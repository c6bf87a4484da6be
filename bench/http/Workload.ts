/** Plans the requests with which servers are measured: one seeded sequence for all servers. */

import * as Random from "../Random.ts"
import { animals, type CallerKind, callerCounts, type Status, statuses } from "./Catalogue.ts"

/** The filter of a list. */
export type Filter = Status | "all"

/** Number of animals per page, the default of `limit`; cursors point to multiples of it. */
export const PAGE_SIZE = 20

/** The caller of a request; "absent" sends no `Authorization` header. */
export interface Sender {
  readonly kind: CallerKind | "absent"
  readonly index: number
}

/** One request, without the data that differs between servers: tokens, cursors and the port. */
export interface PlannedRequest {
  readonly kind: Kind
  readonly method: "GET" | "POST"
  /** Path and query, without the cursor. */
  readonly target: string
  /** The cursor at the end of the target: the number of a page of `PAGE_SIZE` animals. */
  readonly cursor?: { readonly filter: Filter; readonly page: number }
  readonly sender: Sender
  readonly body?: string
  /** The status of the correct response. */
  readonly status: number
}

const LIST = "/v1/pets"
const LIMITS = [20, 50, 100]
const MAX_PAGE_SIZE = 100
/** An id that no run reaches. */
const UNUSED_ID = 1_000_000_000
/** Distance in the catalogue between animals of consecutive ranks; a prime number, so that frequent animals are scattered. */
const STRIDE = 7_919

/** Returns the number of stable pages after the first: those that stay the same when animals are created during a run. */
const deepPages = (filter: Filter): number => {
  const length = filter === "all" ? animals.length : animals.length / statuses.length
  return Math.floor((length - MAX_PAGE_SIZE) / PAGE_SIZE)
}

const zipf = {
  sender: {
    unlimited: Random.zipf(callerCounts.unlimited),
    exhausted: Random.zipf(callerCounts.exhausted),
    unknown: Random.zipf(callerCounts.unknown)
  },
  animal: Random.zipf(animals.length),
  page: { all: Random.zipf(deepPages("all")), filtered: Random.zipf(deepPages("sold")) }
}

const pick = <A>(random: Random.Random, values: ReadonlyArray<A>): A => {
  const value = values[Random.integerBelow(random, values.length)]
  if (value === undefined) throw new Error("the list of values is empty")
  return value
}

const sender = (random: Random.Random, kind: CallerKind): Sender => ({
  kind,
  index: zipf.sender[kind](random) - 1
})

const animalId = (random: Random.Random): number => 1 + ((zipf.animal(random) * STRIDE) % animals.length)

/** The target and cursor of a read. */
type ReadTarget = Pick<PlannedRequest, "target" | "cursor">

const deepPage = (random: Random.Random): ReadTarget => ({
  target: LIST,
  cursor: { filter: "all", page: zipf.page.all(random) }
})

const filteredPage = (random: Random.Random): ReadTarget => {
  const filter = pick(random, statuses)
  const page = zipf.page.filtered(random) - 1
  return {
    target: `${LIST}?limit=${pick(random, LIMITS)}&status=${filter}`,
    ...(page === 0 ? {} : { cursor: { filter, page } })
  }
}

const firstNames = ["Rex", "Bella", "Søren", "Zoë", "Sir Barks-a-lot", "Old Tom", "Ada"]
const lastNames = ["of the Hill", "the Second", "from Łódź", "", "Featherstone", "Jr."]

const newAnimal = (random: Random.Random) => ({
  name: `${pick(random, firstNames)} ${pick(random, lastNames)} ${Random.integerBelow(random, 100_000)}`,
  categoryId: Random.integerBelow(random, 10_000),
  ...(random() < 0.5 ? { status: pick(random, statuses) } : {})
})

const creation = (body: object) => ({ method: "POST", target: LIST, body: JSON.stringify(body) }) as const

/** Invalid requests. Their bodies are well-formed JSON, because Fastify closes the connection after any other body. */
const invalid: ReadonlyArray<(random: Random.Random) => Pick<PlannedRequest, "method" | "target" | "body">> =
  [
    (random) => ({
      method: "GET",
      target: `${LIST}?limit=${MAX_PAGE_SIZE + 1 + Random.integerBelow(random, 800)}`
    }),
    (random) => ({ method: "GET", target: `${LIST}?status=lost${Random.integerBelow(random, 1_000)}` }),
    (random) => creation({ ...newAnimal(random), name: Random.integerBelow(random, 1_000) }),
    (random) => creation({ ...newAnimal(random), status: `lost${Random.integerBelow(random, 1_000)}` }),
    (random) => creation({ name: newAnimal(random).name })
  ]

/** Draws a read of one animal or of a page, for responses with any status. */
const anyRead = (random: Random.Random): ReadTarget =>
  random() < 0.5 ? { target: `${LIST}/${animalId(random)}` } : deepPage(random)

const read = (random: Random.Random, target: ReadTarget) =>
  ({ method: "GET", ...target, sender: sender(random, "unlimited"), status: 200 }) as const

/** The kinds of requests, each with a function that draws a request. */
const kinds = {
  "first page": (random) => read(random, { target: LIST }),
  "deep page": (random) => read(random, deepPage(random)),
  "filtered page": (random) => read(random, filteredPage(random)),
  get: (random) => read(random, { target: `${LIST}/${animalId(random)}` }),
  create: (random) => ({
    ...creation(newAnimal(random)),
    sender: sender(random, "unlimited"),
    status: 201
  }),
  "401 no key": (random) => ({
    ...read(random, anyRead(random)),
    sender: { kind: "absent", index: 0 },
    status: 401
  }),
  "401 unknown key": (random) => ({
    ...read(random, anyRead(random)),
    sender: sender(random, "unknown"),
    status: 401
  }),
  "404": (random) => ({
    ...read(random, { target: `${LIST}/${UNUSED_ID + Random.integerBelow(random, UNUSED_ID)}` }),
    status: 404
  }),
  "400": (random) => ({
    ...pick(random, invalid)(random),
    sender: sender(random, "unlimited"),
    status: 400
  }),
  "429": (random) => ({
    ...read(random, anyRead(random)),
    sender: sender(random, "exhausted"),
    status: 429
  })
} as const satisfies Readonly<Record<string, (random: Random.Random) => Omit<PlannedRequest, "kind">>>

export type Kind = keyof typeof kinds

/** The share of each kind of request, in percent. */
type Shares = Readonly<Partial<Record<Kind, number>>>

/** A sequence of requests to be measured. */
export interface Workload {
  readonly name: string
  readonly shares: Shares
}

/** The default workload; the shares add up to 100%. */
export const mix: Workload = {
  name: "mix",
  shares: {
    "first page": 35,
    "deep page": 15,
    "filtered page": 12,
    get: 22,
    create: 8,
    "401 no key": 1,
    "401 unknown key": 1,
    "404": 2,
    "400": 2,
    "429": 2
  }
}

/** Each operation and each error alone. `create` is the last, because its animals stay in the store. */
export const operations: ReadonlyArray<Workload> = [
  { name: "list 20", shares: { "first page": 15, "deep page": 85 } },
  { name: "list filtered", shares: { "filtered page": 100 } },
  { name: "get", shares: { get: 100 } },
  { name: "401 no key", shares: { "401 no key": 100 } },
  { name: "401 unknown key", shares: { "401 unknown key": 100 } },
  { name: "404", shares: { "404": 100 } },
  { name: "400", shares: { "400": 100 } },
  { name: "429", shares: { "429": 100 } },
  { name: "create", shares: { create: 100 } }
]

/** Operations that only read, because created animals would increase the memory in use. */
export const reads: ReadonlyArray<Workload> = operations.filter(
  ({ name }) => name === "list 20" || name === "get"
)

/** Returns the content of a request, without the sender. */
const contentOf = ({ body, cursor, target }: PlannedRequest): string =>
  `${target} ${cursor?.filter} ${cursor?.page} ${body}`

/** Whether two requests have the same key or content. The mix may repeat content: many clients read the first page. */
const areAlike = (workload: Workload, first: PlannedRequest, second: PlannedRequest): boolean =>
  (first.sender.kind === second.sender.kind &&
    first.sender.index === second.sender.index &&
    first.sender.kind !== "absent") ||
  (workload.name !== mix.name && contentOf(first) === contentOf(second))

const draw = ({ shares }: Workload, random: Random.Random): PlannedRequest => {
  let left = random() * 100
  let drawn: Kind | undefined
  for (const kind of Object.keys(kinds) as ReadonlyArray<Kind>) {
    const share = shares[kind] ?? 0
    if (share === 0) continue
    drawn = kind
    left -= share
    if (left < 0) break
  }
  if (drawn === undefined) throw new Error("the workload has no requests")
  return { kind: drawn, ...kinds[drawn](random) }
}

/** Draws the first `count` requests of a workload for a seed; consecutive requests differ. */
export const plan = (workload: Workload, seed: number, count: number): ReadonlyArray<PlannedRequest> => {
  const random = Random.seeded(seed)
  const requests: Array<PlannedRequest> = []
  while (requests.length < count) {
    const next = draw(workload, random)
    const previous = requests.at(-1)
    if (previous === undefined || !areAlike(workload, previous, next)) requests.push(next)
  }
  return requests
}

/** A workload with a number of connections; it is one row of the results. */
export interface Case {
  readonly name: string
  readonly workload: Workload
  readonly connections: number
}

export const DEFAULT_CONNECTIONS = 64
/** Number of connections for the reads, in addition to the default and to one connection. */
export const MAX_CONNECTIONS = 256

/** Returns the name of a case: the workload, and the number of connections unless it is the default. */
export const atConnections = (workload: string, connections: number): string =>
  connections === DEFAULT_CONNECTIONS
    ? workload
    : `${workload}, ${connections} ${connections === 1 ? "connection" : "connections"}`

const casesWith = (connections: number, workloads: ReadonlyArray<Workload>): ReadonlyArray<Case> =>
  workloads.map((workload) => ({
    name: atConnections(workload.name, connections),
    workload,
    connections
  }))

/** The operations that the mix alone measures. */
const onlyInMix = ["list filtered", "404", "400"]

/** All cases that are measured over HTTP, in this order. */
export const cases: ReadonlyArray<Case> = [
  ...casesWith(DEFAULT_CONNECTIONS, [mix, ...operations.filter(({ name }) => !onlyInMix.includes(name))]),
  ...casesWith(1, reads),
  ...casesWith(MAX_CONNECTIONS, reads)
]
