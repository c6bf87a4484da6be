/** Laws of `ApiKeyStore` about concurrent calls, changes that throw an exception, and interrupted writes. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as fc from "fast-check"
import type * as ApiKey from "../../../core/access/ApiKey.ts"
import { expect, type Failure, type Violation } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import type { Model } from "../../linearizability/Linearizability.ts"
import { type Check, family } from "../Check.ts"
import * as Concurrency from "./Concurrency.ts"
import * as Keys from "./Keys.ts"

/** Runs an update whose change throws, as with a bug in the caller; fails if the update succeeds. */
const runThrowingUpdate = (keys: Keys.Keys, id: string, trial: Trial): Effect.Effect<void, Violation> => {
  const change = (): never => {
    throw new Error("a bug in the change")
  }
  const action = `update ${id} with a change that throws`
  return Effect.flatMap(Effect.exit(Effect.suspend(() => keys.update(id, change))), (exit) => {
    trial.record({ did: action, got: Exit.isSuccess(exit) ? "a result" : "a failure" })
    return expect(Exit.isFailure(exit), `a failure of the update of ${id}`, "a result")
  })
}

/** Returns the key with this id as it is stored; `undefined` for an unknown id. */
const storedKey = (
  keys: Keys.Keys,
  id: string,
  trial: Trial
): Effect.Effect<ApiKey.ApiKey | undefined, Violation> =>
  Effect.map(Keys.list(keys, trial), (all) => all.find((key) => key.id === id))

/** Adds one to the creation time of a key, and returns the previous time; `undefined` for an unknown key. */
const incrementCreatedAt = (
  keys: Keys.Keys,
  id: string,
  trial: Trial
): Effect.Effect<number | undefined, Violation> =>
  Effect.map(
    Keys.update(
      keys,
      id,
      "increment the creation time of",
      (key) => [key.createdAt, { ...key, createdAt: key.createdAt + 1 }],
      trial
    ),
    Option.getOrUndefined
  )

/** A call of one of several clients: it inserts its key as the first, or sets the label of its key to a number. */
type Call = { readonly first: number } | { readonly relabel: number }

/** The model: the number of the first key and its label; both are initially 0. */
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
      ? `key ${call.first} ${output === 1 ? "inserted" : "not inserted"} as the first`
      : `label ${call.relabel} replaced ${output}`
}

/** Runs clients that insert and relabel the first key concurrently; fails unless some order explains the results. */
const runClients = (
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
          `set the label ${label} of`,
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
    yield* Concurrency.runConcurrently(calls)
    yield* Concurrency.expectLinearizable(firstKey, history)
    const left = yield* Keys.list(keys, trial)
    yield* expect(left.length === 1, "one key at the end", `${left.length}`)
  })

const clients = fc.array(fc.nat(3), { minLength: 2, maxLength: 4 })

/** A write that is interrupted after its fiber has run for `turns` turns. */
interface Interruption {
  readonly write: "insert" | "update"
  readonly turns: number
}

const interruption: fc.Arbitrary<Interruption> = fc.record({
  write: fc.constantFrom("insert", "update"),
  turns: fc.oneof(fc.nat(8), fc.nat(40))
})

const writes = ["insert", "update"] as const

/** Interrupts writes and checks the stored keys. */
const interruptWrites = (
  keys: Keys.Keys,
  rounds: ReadonlyArray<Interruption>,
  trial: Trial
): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const withTwoSecrets = { ...Keys.plain, secrets: [1, { createdAt: 0, expiresAt: 9 }] as const }
    const [updatedKey, ...insertedKeys] = Keys.makeAll([withTwoSecrets, ...rounds.map(() => withTwoSecrets)])
    if (updatedKey === undefined) return
    yield* Keys.insert(keys, updatedKey, trial)
    let acknowledged = 0
    let unknown = 0
    for (const [index, { turns, write }] of rounds.entries()) {
      const key = insertedKeys[index] ?? updatedKey
      const call =
        write === "insert"
          ? Effect.suspend(() => keys.insert(key))
          : Effect.suspend(() =>
              keys.update(updatedKey.id, (before) => [0, { ...before, createdAt: before.createdAt + 1 }])
            )
      const action = `${write} ${write === "insert" ? Keys.describe(key) : updatedKey.id}`
      const exit = yield* Concurrency.interrupt(Effect.asVoid(call), turns, action, () => "done", trial)
      if (write === "update") {
        if (Exit.isSuccess(exit)) acknowledged++
        else unknown++
      } else {
        // A write in progress may take effect between two reads, but must not be undone.
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
          "the whole key of an interrupted insert, once, or nothing"
        )
      }
      yield* incrementCreatedAt(keys, updatedKey.id, trial)
      acknowledged++
    }
    const left = yield* storedKey(keys, updatedKey.id, trial)
    const updates = (left?.createdAt ?? 0) - updatedKey.createdAt
    yield* expect(
      updates >= acknowledged && updates <= acknowledged + unknown,
      `${acknowledged} updates, plus at most ${unknown} interrupted ones`,
      `${updates}`
    )
    yield* Keys.expectAll(
      left === undefined ? [] : [left],
      [{ ...updatedKey, createdAt: updatedKey.createdAt + updates }],
      "the other fields unchanged"
    )
  })

