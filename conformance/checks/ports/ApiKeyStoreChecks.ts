/**
 * The promises of ApiKeyStore. A store that documents staleness has to be opened without, unless it sees its own writes
 * at once.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import * as ApiKey from "../../../core/access/ApiKey.ts"
import { expect, type Failure, type Violation } from "../../engine/Outcome.ts"
import type { Trial } from "../../engine/Trial.ts"
import type { Model } from "../../linearizability/Linearizability.ts"
import { type Check, define } from "../Check.ts"
import * as Concurrency from "./Concurrency.ts"
import * as Keys from "./Keys.ts"
import * as Texts from "./Texts.ts"

/** A change of the key that stands at a place in the list, if there is one. */
type Change =
  | { readonly rotate: number; readonly overlapMs: number }
  | { readonly revoke: number }
  | { readonly relabel: number; readonly label: string | undefined }
  | { readonly replan: number; readonly draft: Keys.Draft }

type Command = { readonly insert: Keys.Draft } | { readonly insertFirst: Keys.Draft } | Change

const position = fc.nat(6)

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ insert: Keys.draft }) },
  fc.record({ insertFirst: Keys.draft }),
  { weight: 2, arbitrary: fc.record({ rotate: position, overlapMs: fc.nat(1_000) }) },
  fc.record({ revoke: position }),
  fc.record({ relabel: position, label: fc.option(Texts.text, { nil: undefined }) }),
  fc.record({ replan: position, draft: Keys.draft })
)

/** Which key is changed, into what, and what for. */
const changeOf = (
  change: Change,
  hash: string,
  now: number
): {
  readonly did: string
  readonly place: number
  readonly change: (key: ApiKey.ApiKey) => ApiKey.ApiKey
} => {
  if ("rotate" in change) {
    const rotated = (key: ApiKey.ApiKey) =>
      Result.getOrElse(ApiKey.rotate(key, hash, change.overlapMs, now), () => key)
    return { did: "rotate", place: change.rotate, change: rotated }
  }
  if ("revoke" in change) {
    return { did: "revoke", place: change.revoke, change: (key) => ApiKey.revoke(key, now) }
  }
  if ("relabel" in change) {
    const { label } = change
    return { did: "relabel", place: change.relabel, change: (key) => ({ ...key, label }) }
  }
  const { limits, plan } = change.draft
  return { did: "change the plan of", place: change.replan, change: (key) => ({ ...key, plan, limits }) }
}

/** A life with everything in it. */
const life: ReadonlyArray<Command> = [
  { insertFirst: Keys.plain },
  { insertFirst: Keys.plain },
  { insert: { ...Keys.plain, createdAt: 0, secrets: [3, { createdAt: 1, expiresAt: 2 }] } },
  { rotate: 1, overlapMs: 10 },
  { rotate: 0, overlapMs: 0 },
  { rotate: 0, overlapMs: 10 },
  { relabel: 0, label: "%" },
  { replan: 1, draft: { ...Keys.plain, plan: "Pro", limits: { perMinute: 7, perDay: 8 } } },
  { revoke: 1 },
  { rotate: 1, overlapMs: 10 },
  { relabel: 0, label: undefined },
  { revoke: 9 },
  { insert: Keys.plain }
]

/** Runs a history against the store and an array; hands over what the array came to and all hashes that ever were. */
const run = (
  keys: Keys.Keys,
  commands: ReadonlyArray<Command>,
  trial: Trial,
  afterEach: (model: ReadonlyArray<ApiKey.ApiKey>) => Effect.Effect<void, Failure>
) =>
  Effect.gen(function* () {
    const model: Array<ApiKey.ApiKey> = []
    const hashes: Array<string> = []
    const newHash = (): string => {
      const hash = Keys.hash(hashes.length)
      hashes.push(hash)
      return hash
    }
    for (const [now, one] of commands.entries()) {
      if ("insert" in one) {
        const key = Keys.make(one.insert, now, newHash)
        yield* Keys.insert(keys, key, trial)
        model.push(key)
      } else if ("insertFirst" in one) {
        const key = Keys.make(one.insertFirst, now, newHash)
        const isFirst = model.length === 0
        const answer = yield* Keys.insertFirst(keys, key, trial)
        yield* expect(
          answer === isFirst,
          isFirst ? "the first key to be inserted" : "a key that is not the first to be refused",
          answer ? "it inserted" : "it refused"
        )
        if (isFirst) model.push(key)
      } else {
        const { change, did, place } = changeOf(one, newHash(), now)
        const before = model[place]
        const answer = yield* Keys.update(
          keys,
          before?.id ?? "key_unknown",
          did,
          (key) => [key, change(key)],
          trial
        )
        yield* Keys.expectAll(
          Option.toArray(answer),
          before === undefined ? [] : [before],
          "the key as it was before the change, which is what the change answers"
        )
        if (before !== undefined) model[place] = change(before)
      }
      yield* afterEach(model)
    }
    return { model, hashes }
  })

