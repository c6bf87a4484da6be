/** Laws about optional records of an `ApiKeyStore`: events of actions, and the day on which a key was last used. */
import * as Option from "effect/Option"
import * as fc from "fast-check"
import type { ApiKey } from "../../../core/access/ApiKey.ts"
import * as KeyEvent from "../../../core/access/KeyEvent.ts"
import { expect, inapplicable } from "../../evaluation/Outcome.ts"
import { portCall } from "../../subjects/PortCall.ts"
import { type Check, family } from "../Check.ts"
import * as Keys from "./Keys.ts"
import * as Texts from "./Texts.ts"

/** A call for the key with this number; it may record an event. */
interface Call {
  readonly method: "insert" | "insertFirst" | "update" | "update nothing"
  readonly key: number
  /** The event without its key; `undefined` for a call without one. */
  readonly event: Omit<KeyEvent.KeyEvent, "keyId"> | undefined
}

const value = fc.option(fc.oneof(Texts.text, fc.maxSafeInteger()), { nil: null })

const event: fc.Arbitrary<Call["event"]> = fc.record(
  {
    at: fc.nat(8_640_000_000_000_000),
    actor: Texts.text,
    action: fc.constantFrom(...KeyEvent.actions),
    changes: fc.dictionary(
      fc.constantFrom("plan", "perMinute", "label", "expiresAt"),
      fc.record({ from: value, to: value }, { noNullPrototype: true }),
      { noNullPrototype: true }
    )
  },
  { noNullPrototype: true }
)

const call: fc.Arbitrary<Call> = fc.record({
  method: fc.constantFrom("insert", "insertFirst", "update", "update nothing"),
  key: fc.nat(3),
  event: fc.option(event, { nil: undefined })
})

const issued: Call["event"] = { at: 5, actor: "root", action: "issued", changes: {} }

const changed: Call["event"] = {
  at: 4,
  actor: "ana\n№1",
  action: "changed",
  changes: { label: { from: null, to: "'\"\\" }, perDay: { from: 1, to: 9_007_199_254_740_991 } }
}

const textOf = (events: ReadonlyArray<KeyEvent.KeyEvent>): string =>
  events.length === 0
    ? "none"
    : events
        .map(({ action, actor, at, changes, keyId }) =>
          JSON.stringify([
            at,
            actor,
            keyId,
            action,
            Object.entries(changes)
              .map(([field, { from, to }]) => [field, from, to])
              .sort()
          ])
        )
        .join(", ")

/** A call of `markSeen`, or a change of the label, which must not change `lastSeenDay`. */
type Use =
  | { readonly mark: ReadonlyArray<number>; readonly day: number }
  | { readonly relabel: number; readonly label: string | undefined }

const use: fc.Arbitrary<Use> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ mark: fc.uniqueArray(fc.nat(4), { maxLength: 5 }), day: fc.nat(30_000) })
  },
  fc.record({ relabel: fc.nat(2), label: fc.option(Texts.text, { nil: undefined }) })
)

const law = family({ level: "design", profile: "port", on: "keys", requests: 0 })

