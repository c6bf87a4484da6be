/** Defines faulty stores of API keys, each wrong in one way. */
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
    .breaks("keys-store.exact")
    .by(changingInserted(({ label = "" }) => ({ label }))),
  fault("keys-store.times-32-bits", "Truncates the time of creation to 32 bits.")
    .breaks("keys-store.exact")
    .by(changingInserted(({ createdAt }) => ({ createdAt: createdAt | 0 }))),
  fault("keys-store.one-secret", "Stores only the newest secret.")
    .breaks("keys-store.exact")
    .by(changingInserted(({ secrets }) => ({ secrets: secrets.slice(0, 1) }))),
  fault("keys-store.insert-revokes-first", "Revokes the first key when another is inserted.")
    .breaks("keys-store.insert")
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
    .breaks("keys-store.find.each-secret")
    .by(findingWhere((secret, hash, _key, index) => secret.hash === hash && index === 0)),
  fault("keys-store.find-by-prefix", "Compares only the first 16 digits of hashes.")
    .breaks("keys-store.find.by-hash")
    .by(findingWhere((secret, hash) => secret.hash.startsWith(hash.slice(0, 16)))),
  fault("keys-store.find-without-zeros", "Ignores leading and trailing zeros of hashes.")
    .breaks("keys-store.find.none")
    .by(findingWhere((secret, hash) => stripped(secret.hash) === stripped(hash))),
  fault("keys-store.find-unrevoked", "Does not find revoked keys.")
    .breaks("keys-store.find.revoked")
    .by(findingWhere((secret, hash, key) => secret.hash === hash && key.revokedAt === undefined)),
  fault("keys-store.find-cached", "Caches a found key, and ignores its later changes.")
    .breaks("keys-store.find.sees-update")
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
    .breaks("keys-store.find.sees-insert-first")
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
    .breaks("keys-store.find.dropped-secret")
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
  fault(
    "keys-store.list-by-date",
    "Lists keys by time of creation, which may differ from the order of insertion."
  )
    .breaks("keys-store.list.order")
    .by(changingList((all) => all.toSorted((a, b) => a.createdAt - b.createdAt))),
  fault("keys-store.list-without-revoked", "Does not list revoked keys.")
    .breaks("keys-store.list.all")
    .by(changingList((all) => all.filter(({ revokedAt }) => revokedAt === undefined))),
  fault("keys-store.update-null-is-none", "Treats a result of null or undefined as an unknown key.")
    .breaks("keys-store.update.answer")
    .by(
      replacingUpdate((id, change, real) =>
        Effect.map(
          real.update(id, change),
          Option.filter((result) => result !== null && result !== undefined)
        )
      )
    ),
  fault("keys-store.update-all", "Applies a change to every key.")
    .breaks("keys-store.update.replaces")
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
    .breaks("keys-store.update.replaces")
    .by(changingUpdated((changed, before) => ({ ...changed, label: changed.label ?? before.label }))),
  fault("keys-store.update-by-pattern", "Treats ids as SQL LIKE patterns.")
    .breaks("keys-store.update.none")
    .by(
      replacingUpdate((id, change, real) =>
        Effect.flatMap(real.list, (all) => real.update(id === "%" ? (all[0]?.id ?? id) : id, change))
      )
    ),
  fault(
    "keys-store.update-raced",
    "Reads a key, yields, and writes the changed key, so that one of two updates is lost."
  )
    .breaks("keys-store.update.atomic")
    .by(readThenWrite(Effect.yieldNow)),
  fault("keys-store.insert-first-always", "Inserts the key in `insertFirst` even if the store is not empty.")
    .breaks("keys-store.insert-first")
    .by(replacingInsertFirst((key, real) => Effect.as(real.insert(key), true))),
  fault(
    "keys-store.insert-first-raced-closely",
    "Checks that there is no key and inserts one in a second step, without yielding between them."
  )
    .breaks("keys-store.insert-first.atomic")
    .by(checkThenInsert(Effect.void)),
  fault("keys-store.throwing-change-stored", "Stores a key with a temporary label when a change throws.")
    .breaks("keys-store.update.replaces")
    .by(
      onThrowingChange((real, id, defect) =>
        Effect.andThen(
          real.update(id, (key) => [undefined, { ...key, label: "changing" }]),
          Effect.die(defect)
        )
      )
    ),
  fault("keys-store.throwing-change-locked", "Does not release its lock when a change throws.")
    .breaks("keys-store.update.atomic")
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
    .breaks("keys-store.interruption")
    .by(
      replacingInsert((key, real) =>
        Effect.gen(function* () {
          yield* real.insert({ ...key, secrets: key.secrets.slice(0, 1) })
          yield* Effect.yieldNow
          yield* real.update(key.id, () => [undefined, key])
        })
      )
    ),
  fault("keys-store.outage-none", "Finds no key when its backend does not respond.")
    .breaks("keys-store.fails-typed")
    .by(
      replacingFind((hash, real) => Effect.catch(real.findByHash(hash), () => Effect.succeed(Option.none())))
    ),
  fault(
    "keys-store.outage-returns-false",
    "Returns false from `insertFirst` when its backend does not respond."
  )
    .breaks("keys-store.fails-typed")
    .by(replacingInsertFirst((key, real) => Effect.catch(real.insertFirst(key), () => Effect.succeed(false))))
]
