/** Faulty stores of API keys, at least one for each law of the port. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Fault, fault } from "../Fault.ts"
import * as AtPort from "../spoilers/AtPort.ts"
import {
  changingEvents,
  changingInserted,
  changingList,
  checkThenInsert,
  findingWhere,
  readThenWrite,
  replacingFind,
  replacingInsertFirst,
  replacingUpdate
} from "../spoilers/KeyStores.ts"
import * as LeakyLock from "../spoilers/LeakyLock.ts"

export const faults: ReadonlyArray<Fault> = [
  fault("keys-store.label-empty", "Stores an absent label as an empty string.")
    .breaks("keys-store.exact")
    .by(changingInserted(({ label = "" }) => ({ label }))),
  fault("keys-store.times-32-bits", "Truncates the time of creation to 32 bits.")
    .breaks("keys-store.exact")
    .by(changingInserted(({ createdAt }) => ({ createdAt: createdAt | 0 }))),
  fault("keys-store.find-newest", "Finds a key only by its newest secret.")
    .breaks("keys-store.find.each-secret")
    .by(findingWhere((secret, hash, _key, index) => secret.hash === hash && index === 0)),
  fault("keys-store.find-by-prefix", "Compares only the first 16 digits of hashes.")
    .breaks("keys-store.find.by-hash")
    .by(findingWhere((secret, hash) => secret.hash.startsWith(hash.slice(0, 16)))),
  fault("keys-store.find-unrevoked", "Does not find revoked keys.")
    .breaks("keys-store.find.each-secret")
    .by(findingWhere((secret, hash, key) => secret.hash === hash && key.revokedAt === undefined)),
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
  fault("keys-store.throwing-change-locked", "Does not release its lock when a change throws.")
    .breaks("keys-store.update.atomic")
    .by(
      AtPort.keys((real) => {
        const guarded = LeakyLock.make()
        return { ...real, update: (id, change) => guarded(real.update(id, change)) }
      })
    ),
  fault("keys-store.outage-none", "Finds no key when its backend does not respond.")
    .breaks("keys-store.fails-typed")
    .by(
      replacingFind((hash, real) => Effect.catch(real.findByHash(hash), () => Effect.succeed(Option.none())))
    ),
  fault("keys-store.events-of-all", "Returns the events of all keys for each key.")
    .breaks("keys-store.events")
    .by(changingEvents((all) => all))
]
