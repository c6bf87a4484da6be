/** The port `ApiKeyStore`, with the boundary cases of its calls. */
import * as Effect from "effect/Effect"
import * as Plan from "../../core/limits/Plan.ts"
import { ApiKeyStore } from "../../core/ports/ApiKeyStore.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import type { Call, Draft, Event } from "./KeyCalls.ts"
import * as KeyCalls from "./KeyCalls.ts"
import * as KeyModel from "./KeyModel.ts"
import { alone, type Case, type ClientCall, type Port } from "./Port.ts"
import * as Texts from "./Texts.ts"

const plain: Draft = {
  plan: "Free",
  limits: Plan.standard.Free,
  label: null,
  createdAt: 1,
  revokedAt: null,
  expiresAt: null,
  secretAt: 1,
  previous: null
}
const previous = { createdAt: 1, expiresAt: 2 }

const insert = (draft: Partial<Draft> = {}, event: Event = null): Call => ({
  do: "insert",
  draft: { ...plain, ...draft },
  event
})
const insertFirst = (event: Event = null): Call => ({ do: "insertFirst", draft: plain, event })
const update = (
  change: string,
  id: number | string,
  more: { text?: string; result?: string; event?: Event } = {}
): Call => ({
  do: "update",
  id,
  change,
  text: more.text ?? null,
  result: more.result ?? null,
  event: more.event ?? null
})
const advance = update("advance", 0)
const list: Call = { do: "list" }
const find = (hash: number, edit = "none"): Call => ({ do: "find", hash, edit })
const findAll = (count: number): ReadonlyArray<Call> => Array.from({ length: count }, (_, hash) => find(hash))

/** Drafts that together cover every unusual label, every plan, and the minimum and maximum of each number. */
const boundaryDrafts: ReadonlyArray<Partial<Draft>> = [
  { revokedAt: 0 },
  { expiresAt: 0 },
  { createdAt: 0, secretAt: 0, previous: { createdAt: 0, expiresAt: 0 } },
  {
    plan: "Enterprise",
    limits: { perMinute: Plan.maxRequests, perDay: Plan.maxRequests },
    createdAt: KeyCalls.LATEST,
    revokedAt: KeyCalls.LATEST,
    expiresAt: KeyCalls.LATEST,
    secretAt: KeyCalls.LATEST,
    previous: { createdAt: KeyCalls.LATEST, expiresAt: KeyCalls.LATEST }
  },
  ...Plan.names.map((plan, index) => ({ plan, limits: { perMinute: index + 1, perDay: 2 ** (8 * index) } })),
  ...Texts.awkward.map((label, index) => ({ label, createdAt: 1_000 - index }))
]

/** A sequence with every kind of change. */
const everyChange: ReadonlyArray<Call> = [
  ...[insertFirst(), insertFirst(), insert({ createdAt: 0, secretAt: 3, previous }), update("rotate", 2)],
  ...[update("rotate at once", 0), update("rotate", 0), update("relabel", 0, { text: "%" })],
  ...[update("replan", 2), update("revoke", 2), update("rotate", 2), update("relabel", 0)],
  ...[update("revoke", 9), insert()]
]

const issued = { at: 5, actor: "root", action: "issued", changes: {} } as const
const changed = {
  at: 4,
  actor: "ana\n№1",
  action: "changed",
  changes: { label: { from: null, to: "'\"\\" }, perDay: { from: 1, to: Number.MAX_SAFE_INTEGER } }
} as const
const marks: ReadonlyArray<readonly [ReadonlyArray<number>, day: number]> = [
  [[0, 2, 4], 5],
  [[0, 1], 4],
  [[], 9],
  [[2], 0],
  [[2], 6]
]

/** Interrupts a call after more and more turns, and looks at the store after each. */
const interrupted = (made: Call): ReadonlyArray<ClientCall<Call>> =>
  [0, 1, 2, 3, 4, 6, 8, 12].flatMap((turns, index) => [
    { call: made, turns },
    ...alone(made.do === "insert" ? [find(2 + 2 * index), find(3 + 2 * index), list] : []),
    ...alone([advance])
  ])

const times = <A>(count: number, value: A): ReadonlyArray<A> => Array.from({ length: count }, () => value)
const labels = ["a", "b", "c"].map((text, index) => update("relabel", index, { text }))

