/** Laws of `ApiKeyStore` about calls in sequence. A store with a cache must see its own writes immediately. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import * as ApiKey from "../../../core/access/ApiKey.ts"
import { expect, type Failure } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import { type Check, family } from "../Check.ts"
import * as Keys from "./Keys.ts"
import * as Texts from "./Texts.ts"

/** A change of the key at a position of the list; it does nothing if there is no such key. */
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

/** Returns a change as a function of the key, its description for reports, and the position of the key. */
const changeOf = (
  change: Change,
  hash: string,
  now: number
): {
  readonly action: string
  readonly place: number
  readonly change: (key: ApiKey.ApiKey) => ApiKey.ApiKey
} => {
  if ("rotate" in change) {
    const rotated = (key: ApiKey.ApiKey) =>
      Result.getOrElse(ApiKey.rotate(key, hash, change.overlapMs, now), () => key)
    return { action: "rotate", place: change.rotate, change: rotated }
  }
  if ("revoke" in change) {
    return { action: "revoke", place: change.revoke, change: (key) => ApiKey.revoke(key, now) }
  }
  if ("relabel" in change) {
    const { label } = change
    return { action: "relabel", place: change.relabel, change: (key) => ({ ...key, label }) }
  }
  const { limits, plan } = change.draft
  return { action: "change the plan of", place: change.replan, change: (key) => ({ ...key, plan, limits }) }
}

/** A sequence of commands with every kind of change. */
const everyKindOfCommand: ReadonlyArray<Command> = [
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

/** Runs commands on the store and on an array, the model; returns the model and all hashes that were created. */
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
    for (const [now, step] of commands.entries()) {
      if ("insert" in step) {
        const key = Keys.make(step.insert, now, newHash)
        yield* Keys.insert(keys, key, trial)
        model.push(key)
      } else if ("insertFirst" in step) {
        const key = Keys.make(step.insertFirst, now, newHash)
        const isFirst = model.length === 0
        const result = yield* Keys.insertFirst(keys, key, trial)
        yield* expect(
          result === isFirst,
          isFirst ? "true for the first key" : "false for a key that is not the first",
          String(result)
        )
        if (isFirst) model.push(key)
      } else {
        const { action, change, place } = changeOf(step, newHash(), now)
        const before = model[place]
        const result = yield* Keys.update(
          keys,
          before?.id ?? "key_unknown",
          action,
          (key) => [key, change(key)],
          trial
        )
        yield* Keys.expectAll(
          Option.toArray(result),
          before === undefined ? [] : [before],
          "the key before the change, which the change returns"
        )
        if (before !== undefined) model[place] = change(before)
      }
      yield* afterEach(model)
    }
    return { model, hashes }
  })

/** Searches for each of these hashes and for some unused ones; fails unless the keys in `model` are found. */
const expectFound = (
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
        Keys.expectAll(Option.toArray(found), owners, "the key with this hash")
      )
    },
    { discard: true }
  )

const law = family({ level: "design", profile: "port", on: "keys", requests: 0 })