/** Looks for each hash that ever was, and for others much like them. */
const findAll = (
  keys: Keys.Keys,
  model: ReadonlyArray<ApiKey.ApiKey>,
  hashes: ReadonlyArray<string>,
  trial: Trial
): Effect.Effect<void, Failure> =>
  Effect.forEach(
    [...hashes, ...[0, 1, 2, 3].map((more) => Keys.hash(hashes.length + more))],
    (hash) => {
      const owners = model.filter((key) => key.secrets.some((secret) => secret.hash === hash))
      return Effect.flatMap(Keys.find(keys, hash, trial), (found) =>
        Keys.expectAll(Option.toArray(found), owners, "whose secret it is")
      )
    },
    { discard: true }
  )

/** Changes that fail by a defect of who made them. */
const throwing = (keys: Keys.Keys, id: string, trial: Trial): Effect.Effect<void, Violation> => {
  const change = (): never => {
    throw new Error("a bug in the change")
  }
  const did = `make a change that throws to ${id}`
  return Effect.flatMap(Effect.exit(Effect.suspend(() => keys.update(id, change))), (exit) => {
    trial.record({ did, got: Exit.isSuccess(exit) ? "an answer" : "a failure" })
    return expect(Exit.isFailure(exit), `a failure to ${did}`, "an answer")
  })
}

/** A key as it is just now. */
const current = (
  keys: Keys.Keys,
  id: string,
  trial: Trial
): Effect.Effect<ApiKey.ApiKey | undefined, Violation> =>
  Effect.map(Keys.list(keys, trial), (all) => all.find((key) => key.id === id))

/** Makes a key one older by the time of its creation, and answers with what that was. */
const age = (keys: Keys.Keys, id: string, trial: Trial): Effect.Effect<number | undefined, Violation> =>
  Effect.map(
    Keys.update(
      keys,
      id,
      "count up the creation time of",
      (key) => [key.createdAt, { ...key, createdAt: key.createdAt + 1 }],
      trial
    ),
    Option.getOrUndefined
  )

/** What a client of several does: inserts a first key of its own, or puts its number into the label of one. */
type Call = { readonly first: number } | { readonly relabel: number }

/** Who inserted the first key, and what is its label; 0 for nobody and none. */
const firstKey: Model<{ readonly owner: number; readonly label: number }, Call, number> = {
  initial: { owner: 0, label: 0 },
  step: (state, call, output) => {
    if ("first" in call) {
      const inserted = state.owner === 0
      if (output !== undefined && output !== Number(inserted)) return undefined
      return inserted ? { owner: call.first, label: 0 } : state
    }
    return output === undefined || output === state.label ? { ...state, label: call.relabel } : undefined
  },
  key: ({ label, owner }) => `${owner} ${label}`,
  show: (call, output) =>
    "first" in call
      ? `key ${call.first} ${output === 1 ? "inserted" : "refused"} as the first`
      : `label ${call.relabel} put in place of ${output}`
}

/** Lets clients insert the first key and then relabel it, all at once, and looks for an order that explains it. */
const atOnce = (
  keys: Keys.Keys,
  programs: ReadonlyArray<number>,
  trial: Trial
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const history = new Concurrency.History<Call, number>()
    let labels = 0
    const calls = programs.map((relabels, index) => {
      const own = index + 1
      const key = { ...Keys.make(Keys.plain, 0, () => Keys.hash(index)) }
      const first = (client: number): Effect.Effect<number, Failure> =>
        history.record(client, { first: own }, Effect.map(Keys.insertFirst(keys, key, trial), Number))
      const relabel = (): ((client: number) => Effect.Effect<number, Failure>) => {
        const label = ++labels
        const change = Keys.update(
          keys,
          key.id,
          `put the label ${label} on`,
          (before) => [Number(before.label ?? 0), { ...before, label: String(label) }],
          trial
        )
        return (client) =>
          history.record(
            client,
            { relabel: label },
            Effect.map(change, (before) => Option.getOrElse(before, () => -1))
          )
      }
      return [first, ...Array.from({ length: relabels }, relabel)]
    })
    yield* Concurrency.atOnce(calls)
    yield* Concurrency.explained(firstKey, history)
    const left = yield* Keys.list(keys, trial)
    yield* expect(left.length === 1, "one key in the end", `${left.length}`)
  })