const boundaries: ReadonlyArray<Partial<Case<Call>>> = [
  { calls: findAll(2) },
  { calls: [insert(), ...boundaryDrafts.map((draft) => insert(draft))] },
  {
    calls: [
      ...[insert(), insert({ secretAt: 5, previous }), insert({ revokedAt: 3 })],
      ...[insert({ revokedAt: 3, secretAt: 5, previous }), insert()],
      ...findAll(7).flatMap((_, hash) => Object.keys(KeyCalls.edits).map((edit) => find(hash, edit)))
    ]
  },
  // Hashes are also searched before they exist, so that a cache that ignores changes is detected.
  { calls: everyChange.flatMap((call) => [call, ...findAll(24)]) },
  { calls: everyChange.flatMap((call) => [call, list]) },
  {
    calls: [...[3, 1, 2, 2, 5, 0, 4, 9, 8, 7, 6, 10].map((createdAt) => insert({ createdAt })), advance, list]
  },
  ...Object.keys(KeyCalls.results).map((result) => ({
    calls: [insert(), insert(), update("relabel", 0, { text: "x", result }), list]
  })),
  { calls: [...times(3, insert()), ...KeyCalls.unknownIds.map((id) => update("relabel", id)), list] },
  {
    calls: [
      ...[insertFirst(issued), insertFirst(issued), insert({}, { ...issued, at: 3 }), update("nothing", 1)],
      ...[0, 1, 2, 7].map((id) => update("relabel", id, { event: { ...changed, at: 9 - id } })),
      update("nothing", 0, { event: { ...changed, action: "unbanned", changes: {} } }),
      ...[null, 0, 1, 2, 7].map((id): Call => ({ do: "events", id }))
    ]
  },
  {
    calls: [
      ...[insert(), insert({ revokedAt: 3 }), insert()],
      ...marks.flatMap(([all, day]): ReadonlyArray<Call> => [{ do: "seen", marks: all, day }, list]),
      ...[update("relabel", 0), list]
    ]
  },
  { calls: [insert(), update("throw", 0), list, update("throw", 7), list] },
  {
    calls: [insert()],
    clients: [...times(4, alone([advance, advance])), alone([update("throw", 0)])]
  },
  { calls: [insert({ createdAt: 0 })], clients: times(100, alone([advance])) },
  { clients: times(50, alone([insertFirst()])) },
  ...[null, 1, 2, 3].flatMap(
    (order): ReadonlyArray<Partial<Case<Call>>> => [
      { order, clients: times(3, alone([insertFirst(), ...labels])) },
      { order, calls: [insert()], clients: times(3, alone(times(4, advance))) },
      { order, clients: times(5, alone([insertFirst()])) }
    ]
  ),
  ...[1, 2, 3].flatMap((order) =>
    [insert({ previous }), advance].map((call) => ({
      order,
      calls: [insert({ previous })],
      clients: [interrupted(call)]
    }))
  )
]

export const keys: Port<ApiKeyStore, ApiKeyStore["Service"], KeyModel.State, Call, KeyModel.Output> = {
  name: "keys-store",
  tag: ApiKeyStore,
  storeOf: ({ apiKeyStore }) => apiKeyStore,
  clauses: { interruption: "keys-store.interruption", failsTyped: "keys-store.fails-typed" },
  owns: (clause) => clause.startsWith("keys-store."),
  initial: KeyModel.initial,
  key: KeyModel.stateKey,
  rank: KeyModel.rank,
  failing: {
    insert: "keys-store.insert",
    insertFirst: "keys-store.insert-first",
    update: "keys-store.update.atomic",
    find: "keys-store.find.by-hash",
    list: "keys-store.list.all",
    events: "keys-store.events",
    seen: "keys-store.mark-seen"
  },
  concurrent: (made) =>
    made.some((call) => call.do === "update") ? "keys-store.update.atomic" : "keys-store.insert-first.atomic",
  show: KeyModel.show,
  client: KeyCalls.client,
  examine: ({ events, markSeen }) => {
    const lacking = new Map<ClauseSlug, string>()
    if (events === undefined) lacking.set("keys-store.events", "the store records no events")
    if (markSeen === undefined)
      lacking.set("keys-store.mark-seen", "the store does not record when keys were used")
    return Effect.succeed({ lacking, undecided: new Map() })
  },
  calls: KeyCalls.calls,
  boundaries,
  outage: [
    ...[find(0), insert(), insertFirst(), update("relabel", 0), update("throw", 0), list],
    ...([
      { do: "events", id: null },
      { do: "seen", marks: [0], day: 1 }
    ] as const)
  ]
}