export const checks: ReadonlyArray<Check> = [
  law<ReadonlyArray<Keys.Draft>>({
    id: "keys-store.insert-exact",
    law: "A key is returned with every field as it was stored, whether found or listed.",
    clauses: ["keys-store.exact", "keys-store.insert", "keys-store.find.sees-insert"],
    examples: [Keys.boundaryDrafts],
    cases: fc.array(Keys.draft, { maxLength: 5 }),
    runs: { port: 20, http: 0 },
    *holds(keys, drafts, trial) {
      const all = Keys.makeAll(drafts)
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
    }
  }),
  law<ReadonlyArray<Keys.Draft>>({
    id: "keys-store.find-each",
    law: "A key is found by the hash of each of its secrets, even if revoked or expired, and by no other hash.",
    clauses: [
      "keys-store.find.by-hash",
      "keys-store.find.each-secret",
      "keys-store.find.none",
      "keys-store.find.revoked"
    ],
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
    *holds(keys, drafts, trial) {
      const all = Keys.makeAll(drafts)
      for (const key of all) {
        yield* Keys.insert(keys, key, trial)
        if (key.secrets.length > 1) trial.saw("a second secret")
        if (key.revokedAt !== undefined) trial.saw("a revoked key")
      }
      const hashes = all.flatMap(({ secrets }) => secrets.map(({ hash }) => hash))
      yield* expectFound(keys, all, hashes, trial)
      for (const hash of hashes) {
        // Another digit at one end, or all digits moved by one position.
        const others = [
          `f${hash.slice(1)}`,
          `${hash.slice(0, -1)}f`,
          `${hash.slice(1)}0`,
          `0${hash.slice(0, -1)}`
        ]
        for (const other of others.filter((other) => !hashes.includes(other))) {
          const found = yield* Keys.find(keys, other, trial)
          yield* Keys.expectAll(Option.toArray(found), [], "no key with this hash")
        }
      }
    }
  }),
  law<ReadonlyArray<Command>>({
    id: "keys-store.find-after",
    law: "After each change, a key is found by its current secrets and by no others.",
    clauses: [
      "keys-store.find.sees-update",
      "keys-store.find.sees-insert-first",
      "keys-store.find.dropped-secret",
      "keys-store.find.each-secret"
    ],
    examples: [everyKindOfCommand],
    cases: fc.array(command, { maxLength: 10, size: "max" }),
    runs: { port: 12, http: 0 },
    holds: (keys, commands, trial) =>
      Effect.asVoid(
        run(keys, commands, trial, (model) =>
          // Hashes are also searched before they exist, so that a cache that ignores changes is detected.
          expectFound(
            keys,
            model,
            Array.from({ length: commands.length * 2 }, (_, index) => Keys.hash(index)),
            trial
          )
        )
      )
  }),
  law<ReadonlyArray<Command>>({
    id: "keys-store.history",
    law: "After sequential calls, the list equals an array with the same changes.",
    clauses: [
      "keys-store.update.replaces",
      "keys-store.update.answer",
      "keys-store.insert",
      "keys-store.insert-first",
      "keys-store.list.all",
      "keys-store.exact"
    ],
    examples: [everyKindOfCommand],
    cases: fc.array(command, { maxLength: 30, size: "max" }),
    runs: { port: 15, http: 0 },
    *holds(keys, commands, trial) {
      const { hashes, model } = yield* run(keys, commands, trial, (expected) =>
        Effect.flatMap(Keys.list(keys, trial), (all) => Keys.expectAll(all, expected, "in the list"))
      )
      yield* expectFound(keys, model, hashes, trial)
    }
  }),
  law({
    id: "keys-store.list-order",
    law: "The list has every key once, in insertion order, whatever the dates and ids of the keys.",
    clauses: ["keys-store.list.order", "keys-store.list.all"],
    examples: [{ createdAt: [] }, { createdAt: [3, 1, 2, 2, 5, 0, 4, 9, 8, 7, 6, 10] }],
    cases: fc.record({ createdAt: fc.array(fc.nat(100), { maxLength: 12 }) }),
    runs: { port: 10, http: 0 },
    *holds(keys, { createdAt }, trial) {
      const all = Keys.makeAll(createdAt.map((at) => ({ ...Keys.plain, createdAt: at })))
      for (const key of all) yield* Keys.insert(keys, key, trial)
      // A change must not move a key.
      const [first] = all
      if (first !== undefined) yield* Keys.update(keys, first.id, "look at", (key) => [0, { ...key }], trial)
      const listed = yield* Keys.list(keys, trial)
      const ids = (found: ReadonlyArray<ApiKey.ApiKey>): string => found.map(({ id }) => id).join(", ")
      yield* expect(ids(listed) === ids(all), `the order ${ids(all)}`, ids(listed))
    }
  }),
  law({
    id: "keys-store.update-answer",
    law: "An update returns the first value of the change and stores the second.",
    clauses: ["keys-store.update.answer", "keys-store.update.replaces"],
    examples: [{ result: "a string" }, { result: 0 }, { result: null }, { result: undefined }],
    *holds(keys, { result }, trial) {
      const [key, other] = Keys.makeAll([Keys.plain, Keys.plain])
      if (key === undefined || other === undefined) return
      yield* Keys.insert(keys, key, trial)
      yield* Keys.insert(keys, other, trial)
      const change = (before: ApiKey.ApiKey) => [result, { ...before, label: "changed" }] as const
      const got = yield* Keys.update(keys, key.id, "label", change, trial)
      yield* expect(
        Option.isSome(got) && got.value === result,
        `the result ${String(result)}`,
        Option.isSome(got) ? String(got.value) : "Option.none"
      )
      const left = yield* Keys.list(keys, trial)
      yield* Keys.expectAll(left, [{ ...key, label: "changed" }, other], "only one key changed")
    }
  }),
  law({
    id: "keys-store.update-unknown",
    law: "An update of an unknown id returns Option.none and changes nothing.",
    clauses: ["keys-store.update.none"],
    examples: [0, 1, 3].map((inserts) => ({ inserts })),
    *holds(keys, { inserts }, trial) {
      const all = Keys.makeAll(Array.from({ length: inserts }, () => Keys.plain))
      for (const key of all) yield* Keys.insert(keys, key, trial)
      const others = ["key_unknown", "KEY_A0", "key_a", "key_a00", "key_a0 ", "%"]
      for (const id of others) {
        const change = (key: ApiKey.ApiKey) => ["changed", { ...key, label: "changed" }] as const
        const got = yield* Keys.update(keys, id, "label", change, trial)
        yield* expect(Option.isNone(got), `Option.none for the update of ${id}`, "a result")
      }
      yield* Keys.expectAll(yield* Keys.list(keys, trial), all, "the unchanged keys")
    }
  })
]
