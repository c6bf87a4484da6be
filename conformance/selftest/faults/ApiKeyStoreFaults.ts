/** Defines faulty stores of API keys, each wrong in one way. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ApiKey } from "../../../core/access/ApiKey.ts"
import { type Fault, fault } from "../Fault.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import {
  changingInserted,
  changingList,
  changingUpdated,
  checkThenInsert,
  findingWhere,
  onThrowingChange,
  readThenWrite,
  replacingFind,
  replacingInsert,
  replacingInsertFirst,
  replacingUpdate
} from "../spoilers/KeyStores.ts"
import * as LeakyLock from "../spoilers/LeakyLock.ts"

const stripped = (hash: string): string => hash.replaceAll(/^0+|0+$/g, "")

export const faults: ReadonlyArray<Fault> = [
  fault("keys-store.label-empty", "Stores an absent label as an empty string.")
    .breaks("keys-store.exact", "keys-store.insert-exact", 'label "", created')
    .by(changingInserted(({ label = "" }) => ({ label }))),
  fault("keys-store.revoked-at-null", "Returns null for an absent revokedAt.")
    .breaks("keys-store.exact", "keys-store.insert-exact", "revoked at null")
    .by(
      // TypeScript rejects null here, but an adapter in JavaScript can store it.
      changingInserted(({ revokedAt = null }) => ({ revokedAt: revokedAt as number }))
    ),
  fault("keys-store.label-normalized", "Stores labels in Unicode NFC.")
    .breaks("keys-store.exact", "keys-store.insert-exact", "the key just inserted")
    .by(changingInserted(({ label }) => ({ label: label?.normalize("NFC") }))),
  fault("keys-store.times-32-bits", "Truncates the time of creation to 32 bits.")
    .breaks("keys-store.exact", "keys-store.insert-exact", "created at -1025769472")
    .by(changingInserted(({ createdAt }) => ({ createdAt: createdAt | 0 }))),
  fault("keys-store.revoked-at-zero", "Treats a revocation at the time 0 as absent.")
    .breaks("keys-store.exact", "keys-store.insert-exact", "the key just inserted")
    .by(changingInserted(({ revokedAt }) => ({ revokedAt: revokedAt === 0 ? undefined : revokedAt }))),
  fault("keys-store.limits-of-the-plan", "Stores the limits of the Free plan for every key.")
    .breaks("keys-store.exact", "keys-store.insert-exact", "Enterprise, 60/1000")
    .by(changingInserted(() => ({ limits: { perMinute: 60, perDay: 1_000 } }))),
  fault("keys-store.one-secret", "Stores only the newest secret.")
    .breaks("keys-store.exact", "keys-store.insert-exact", "0003 created at 0")
    .by(changingInserted(({ secrets }) => ({ secrets: secrets.slice(0, 1) }))),
  fault("keys-store.secrets-reversed", "Returns the oldest secret first.")
    .breaks("keys-store.exact", "keys-store.insert-exact", "the key just inserted")
    .by(changingInserted(({ secrets }) => ({ secrets: secrets.toReversed() }))),
  fault("keys-store.insert-revokes-first", "Revokes the first key when another is inserted.")
    .breaks("keys-store.insert", "keys-store.history", "created at 1, revoked at 1")
    .by(
      replacingInsert((key, real) =>
        Effect.gen(function* () {
          const [first] = yield* real.list
          yield* real.insert(key)
          if (first !== undefined) yield* real.update(first.id, (stored) => [0, { ...stored, revokedAt: 1 }])
        })
      )
    ),
  fault("keys-store.find-newest", "Finds a key only by its newest secret.")
    .breaks("keys-store.find.each-secret", "keys-store.find-each", "expires at 2} none")
    .by(findingWhere((secret, hash, _key, index) => secret.hash === hash && index === 0)),
  fault("keys-store.find-by-prefix", "Compares only the first 16 digits of hashes.")
    .breaks("keys-store.find.by-hash", "keys-store.find-each", "} {key_a0, Free")
    .by(findingWhere((secret, hash) => secret.hash.startsWith(hash.slice(0, 16)))),
  fault("keys-store.find-without-zeros", "Ignores leading and trailing zeros of hashes.")
    .breaks("keys-store.find.none", "keys-store.find-each", "this hash: none {key_")
    .by(findingWhere((secret, hash) => stripped(secret.hash) === stripped(hash))),
  fault("keys-store.find-as-number", "Compares hashes that look like numbers as numbers.")
    .breaks("keys-store.find.by-hash", "keys-store.find-each", "} {key_a0, Free")
    .by(findingWhere((secret, hash) => secret.hash === hash || Number(secret.hash) === Number(hash))),
  fault("keys-store.find-unrevoked", "Does not find revoked keys.")
    .breaks("keys-store.find.revoked", "keys-store.find-each", "} none")
    .by(findingWhere((secret, hash, key) => secret.hash === hash && key.revokedAt === undefined)),
  fault("keys-store.find-unexpired", "Does not find keys by expired secrets.")
    .breaks("keys-store.find.each-secret", "keys-store.find-each", "} none")
    .by(
      replacingFind((hash, real) =>
        Effect.map(Effect.all([real.findByHash(hash), Clock.currentTimeMillis]), ([found, now]) =>
          Option.filter(found, ({ secrets }) =>
            secrets.some((secret) => secret.hash === hash && (secret.expiresAt ?? now + 1) > now)
          )
        )
      )
    ),
  fault("keys-store.find-late", "Finds a key only after the next insert.")
    .breaks("keys-store.find.sees-insert", "keys-store.insert-exact", "created at 1} none")
    .by(
      replacingFind((hash, real) =>
        Effect.map(Effect.all([real.findByHash(hash), real.list]), ([found, all]) =>
          Option.filter(found, ({ id }) => id !== all.at(-1)?.id)
        )
      )
    ),
  fault("keys-store.find-cached", "Caches a found key, and ignores its later changes.")
    .breaks("keys-store.find.sees-update", "keys-store.find-after", "the key with this hash")
    .by(
      AtPort.keys((real) => {
        const found = new Map<string, ApiKey>()
        return {
          ...real,
          findByHash: (hash) =>
            Effect.map(real.findByHash(hash), (now) => {
              const known = found.get(hash) ?? Option.getOrUndefined(now)
              if (known !== undefined) found.set(hash, known)
              return Option.fromUndefinedOr(known)
            })
        }
      })
    ),
  fault("keys-store.find-caches-misses", "Caches that a hash was not found, until the next `insert`.")
    .breaks("keys-store.find.sees-update", "keys-store.find-after", "} none")
    .by(
      AtPort.keys((real) => {
        const missing = new Set<string>()
        return {
          ...real,
          insert: (key) => {
            missing.clear()
            return real.insert(key)
          },
          findByHash: (hash) =>
            Effect.map(real.findByHash(hash), (found) => {
              if (Option.isNone(found)) missing.add(hash)
              return missing.has(hash) ? Option.none() : found
            })
        }
      })
    ),
  fault("keys-store.dropped-secret-found", "Finds a key by every secret that it ever had.")
    .breaks("keys-store.find.dropped-secret", "keys-store.find-after", "with this hash: none {key_a2")
    .by(
      AtPort.keys((real) => {
        const owners = new Map<string, string>()
        const noted = (key: ApiKey): ApiKey => {
          for (const { hash } of key.secrets) owners.set(hash, key.id)
          return key
        }
        return {
          ...real,
          insert: (key) => real.insert(noted(key)),
          insertFirst: (key) => real.insertFirst(noted(key)),
          update: (id, change) =>
            real.update(id, (before) => {
              const [result, after] = change(before)
              return [result, noted(after)]
            }),
          findByHash: (hash) =>
            Effect.map(real.list, (all) =>
              Option.fromUndefinedOr(all.find(({ id }) => id === owners.get(hash)))
            )
        }
      })
    ),
  fault("keys-store.list-newest-first", "Lists the newest key first.")
    .breaks("keys-store.list.order", "keys-store.list-order", "key_A10 key_A10")
    .by(changingList((all) => all.toReversed())),
  fault(
    "keys-store.list-by-date",
    "Lists keys by time of creation, which may differ from the order of insertion."
  )
    .breaks("keys-store.list.order", "keys-store.list-order", "key_A10 key_A4, key_A0")
    .by(changingList((all) => all.toSorted((a, b) => a.createdAt - b.createdAt))),
  fault("keys-store.list-by-id", "Lists keys in the order of their ids.")
    .breaks("keys-store.list.order", "keys-store.list-order", "key_A10 key_A0, key_A10")
    .by(changingList((all) => all.toSorted((a, b) => (a.id < b.id ? -1 : 1)))),
  fault("keys-store.list-latest-change-last", "Lists a changed key last.")
    .breaks("keys-store.list.order", "keys-store.list-order", "key_A10 key_A0, key_a2, key_A2")
    .by(
      AtPort.keys((real) => {
        let latest = ""
        return {
          ...real,
          update: (id, change) => {
            latest = id
            return real.update(id, change)
          },
          list: Effect.map(real.list, (all) =>
            all.toSorted((a, b) => Number(a.id === latest) - Number(b.id === latest))
          )
        }
      })
    ),
  fault("keys-store.list-without-revoked", "Does not list revoked keys.")
    .breaks("keys-store.list.all", "keys-store.history", "in the list: {key_a0")
    .by(changingList((all) => all.filter(({ revokedAt }) => revokedAt === undefined))),
  fault("keys-store.list-a-secret-each", "Lists a key once for each of its secrets.")
    .breaks("keys-store.list.all", "keys-store.history", "in the list: {key_a0")
    .by(changingList((all) => all.flatMap((key) => key.secrets.map(() => key)))),
  fault("keys-store.update-returns-id", "Returns the id of the key from an update instead of the result.")
    .breaks("keys-store.update.answer", "keys-store.update-answer", "a string key_a0")
    .by(
      replacingUpdate((id, change, real) =>
        // The fault: the id does not have the type of the result.
        Effect.map(
          real.update(id, change),
          Option.map(() => id as never)
        )
      )
    ),
  fault("keys-store.update-null-is-none", "Treats a result of null or undefined as an unknown key.")
    .breaks("keys-store.update.answer", "keys-store.update-answer", "the result null Option.none")
    .by(
      replacingUpdate((id, change, real) =>
        Effect.map(
          real.update(id, change),
          Option.filter((result) => result !== null && result !== undefined)
        )
      )
    ),
  fault("keys-store.update-all", "Applies a change to every key.")
    .breaks(
      "keys-store.update.replaces",
      "keys-store.update-answer",
      '{key_A0, Free, 60/1000, label "changed"'
    )
    .by(
      replacingUpdate((id, change, real) =>
        Effect.gen(function* () {
          const others = (yield* real.list).filter((key) => key.id !== id)
          const result = yield* real.update(id, change)
          for (const otherKey of others) yield* real.update(otherKey.id, change)
          return result
        })
      )
    ),
  fault("keys-store.update-label-kept", "Keeps the old label when a change removes it.")
    .breaks("keys-store.update.replaces", "keys-store.history", '{key_a0, Free, 60/1000, label "%"')
    .by(changingUpdated((changed, before) => ({ ...changed, label: changed.label ?? before.label }))),
  fault("keys-store.update-secrets-added", "Adds the secrets of the changed key to the old ones.")
    .breaks("keys-store.update.replaces", "keys-store.history", "at 3, expires at 13, secret")
    .by(
      changingUpdated((changed, before) => ({
        ...changed,
        secrets: [
          ...changed.secrets,
          ...before.secrets.filter(({ hash }) => !changed.secrets.some((secret) => secret.hash === hash))
        ]
      }))
    ),
  fault("keys-store.update-id-case", "Ignores the letter case of ids in updates.")
    .breaks("keys-store.update.none", "keys-store.update-unknown", "KEY_A0 a result")
    .by(
      replacingUpdate((id, change, real) =>
        Effect.flatMap(real.list, (all) =>
          real.update(all.find((key) => key.id.toLowerCase() === id.toLowerCase())?.id ?? id, change)
        )
      )
    ),
  fault("keys-store.update-by-pattern", "Treats ids as SQL LIKE patterns.")
    .breaks("keys-store.update.none", "keys-store.update-unknown", "of % a result")
    .by(
      replacingUpdate((id, change, real) =>
        Effect.flatMap(real.list, (all) => real.update(id === "%" ? (all[0]?.id ?? id) : id, change))
      )
    ),
  fault(
    "keys-store.update-raced",
    "Reads a key, yields, and writes the changed key, so that one of two updates is lost."
  )
    .breaks("keys-store.update.atomic", "keys-store.update-at-once", "different states seen 1")
    .by(readThenWrite(Effect.yieldNow)),
  fault(
    "keys-store.update-raced-in-parallel",
    "Reads a key, yields, and writes the changed key, so that the results of parallel calls conflict."
  )
    .breaks("keys-store.update.atomic", "keys-store.parallel", "no order of the calls explains label")
    .by(readThenWrite(Effect.yieldNow)),
  fault(
    "keys-store.update-raced-closely",
    "Reads a key and writes the changed key in a second step, without yielding between them."
  )
    .breaks("keys-store.update.atomic", "keys-store.interleaved", "no order of the calls explains label")
    .by(readThenWrite(Effect.void)),
  fault("keys-store.insert-first-always", "Inserts the key in `insertFirst` even if the store is not empty.")
    .breaks("keys-store.insert-first", "keys-store.history", "not the first true")
    .by(replacingInsertFirst((key, real) => Effect.as(real.insert(key), true))),
  fault("keys-store.insert-first-returns-false", "Inserts the first key, but returns false.")
    .breaks("keys-store.insert-first", "keys-store.history", "the first key false")
    .by(replacingInsertFirst((key, real) => Effect.as(real.insertFirst(key), false))),
  fault("keys-store.insert-first-unstored", "Returns true for the first key without inserting it.")
    .breaks("keys-store.insert-first", "keys-store.history", "created at 1} none")
    .by(replacingInsertFirst((_key, real) => Effect.map(real.list, (all) => all.length === 0))),
  fault(
    "keys-store.insert-first-raced",
    "Checks that there is no key, yields, and inserts one, so that several first keys are inserted."
  )
    .breaks("keys-store.insert-first.atomic", "keys-store.insert-first-at-once", "exactly one first key 50")
    .by(checkThenInsert(Effect.yieldNow)),
  fault(
    "keys-store.insert-first-raced-closely",
    "Checks that there is no key and inserts one in a second step, without yielding between them."
  )
    .breaks("keys-store.insert-first.atomic", "keys-store.interleaved", "no order of the calls explains key")
    .by(checkThenInsert(Effect.void)),
  fault("keys-store.throwing-change-stored", "Stores a key with a temporary label when a change throws.")
    .breaks("keys-store.update.replaces", "keys-store.throwing-change", 'label "changing"')
    .by(
      onThrowingChange((real, id, defect) =>
        Effect.andThen(
          real.update(id, (key) => [undefined, { ...key, label: "changing" }]),
          Effect.die(defect)
        )
      )
    ),
  fault("keys-store.throwing-change-returns-none", "Returns Option.none when a change throws.")
    .breaks("keys-store.update.replaces", "keys-store.throwing-change", "key_a0 a result")
    .by(onThrowingChange(() => Effect.succeed(Option.none()))),
  fault("keys-store.throwing-change-locked", "Does not release its lock when a change throws.")
    .breaks("keys-store.update.atomic", "keys-store.throwing-change", "database is locked")
    .by(
      AtPort.keys((real) => {
        const guarded = LeakyLock.make()
        return { ...real, update: (id, change) => guarded(real.update(id, change)) }
      })
    ),
  fault(
    "keys-store.interrupted-half",
    "Inserts a key in two steps; an interruption between them loses the older secret."
  )
    .breaks("keys-store.interruption", "keys-store.interrupted", "at 0, expires at 9} {key_")
    .by(
      replacingInsert((key, real) =>
        Effect.gen(function* () {
          yield* real.insert({ ...key, secrets: key.secrets.slice(0, 1) })
          yield* Effect.yieldNow
          yield* real.update(key.id, () => [undefined, key])
        })
      )
    ),
  fault("keys-store.interrupted-locked", "Does not release its lock when an update is interrupted.")
    .breaks("keys-store.interruption", "keys-store.interrupted", "database is locked")
    .by(
      AtPort.keys((real) => {
        const guarded = LeakyLock.make()
        return { ...real, update: (id, change) => guarded(real.update(id, change)) }
      })
    ),
  fault("keys-store.outage-none", "Finds no key when its backend does not respond.")
    .breaks("keys-store.fails-typed", "keys-store.outage", "as if nothing were wrong")
    .by(
      replacingFind((hash, real) => Effect.catch(real.findByHash(hash), () => Effect.succeed(Option.none())))
    ),
  fault("keys-store.outage-empty", "Lists no keys when its backend does not respond.")
    .breaks("keys-store.fails-typed", "keys-store.outage", "as if nothing were wrong")
    .by(AtPort.keys((real) => ({ ...real, list: Effect.catch(real.list, () => Effect.succeed([])) }))),
  fault(
    "keys-store.outage-returns-false",
    "Returns false from `insertFirst` when its backend does not respond."
  )
    .breaks("keys-store.fails-typed", "keys-store.outage", "as if nothing were wrong")
    .by(
      replacingInsertFirst((key, real) => Effect.catch(real.insertFirst(key), () => Effect.succeed(false)))
    ),
  fault("keys-store.outage-dies", "Dies in `insert` when its backend does not respond.")
    .breaks("keys-store.fails-typed", "keys-store.outage", "a defect: StoreUnavailable")
    .by(replacingInsert((key, real) => Effect.orDie(real.insert(key))))
]