const law = family({ level: "design", profile: "port", on: "keys", requests: 0 })

export const checks: ReadonlyArray<Check> = [
  law({
    id: "keys-store.update-at-once",
    law: "Concurrent updates of one key run in sequence: each sees what the previous one stored.",
    clauses: ["keys-store.update.atomic"],
    examples: [{ updates: 100 }],
    *holds(keys, { updates }, trial) {
      const [key] = Keys.makeAll([{ ...Keys.plain, createdAt: 0 }])
      if (key === undefined) return
      yield* Keys.insert(keys, key, trial)
      const seen = yield* Effect.forEach(
        Array.from({ length: updates }),
        () => incrementCreatedAt(keys, key.id, trial),
        {
          concurrency: "unbounded"
        }
      )
      const distinct = new Set(seen).size
      yield* expect(distinct === updates, `${updates} different states seen`, `${distinct}`)
      const left = yield* storedKey(keys, key.id, trial)
      yield* expect(left?.createdAt === updates, `${updates} updates at the end`, `${left?.createdAt}`)
    }
  }),
  law({
    id: "keys-store.insert-first-at-once",
    law: "Exactly one of several concurrent inserts of the first key succeeds, and only it returns true.",
    clauses: ["keys-store.insert-first.atomic", "keys-store.insert-first"],
    examples: [{ inserts: 50 }],
    *holds(keys, { inserts }, trial) {
      const all = Keys.makeAll(Array.from({ length: inserts }, () => Keys.plain))
      const inserted = yield* Effect.forEach(all, (key) => Keys.insertFirst(keys, key, trial), {
        concurrency: "unbounded"
      })
      const winners = all.filter((_, index) => inserted[index])
      yield* expect(winners.length === 1, "exactly one first key", `${winners.length}`)
      yield* Keys.expectAll(yield* Keys.list(keys, trial), winners, "the first key, alone")
    }
  }),
  law({
    id: "keys-store.parallel",
    law: "Concurrent first inserts and updates are linearizable: each takes effect at one moment while it runs.",
    clauses: ["keys-store.update.atomic", "keys-store.insert-first.atomic"],
    examples: [[3, 3, 3]],
    cases: clients,
    runs: { port: 15, http: 0 },
    holds: runClients
  }),
  law({
    id: "keys-store.interleaved",
    law: "First inserts and updates are linearizable for any interleaving of their steps.",
    clauses: ["keys-store.update.atomic", "keys-store.insert-first.atomic"],
    examples: [1, 2, 3].flatMap((seed) => [
      { seed, clients: [3, 3, 3] },
      { seed, clients: [0, 0, 0, 0, 0] }
    ]),
    cases: fc.record({ seed: Concurrency.seed, clients }),
    runs: { port: 6, http: 0 },
    holds: (keys, { clients: programs, seed }, trial) =>
      Concurrency.runInterleaved(seed, runClients(keys, programs, trial))
  }),
  law({
    id: "keys-store.throwing-change",
    law: "A change that throws leaves the key unchanged, and the store keeps working.",
    clauses: ["keys-store.update.replaces", "keys-store.update.none", "keys-store.update.atomic"],
    timeoutMs: 10_000,
    examples: [{ concurrentCalls: 0 }, { concurrentCalls: 3 }],
    *holds(keys, { concurrentCalls }, trial) {
      const [key] = Keys.makeAll([{ ...Keys.plain, createdAt: 0 }])
      if (key === undefined) return
      yield* Keys.insert(keys, key, trial)
      yield* runThrowingUpdate(keys, key.id, trial)
      const left = yield* Keys.list(keys, trial)
      yield* Keys.expectAll(left, [key], "the unchanged key")
      const others = Array.from({ length: concurrentCalls }, () => incrementCreatedAt(keys, key.id, trial))
      yield* Effect.all([...others, runThrowingUpdate(keys, key.id, trial), ...others], {
        concurrency: "unbounded",
        discard: true
      })
      const counted = yield* incrementCreatedAt(keys, key.id, trial)
      yield* expect(
        counted === 2 * concurrentCalls,
        `${2 * concurrentCalls} updates by the others`,
        `${counted}`
      )
    }
  }),
  law<{ readonly seed: number; readonly rounds: ReadonlyArray<Interruption> }>({
    id: "keys-store.interrupted",
    law: "An interrupted write leaves the whole key, as before or after it, and the store keeps working.",
    clauses: ["keys-store.interruption"],
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
    holds: (keys, { rounds, seed }, trial) =>
      Concurrency.runInterleaved(seed, interruptWrites(keys, rounds, trial))
  })
]