const clients = fc.array(fc.nat(3), { minLength: 2, maxLength: 4 })

/** A write that is interrupted after its fiber had so many turns. */
interface Interruption {
  readonly write: "insert" | "update"
  readonly turns: number
}

const interruption: fc.Arbitrary<Interruption> = fc.record({
  write: fc.constantFrom("insert", "update"),
  turns: fc.oneof(fc.nat(8), fc.nat(40))
})

const writes = ["insert", "update"] as const

/** Interrupts writes and looks at what is left. */
const interrupted = (
  keys: Keys.Keys,
  rounds: ReadonlyArray<Interruption>,
  trial: Trial
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const two = { ...Keys.plain, secrets: [1, { createdAt: 0, expiresAt: 9 }] as const }
    const [steady, ...doomed] = Keys.all([two, ...rounds.map(() => two)])
    if (steady === undefined) return
    yield* Keys.insert(keys, steady, trial)
    let acknowledged = 0
    let unknown = 0
    for (const [index, { turns, write }] of rounds.entries()) {
      const key = doomed[index] ?? steady
      const call =
        write === "insert"
          ? Effect.suspend(() => keys.insert(key))
          : Effect.suspend(() =>
              keys.update(steady.id, (before) => [0, { ...before, createdAt: before.createdAt + 1 }])
            )
      const fiber = yield* Effect.forkChild(Effect.asVoid(call))
      for (let turn = 0; turn < turns; turn++) yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      trial.record({
        did: `${write} ${write === "insert" ? Keys.described(key) : steady.id}, interrupted after ${turns} turns`,
        got: Exit.isSuccess(exit) ? "done" : (Cause.pretty(exit.cause).split("\n")[0] ?? "")
      })
      if (write === "update") {
        if (Exit.isSuccess(exit)) acknowledged++
        else unknown++
      } else {
        // A write that is still under way may come about between two looks, but not be taken back.
        let found = Exit.isSuccess(exit)
        for (const { hash } of key.secrets) {
          const owner = yield* Keys.find(keys, hash, trial)
          yield* Keys.expectAll(
            Option.toArray(owner),
            found || Option.isSome(owner) ? [key] : [],
            "the whole key, by each of its secrets"
          )
          found = Option.isSome(owner)
        }
        const listed = (yield* Keys.list(keys, trial)).filter(({ id }) => id === key.id)
        yield* Keys.expectAll(
          listed,
          found || listed.length > 0 ? [key] : [],
          "of an interrupted insert the whole key, once, or nothing"
        )
      }
      yield* age(keys, steady.id, trial)
      acknowledged++
    }
    const left = yield* current(keys, steady.id, trial)
    const updates = (left?.createdAt ?? 0) - steady.createdAt
    yield* expect(
      updates >= acknowledged && updates <= acknowledged + unknown,
      `${acknowledged} updates, and at most ${unknown} interrupted ones`,
      `${updates}`
    )
    yield* Keys.expectAll(
      left === undefined ? [] : [left],
      [{ ...steady, createdAt: steady.createdAt + updates }],
      "the other fields as they were"
    )
  })