export const checks: ReadonlyArray<Check> = [
  law<ReadonlyArray<Call>>({
    id: "keys-store.events",
    law: "A store with `events` returns the event of each change, exact and in order, and no event of a failed change.",
    clauses: ["keys-store.events"],
    examples: [
      [
        { method: "insertFirst", key: 0, event: issued },
        { method: "insertFirst", key: 1, event: issued },
        { method: "insert", key: 1, event: { ...issued, at: 3 } },
        { method: "update", key: 1, event: undefined },
        { method: "update", key: 1, event: changed },
        { method: "update nothing", key: 0, event: { ...changed, action: "unbanned", changes: {} } },
        { method: "update", key: 3, event: changed }
      ]
    ],
    cases: fc.array(call, { maxLength: 12 }),
    runs: { port: 15, http: 0 },
    *holds(keys, calls, trial) {
      const { events } = keys
      if (events === undefined) return yield* inapplicable("the store records no events")
      const all = Keys.makeAll([Keys.plain, Keys.plain, Keys.plain, Keys.plain])
      const stored = new Map<string, ApiKey>()
      const recorded: Array<KeyEvent.KeyEvent> = []
      for (const { event, method, key: number } of calls) {
        const key = all[number]
        if (key === undefined) continue
        const keyEvent = event === undefined ? undefined : { ...event, keyId: key.id }
        const isInsert = method === "insert" || method === "insertFirst"
        // The port requires a new id for each insert.
        if (isInsert && stored.has(key.id)) continue
        const isApplied =
          method === "insert" || (method === "insertFirst" ? stored.size === 0 : stored.has(key.id))
        if (method === "insert") yield* Keys.insert(keys, key, trial, keyEvent)
        else if (method === "insertFirst") yield* Keys.insertFirst(keys, key, trial, keyEvent)
        else {
          const change = (before: ApiKey) =>
            [0, method === "update" ? { ...before, label: "changed" } : before, keyEvent] as const
          yield* Keys.update(keys, key.id, method, change, trial)
        }
        if (isApplied && isInsert) stored.set(key.id, key)
        if (isApplied && keyEvent !== undefined) recorded.push(keyEvent)
      }
      for (const id of [undefined, ...all.map((key) => key.id), "key_unknown"]) {
        const found = yield* portCall(trial, `events of ${id ?? "all keys"}`, () => events(id), textOf)
        const expected = textOf(recorded.filter(({ keyId }) => id === undefined || keyId === id))
        yield* expect(
          textOf(found) === expected,
          `the events of ${id ?? "all keys"}: ${expected}`,
          textOf(found)
        )
      }
    }
  }),
  law<ReadonlyArray<Use>>({
    id: "keys-store.mark-seen",
    law: "A store with `markSeen` raises the day of the given keys, never lowers it, and changes nothing else.",
    clauses: ["keys-store.mark-seen"],
    examples: [
      [
        { mark: [0, 2, 4], day: 5 },
        { mark: [0, 1], day: 4 },
        { relabel: 0, label: "seen" },
        { mark: [], day: 9 },
        { mark: [2], day: 0 },
        { mark: [2], day: 6 }
      ]
    ],
    cases: fc.array(use, { maxLength: 8 }),
    runs: { port: 15, http: 0 },
    *holds(keys, uses, trial) {
      const { markSeen } = keys
      if (markSeen === undefined) return yield* inapplicable("the store does not record when keys were used")
      const all = Keys.makeAll([Keys.plain, { ...Keys.plain, revokedAt: 3 }, Keys.plain])
      for (const key of all) yield* Keys.insert(keys, key, trial)
      let model = all
      for (const step of uses) {
        if ("mark" in step) {
          // A number without a key yields an unknown id.
          const ids = step.mark.map((number) => all[number]?.id ?? Keys.id(number))
          yield* portCall(
            trial,
            `mark ${ids.join(", ")} as seen on day ${step.day}`,
            () => markSeen(ids, step.day),
            () => "done"
          )
          model = model.map((key) =>
            ids.includes(key.id) ? { ...key, lastSeenDay: Math.max(key.lastSeenDay ?? 0, step.day) } : key
          )
        } else {
          const { label } = step
          const id = all[step.relabel]?.id ?? ""
          yield* Keys.update(keys, id, "relabel", (key) => [0, { ...key, label }], trial)
          model = model.map((key) => (key.id === id ? { ...key, label } : key))
        }
        const listed = yield* Keys.list(keys, trial)
        yield* Keys.expectAll(listed, model, "in the list")
        yield* expect(
          seenDays(listed) === seenDays(model),
          `last seen on the days ${seenDays(model)}`,
          seenDays(listed)
        )
      }
      // A cache may return an older state of a key, but must find every key.
      for (const key of model) {
        const found = yield* Keys.find(keys, key.secrets[0]?.hash ?? "", trial)
        yield* expect(Option.isSome(found), `the key ${key.id} to be found`, "no key")
      }
    }
  })
]

const seenDays = (all: ReadonlyArray<ApiKey>): string =>
  all.map(({ lastSeenDay }) => lastSeenDay ?? "never").join(", ")