export const checks: ReadonlyArray<Check> = [
  define<"keys", ReadonlyArray<Keys.Draft>>({
    id: "keys-store.insert-exact",
    law: "A key comes back with every field as it was stored, found or listed.",
    clauses: ["keys-store.exact", "keys-store.insert", "keys-store.find.sees-insert"],
    level: "design",
    profile: "port",
    on: "keys",
    requests: 0,
    examples: [Keys.awkward],
    cases: fc.array(Keys.draft, { maxLength: 5 }),
    runs: { port: 20, http: 0 },
    holds: (keys, drafts, trial) =>
      Effect.gen(function* () {
        const all = Keys.all(drafts)
        for (const key of all) {
          yield* Keys.insert(keys, key, trial)
          const [secret] = key.secrets
          const found = secret === undefined ? Option.none() : yield* Keys.find(keys, secret.hash, trial)
          yield* Keys.expectAll(Option.toArray(found), [key], "the key just inserted")
        }
        const listed = yield* Keys.list(keys, trial)
        for (const key of all) {
          const own = listed.filter(({ id }) => id === key.id)
          yield* Keys.expectAll(own, [key], "in the list, once")
        }
      })
  }),

  define<"keys", ReadonlyArray<Keys.Draft>>({
    id: "keys-store.find-each",
    law: "A key is found by the hash of each of its secrets, revoked or expired or not, and by no other.",
    clauses: [
      "keys-store.find.by-hash",
      "keys-store.find.each-secret",
      "keys-store.find.none",
      "keys-store.find.revoked"
    ],
    level: "design",
    profile: "port",
    on: "keys",
    requests: 0,
    mustSee: ["a second secret", "a revoked key"],
    examples: [
      [],
      [
        Keys.plain,
        { ...Keys.plain, secrets: [5, { createdAt: 1, expiresAt: 2 }] },
        { ...Keys.plain, revokedAt: 3 },
        { ...Keys.plain, revokedAt: 3, secrets: [5, { createdAt: 1, expiresAt: 2 }] },
        Keys.plain
      ]
    ],
    cases: fc.array(Keys.draft, { maxLength: 6 }),
    runs: { port: 20, http: 0 },
    holds: (keys, drafts, trial) =>
      Effect.gen(function* () {
        const all = Keys.all(drafts)
        for (const key of all) {
          yield* Keys.insert(keys, key, trial)
          if (key.secrets.length > 1) trial.saw("a second secret")
          if (key.revokedAt !== undefined) trial.saw("a revoked key")
        }
        const hashes = all.flatMap(({ secrets }) => secrets.map(({ hash }) => hash))
        yield* findAll(keys, all, hashes, trial)
        for (const hash of hashes) {
          // one digit off at either end, and all of them moved by one place
          const others = [
            `f${hash.slice(1)}`,
            `${hash.slice(0, -1)}f`,
            `${hash.slice(1)}0`,
            `0${hash.slice(0, -1)}`
          ]
          for (const other of others.filter((one) => !hashes.includes(one))) {
            const found = yield* Keys.find(keys, other, trial)
            yield* Keys.expectAll(Option.toArray(found), [], "no key with this hash")
          }
        }
      })
  }),

  define<"keys", ReadonlyArray<Command>>({
    id: "keys-store.find-after",
    law: "After each change a key is found by the secrets that it has then, and by no other.",
    clauses: [
      "keys-store.find.sees-update",
      "keys-store.find.sees-insert-first",
      "keys-store.find.dropped-secret",
      "keys-store.find.each-secret"
    ],
    level: "design",
    profile: "port",
    on: "keys",
    requests: 0,
    examples: [life],
    cases: fc.array(command, { maxLength: 10, size: "max" }),
    runs: { port: 12, http: 0 },
    holds: (keys, commands, trial) =>
      Effect.asVoid(
        run(keys, commands, trial, (model) =>
          // Before anything is changed, too: what a store keeps in memory has to go with the change.
          findAll(
            keys,
            model,
            Array.from({ length: commands.length * 2 }, (_, index) => Keys.hash(index)),
            trial
          )
        )
      )
  }),

  define<"keys", ReadonlyArray<Command>>({
    id: "keys-store.history",
    law: "After any calls one after the other the list is that of an array to which the same was done.",
    clauses: [
      "keys-store.update.replaces",
      "keys-store.update.answer",
      "keys-store.insert",
      "keys-store.insert-first",
      "keys-store.list.all",
      "keys-store.exact"
    ],
    level: "design",
    profile: "port",
    on: "keys",
    requests: 0,
    examples: [life],
    cases: fc.array(command, { maxLength: 30, size: "max" }),
    runs: { port: 15, http: 0 },
    holds: (keys, commands, trial) =>
      Effect.gen(function* () {
        const { hashes, model } = yield* run(keys, commands, trial, (expected) =>
          Effect.flatMap(Keys.list(keys, trial), (all) => Keys.expectAll(all, expected, "in the list"))
        )
        yield* findAll(keys, model, hashes, trial)
      })
  }),

  define({
    id: "keys-store.list-order",
    law: "The list has every key once, in the order in which they were added, whatever their dates and ids are.",
    clauses: ["keys-store.list.order", "keys-store.list.all"],
    level: "design",
    profile: "port",
    on: "keys",
    requests: 0,
    examples: [{ createdAt: [] }, { createdAt: [3, 1, 2, 2, 5, 0, 4, 9, 8, 7, 6, 10] }],
    cases: fc.record({ createdAt: fc.array(fc.nat(100), { maxLength: 12 }) }),
    runs: { port: 10, http: 0 },
    holds: (keys, { createdAt }, trial) =>
      Effect.gen(function* () {
        const all = Keys.all(createdAt.map((at) => ({ ...Keys.plain, createdAt: at })))
        for (const key of all) yield* Keys.insert(keys, key, trial)
        // A change must not bring a key to another place.
        const [first] = all
        if (first !== undefined)
          yield* Keys.update(keys, first.id, "look at", (key) => [0, { ...key }], trial)
        const listed = yield* Keys.list(keys, trial)
        const ids = (found: ReadonlyArray<ApiKey.ApiKey>): string => found.map(({ id }) => id).join(", ")
        yield* expect(ids(listed) === ids(all), `in this order ${ids(all)}`, ids(listed))
      })
  }),

  define({
    id: "keys-store.update-answer",
    law: "An update answers with the value that the change returns, and stores the other.",
    clauses: ["keys-store.update.answer", "keys-store.update.replaces"],
    level: "design",
    profile: "port",
    on: "keys",
    requests: 0,
    examples: [{ answer: "a text" }, { answer: 0 }, { answer: null }, { answer: undefined }],
    holds: (keys, { answer }, trial) =>
      Effect.gen(function* () {
        const [key, other] = Keys.all([Keys.plain, Keys.plain])
        if (key === undefined || other === undefined) return
        yield* Keys.insert(keys, key, trial)
        yield* Keys.insert(keys, other, trial)
        const change = (before: ApiKey.ApiKey) => [answer, { ...before, label: "changed" }] as const
        const got = yield* Keys.update(keys, key.id, "label", change, trial)
        yield* expect(
          Option.isSome(got) && got.value === answer,
          `the answer ${String(answer)}`,
          Option.isSome(got) ? String(got.value) : "none"
        )
        const left = yield* Keys.list(keys, trial)
        yield* Keys.expectAll(
          left,
          [{ ...key, label: "changed" }, other],
          "one key changed, and the other not"
        )
      })
  }),

  define({
    id: "keys-store.update-unknown",
    law: "An update of an id that no key has answers none and changes nothing.",
    clauses: ["keys-store.update.none"],
    level: "design",
    profile: "port",
    on: "keys",
    requests: 0,
    examples: [0, 1, 3].map((inserts) => ({ inserts })),
    holds: (keys, { inserts }, trial) =>
      Effect.gen(function* () {
        const all = Keys.all(Array.from({ length: inserts }, () => Keys.plain))
        for (const key of all) yield* Keys.insert(keys, key, trial)
        const others = ["key_unknown", "KEY_A0", "key_a", "key_a00", "key_a0 ", "%"]
        for (const id of others) {
          const change = (key: ApiKey.ApiKey) => ["changed", { ...key, label: "changed" }] as const
          const got = yield* Keys.update(keys, id, "label", change, trial)
          yield* expect(Option.isNone(got), `none to the update of ${id}`, "an answer")
        }
        yield* Keys.expectAll(yield* Keys.list(keys, trial), all, "the keys as they were")
      })
  }),

  define({
    id: "keys-store.update-at-once",
    law: "Updates of one key at the same time are made one after the other: each sees what the one before it stored.",
    clauses: ["keys-store.update.atomic"],
    level: "design",
    profile: "port",
    on: "keys",
    requests: 0,
    examples: [{ updates: 100 }],
    holds: (keys, { updates }, trial) =>
      Effect.gen(function* () {
        const [key] = Keys.all([{ ...Keys.plain, createdAt: 0 }])
        if (key === undefined) return
        yield* Keys.insert(keys, key, trial)
        const seen = yield* Effect.forEach(Array.from({ length: updates }), () => age(keys, key.id, trial), {
          concurrency: "unbounded"
        })
        const distinct = new Set(seen).size
        yield* expect(distinct === updates, `${updates} different states seen`, `${distinct}`)
        const left = yield* current(keys, key.id, trial)
        yield* expect(left?.createdAt === updates, `${updates} updates in the end`, `${left?.createdAt}`)
      })
  }),

  define({
    id: "keys-store.insert-first-at-once",
    law: "Of several that insert the first key at the same time exactly one does, and is told so.",
    clauses: ["keys-store.insert-first.atomic", "keys-store.insert-first"],
    level: "design",
    profile: "port",
    on: "keys",
    requests: 0,
    examples: [{ inserts: 50 }],
    holds: (keys, { inserts }, trial) =>
      Effect.gen(function* () {
        const all = Keys.all(Array.from({ length: inserts }, () => Keys.plain))
        const inserted = yield* Effect.forEach(all, (key) => Keys.insertFirst(keys, key, trial), {
          concurrency: "unbounded"
        })
        const winners = all.filter((_, index) => inserted[index])
        yield* expect(winners.length === 1, "exactly one first key", `${winners.length}`)
        yield* Keys.expectAll(yield* Keys.list(keys, trial), winners, "the first key, alone")
      })
  }),

  define({
    id: "keys-store.parallel",
    law: "First inserts and updates at the same time answer as if each took effect at one moment while it ran.",
    clauses: ["keys-store.update.atomic", "keys-store.insert-first.atomic"],
    level: "design",
    profile: "port",
    on: "keys",
    requests: 0,
    examples: [[3, 3, 3]],
    cases: clients,
    runs: { port: 15, http: 0 },
    holds: atOnce
  }),

  define({
    id: "keys-store.interleaved",
    law: "However their own steps are interleaved, first inserts and updates answer as if each took effect at one moment.",
    clauses: ["keys-store.update.atomic", "keys-store.insert-first.atomic"],
    level: "design",
    profile: "port",
    on: "keys",
    requests: 0,
    examples: [1, 2, 3].flatMap((seed) => [
      { seed, clients: [3, 3, 3] },
      { seed, clients: [0, 0, 0, 0, 0] }
    ]),
    cases: fc.record({ seed: Concurrency.seed, clients }),
    runs: { port: 6, http: 0 },
    holds: (keys, { clients: programs, seed }, trial) =>
      Concurrency.interleaved(seed, atOnce(keys, programs, trial))
  }),

  define({
    id: "keys-store.throwing-change",
    law: "A change that throws leaves the key as it was and the store at work.",
    clauses: ["keys-store.update.replaces", "keys-store.update.none", "keys-store.update.atomic"],
    level: "design",
    profile: "port",
    on: "keys",
    requests: 0,
    timeoutMs: 10_000,
    examples: [{ beside: 0 }, { beside: 3 }],
    holds: (keys, { beside }, trial) =>
      Effect.gen(function* () {
        const [key] = Keys.all([{ ...Keys.plain, createdAt: 0 }])
        if (key === undefined) return
        yield* Keys.insert(keys, key, trial)
        yield* throwing(keys, key.id, trial)
        const left = yield* Keys.list(keys, trial)
        yield* Keys.expectAll(left, [key], "the key as it was")
        const others = Array.from({ length: beside }, () => age(keys, key.id, trial))
        yield* Effect.all([...others, throwing(keys, key.id, trial), ...others], {
          concurrency: "unbounded",
          discard: true
        })
        const counted = yield* age(keys, key.id, trial)
        yield* expect(counted === 2 * beside, `${2 * beside} updates by the others`, `${counted}`)
      })
  }),

  define<"keys", { readonly seed: number; readonly rounds: ReadonlyArray<Interruption> }>({
    id: "keys-store.interrupted",
    law: "An interrupted write leaves the whole key, as before or after it, and the store at work.",
    clauses: ["keys-store.interruption"],
    level: "design",
    profile: "port",
    on: "keys",
    requests: 0,
    timeoutMs: 10_000,
    examples: [1, 2, 3].flatMap((seed) =>
      writes.map((write) => ({
        seed,
        rounds: [0, 1, 2, 3, 4, 6, 8, 12].map((turns) => ({ write, turns }))
      }))
    ),
    cases: fc.record({
      seed: Concurrency.seed,
      rounds: fc.array(interruption, { minLength: 1, maxLength: 5 })
    }),
    runs: { port: 5, http: 0 },
    holds: (keys, { rounds, seed }, trial) => Concurrency.interleaved(seed, interrupted(keys, rounds, trial))
  })
]
