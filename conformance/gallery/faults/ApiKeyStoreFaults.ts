/** Backends with a fault in: ApiKeyStore. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ApiKey, StoredSecret } from "../../../core/access/ApiKey.ts"
import type { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"
import type { ApiKeyStore } from "../../../core/ports/ApiKeyStore.ts"
import type { Fault, Spoil } from "../Fault.ts"
import * as LeakyLock from "./LeakyLock.ts"

type Keys = ApiKeyStore["Service"]
type Change<A> = (key: ApiKey) => readonly [answer: A, key: ApiKey]

/** Keeps keys otherwise than they were given. */
const keeping =
  (change: (key: ApiKey) => Partial<ApiKey>): Spoil<Keys> =>
  (real) => ({ ...real, insert: (key) => real.insert({ ...key, ...change(key) }) })

/** Finds the first key in the list that meets a condition of its own. */
const finding =
  (isFound: (secret: StoredSecret, hash: string, key: ApiKey, index: number) => boolean): Spoil<Keys> =>
  (real) => ({
    ...real,
    findByHash: (hash) =>
      Effect.map(real.list, (all) =>
        Option.fromUndefinedOr(
          all.find((key) => key.secrets.some((secret, index) => isFound(secret, hash, key, index)))
        )
      )
  })

const stripped = (hash: string): string => hash.replaceAll(/^0+|0+$/g, "")

/** Lists other than it should. */
const listing =
  (change: (all: ReadonlyArray<ApiKey>) => ReadonlyArray<ApiKey>): Spoil<Keys> =>
  (real) => ({ ...real, list: Effect.map(real.list, change) })

/** Makes something else of what a change comes to. */
const updating =
  (after: (changed: ApiKey, before: ApiKey) => ApiKey): Spoil<Keys> =>
  (real) => ({
    ...real,
    update: (id, change) =>
      real.update(id, (before) => {
        const [answer, changed] = change(before)
        return [answer, after(changed, before)]
      })
  })

/** Reads a key, and only later writes it. */
const readThenWrite =
  (pause: Effect.Effect<void>): Spoil<Keys> =>
  (real) => ({
    ...real,
    update: <A>(id: string, change: Change<A>) =>
      Effect.gen(function* () {
        const before = (yield* real.list).find((key) => key.id === id)
        if (before === undefined) return Option.none()
        yield* pause
        const changed = change(before)
        return yield* real.update(id, () => changed)
      })
  })

/** Looks whether there is a key, and only later inserts. */
const lookThenInsert =
  (pause: Effect.Effect<void>): Spoil<Keys> =>
  (real) => ({
    ...real,
    insertFirst: (key) =>
      Effect.gen(function* () {
        if ((yield* real.list).length > 0) return false
        yield* pause
        yield* real.insert(key)
        return true
      })
  })

/** Makes something else of what a change throws. */
const catching =
  (
    handle: (real: Keys, id: string, defect: unknown) => Effect.Effect<Option.Option<never>, StoreUnavailable>
  ): Spoil<Keys> =>
  (real) => ({
    ...real,
    update: (id, change) => Effect.catchDefect(real.update(id, change), (defect) => handle(real, id, defect))
  })

const port = (
  id: string,
  does: string,
  breaks: Fault["breaks"],
  killedBy: string,
  words: string,
  keys: Spoil<Keys>
): Fault => ({ id, does, breaks, killedBy, words, where: { at: "port", keys } })

export const faults: ReadonlyArray<Fault> = [
  // what is stored
  port(
    "keys-store.label-empty",
    "Keeps an absent label as an empty one.",
    "keys-store.exact",
    "keys-store.insert-exact",
    'label "", created',
    keeping(({ label = "" }) => ({ label }))
  ),
  port(
    "keys-store.label-null",
    "Answers with null for what is absent.",
    "keys-store.exact",
    "keys-store.insert-exact",
    "revoked at null",
    // The type forbids it, which is why nobody notices in a language without types.
    keeping(({ revokedAt = null }) => ({ revokedAt: revokedAt as number }))
  ),
  port(
    "keys-store.label-normalised",
    "Keeps labels in Unicode's composed form.",
    "keys-store.exact",
    "keys-store.insert-exact",
    "the key just inserted",
    keeping(({ label }) => ({ label: label?.normalize("NFC") }))
  ),
  port(
    "keys-store.times-32-bits",
    "Keeps the time of creation in 32 bits.",
    "keys-store.exact",
    "keys-store.insert-exact",
    "created at -1025769472",
    keeping(({ createdAt }) => ({ createdAt: createdAt | 0 }))
  ),
  port(
    "keys-store.revoked-at-zero",
    "Takes a revocation at the time 0 for none.",
    "keys-store.exact",
    "keys-store.insert-exact",
    "the key just inserted",
    keeping(({ revokedAt }) => ({ revokedAt: revokedAt === 0 ? undefined : revokedAt }))
  ),
  port(
    "keys-store.limits-of-the-plan",
    "Keeps no limits but those of the Free plan.",
    "keys-store.exact",
    "keys-store.insert-exact",
    "Enterprise, 60/1000",
    keeping(() => ({ limits: { perMinute: 60, perDay: 1_000 } }))
  ),
  port(
    "keys-store.one-secret",
    "Keeps the newest secret only.",
    "keys-store.exact",
    "keys-store.insert-exact",
    "0002 of 0}",
    keeping(({ secrets }) => ({ secrets: secrets.slice(0, 1) }))
  ),
  port(
    "keys-store.secrets-turned",
    "Lists the oldest secret first.",
    "keys-store.exact",
    "keys-store.insert-exact",
    "the key just inserted",
    keeping(({ secrets }) => ({ secrets: secrets.toReversed() }))
  ),

  port(
    "keys-store.insert-replaces",
    "Revokes the first key when another is inserted.",
    "keys-store.insert",
    "keys-store.history",
    "created at 1, revoked at 1",
    (real) => ({
      ...real,
      insert: (key) =>
        Effect.gen(function* () {
          const [first] = yield* real.list
          yield* real.insert(key)
          if (first !== undefined) yield* real.update(first.id, (one) => [0, { ...one, revokedAt: 1 }])
        })
    })
  ),

  // findByHash
  port(
    "keys-store.find-newest",
    "Finds a key by its newest secret only.",
    "keys-store.find.each-secret",
    "keys-store.find-each",
    "until 2} none",
    finding((secret, hash, _key, index) => secret.hash === hash && index === 0)
  ),
  port(
    "keys-store.find-by-prefix",
    "Compares the first 16 digits of hashes.",
    "keys-store.find.by-hash",
    "keys-store.find-each",
    "} {key_a0, Free",
    finding((secret, hash) => secret.hash.startsWith(hash.slice(0, 16)))
  ),
  port(
    "keys-store.find-without-zeros",
    "Compares hashes without the zeros at their ends.",
    "keys-store.find.none",
    "keys-store.find-each",
    "this hash: none {key_",
    finding((secret, hash) => stripped(secret.hash) === stripped(hash))
  ),
  port(
    "keys-store.find-as-number",
    "Compares hashes that look like numbers as numbers.",
    "keys-store.find.by-hash",
    "keys-store.find-each",
    "} {key_a0, Free",
    finding((secret, hash) => secret.hash === hash || Number(secret.hash) === Number(hash))
  ),
  port(
    "keys-store.find-unrevoked",
    "Does not find revoked keys.",
    "keys-store.find.revoked",
    "keys-store.find-each",
    "} none",
    finding((secret, hash, key) => secret.hash === hash && key.revokedAt === undefined)
  ),
  port(
    "keys-store.find-unexpired",
    "Does not find keys by secrets that are expired.",
    "keys-store.find.revoked",
    "keys-store.find-each",
    "} none",
    (real) => ({
      ...real,
      findByHash: (hash) =>
        Effect.map(Effect.all([real.findByHash(hash), Clock.currentTimeMillis]), ([found, now]) =>
          Option.filter(found, ({ secrets }) =>
            secrets.some((secret) => secret.hash === hash && (secret.expiresAt ?? now + 1) > now)
          )
        )
    })
  ),
  port(
    "keys-store.find-late",
    "Finds a key only once another was inserted after it.",
    "keys-store.find.sees-insert",
    "keys-store.insert-exact",
    "of 1} none",
    (real) => ({
      ...real,
      findByHash: (hash) =>
        Effect.map(Effect.all([real.findByHash(hash), real.list]), ([found, all]) =>
          Option.filter(found, ({ id }) => id !== all.at(-1)?.id)
        )
    })
  ),
  port(
    "keys-store.find-remembered",
    "Remembers a key that it has found, whatever becomes of it.",
    "keys-store.find.sees-update",
    "keys-store.find-after",
    "whose secret it is",
    (real) => {
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
    }
  ),
  port(
    "keys-store.find-remembers-none",
    "Remembers that a hash was not found.",
    "keys-store.find.sees-insert-first",
    "keys-store.find-after",
    "} none",
    (real) => {
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
    }
  ),
  port(
    "keys-store.dropped-secret-kept",
    "Finds a key by every secret that it ever had.",
    "keys-store.find.dropped-secret",
    "keys-store.find-after",
    "secret it is: none {key_a2",
    (real) => {
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
            const [answer, after] = change(before)
            return [answer, noted(after)]
          }),
        findByHash: (hash) =>
          Effect.map(real.list, (all) =>
            Option.fromUndefinedOr(all.find(({ id }) => id === owners.get(hash)))
          )
      }
    }
  ),

  // list
  port(
    "keys-store.list-newest-first",
    "Lists the newest key first.",
    "keys-store.list.order",
    "keys-store.list-order",
    "key_A10 key_A10",
    listing((all) => all.toReversed())
  ),
  port(
    "keys-store.list-by-date",
    "Lists keys by their dates, which need not be those of their insertion.",
    "keys-store.list.order",
    "keys-store.list-order",
    "key_A10 key_A4, key_A0",
    listing((all) => all.toSorted((one, other) => one.createdAt - other.createdAt))
  ),
  port(
    "keys-store.list-by-id",
    "Lists keys by their ids.",
    "keys-store.list.order",
    "keys-store.list-order",
    "key_A10 key_A0, key_A10",
    listing((all) => all.toSorted((one, other) => (one.id < other.id ? -1 : 1)))
  ),
  port(
    "keys-store.list-latest-change-last",
    "Lists a key that was changed last.",
    "keys-store.list.order",
    "keys-store.list-order",
    "key_A10 key_A0, key_a2, key_A2",
    (real) => {
      let latest = ""
      return {
        ...real,
        update: (id, change) => {
          latest = id
          return real.update(id, change)
        },
        list: Effect.map(real.list, (all) =>
          all.toSorted((one, other) => Number(one.id === latest) - Number(other.id === latest))
        )
      }
    }
  ),
  port(
    "keys-store.list-without-revoked",
    "Lists no revoked keys.",
    "keys-store.list.all",
    "keys-store.history",
    "in the list: {key_a0",
    listing((all) => all.filter(({ revokedAt }) => revokedAt === undefined))
  ),
  port(
    "keys-store.list-a-secret-each",
    "Lists a key once for each of its secrets.",
    "keys-store.list.all",
    "keys-store.history",
    "in the list: {key_a0",
    listing((all) => all.flatMap((key) => key.secrets.map(() => key)))
  ),

  // update
  port(
    "keys-store.update-answers-key",
    "Answers an update with the new key.",
    "keys-store.update.answer",
    "keys-store.update-answer",
    "a text key_a0",
    (real) => ({
      ...real,
      update: <A>(id: string, change: Change<A>) =>
        Effect.map(real.update(id, change), (answer) =>
          Option.map(
            answer,
            // Not what the change answers: that is the fault.
            () => id as A
          )
        )
    })
  ),
  port(
    "keys-store.update-null-is-none",
    "Takes an answer that is null or undefined for an unknown key.",
    "keys-store.update.answer",
    "keys-store.update-answer",
    "the answer null none",
    (real) => ({
      ...real,
      update: (id, change) =>
        Effect.map(
          real.update(id, change),
          Option.filter((answer) => answer !== null && answer !== undefined)
        )
    })
  ),
  port(
    "keys-store.update-all",
    "Makes the change to every key.",
    "keys-store.update.replaces",
    "keys-store.update-answer",
    '{key_A0, Free, 60/1000, label "changed"',
    (real) => ({
      ...real,
      update: (id, change) =>
        Effect.gen(function* () {
          const others = (yield* real.list).filter((key) => key.id !== id)
          const answer = yield* real.update(id, change)
          for (const other of others) yield* real.update(other.id, change)
          return answer
        })
    })
  ),
  port(
    "keys-store.update-label-kept",
    "Does not take a label away.",
    "keys-store.update.replaces",
    "keys-store.history",
    '{key_a0, Free, 60/1000, label "%"',
    updating((changed, before) => ({ ...changed, label: changed.label ?? before.label }))
  ),
  port(
    "keys-store.update-secrets-added",
    "Adds the secrets of the changed key to those that it had.",
    "keys-store.update.replaces",
    "keys-store.history",
    "of 3 until 13, secret",
    updating((changed, before) => ({
      ...changed,
      secrets: [
        ...changed.secrets,
        ...before.secrets.filter(({ hash }) => !changed.secrets.some((secret) => secret.hash === hash))
      ]
    }))
  ),
  port(
    "keys-store.update-id-case",
    "Compares ids without regard to case.",
    "keys-store.update.none",
    "keys-store.update-unknown",
    "KEY_A0 an answer",
    (real) => ({
      ...real,
      update: (id, change) =>
        Effect.flatMap(real.list, (all) =>
          real.update(all.find((key) => key.id.toLowerCase() === id.toLowerCase())?.id ?? id, change)
        )
    })
  ),
  port(
    "keys-store.update-by-pattern",
    "Looks for an id by a pattern.",
    "keys-store.update.none",
    "keys-store.update-unknown",
    "of % an answer",
    (real) => ({
      ...real,
      update: (id, change) =>
        Effect.flatMap(real.list, (all) => real.update(id === "%" ? (all[0]?.id ?? id) : id, change))
    })
  ),
  port(
    "keys-store.update-raced",
    "Reads a key, gives way, and writes what was made of it.",
    "keys-store.update.atomic",
    "keys-store.update-at-once",
    "different states seen 1",
    readThenWrite(Effect.yieldNow)
  ),
  port(
    "keys-store.update-raced-in-parallel",
    "Reads a key, gives way, and writes what was made of it: answers that no order explains.",
    "keys-store.update.atomic",
    "keys-store.parallel",
    "none for label",
    readThenWrite(Effect.yieldNow)
  ),
  port(
    "keys-store.update-raced-closely",
    "Reads a key and writes what was made of it in a second step, without giving way between.",
    "keys-store.update.atomic",
    "keys-store.interleaved",
    "none for label",
    readThenWrite(Effect.void)
  ),

  // insertFirst
  port(
    "keys-store.insert-first-always",
    "Inserts as the first key whatever there is.",
    "keys-store.insert-first",
    "keys-store.history",
    "refused it inserted",
    (real) => ({ ...real, insertFirst: (key) => Effect.as(real.insert(key), true) })
  ),
  port(
    "keys-store.insert-first-unsaid",
    "Inserts the first key and says that it did not.",
    "keys-store.insert-first",
    "keys-store.history",
    "inserted it refused",
    (real) => ({ ...real, insertFirst: (key) => Effect.as(real.insertFirst(key), false) })
  ),
  port(
    "keys-store.insert-first-unstored",
    "Says that it inserted the first key, and does not.",
    "keys-store.insert-first",
    "keys-store.history",
    "of 1} none",
    (real) => ({ ...real, insertFirst: () => Effect.map(real.list, (all) => all.length === 0) })
  ),
  port(
    "keys-store.insert-first-raced",
    "Looks whether there is a key, gives way, and inserts.",
    "keys-store.insert-first.atomic",
    "keys-store.insert-first-at-once",
    "exactly one first key 50",
    lookThenInsert(Effect.yieldNow)
  ),
  port(
    "keys-store.insert-first-raced-closely",
    "Looks whether there is a key and inserts in a second step, without giving way between.",
    "keys-store.insert-first.atomic",
    "keys-store.interleaved",
    "none for key",
    lookThenInsert(Effect.void)
  ),

  // changes that throw
  port(
    "keys-store.throwing-change-stored",
    "Stores a key without label when a change throws.",
    "keys-store.update.replaces",
    "keys-store.throwing-change",
    'label "changing"',
    catching((real, id, defect) =>
      Effect.andThen(
        real.update(id, (key) => [undefined, { ...key, label: "changing" }]),
        Effect.die(defect)
      )
    )
  ),
  port(
    "keys-store.throwing-change-answered",
    "Answers none when a change throws.",
    "keys-store.update.none",
    "keys-store.throwing-change",
    "key_a0 an answer",
    catching(() => Effect.succeed(Option.none()))
  ),
  port(
    "keys-store.throwing-change-locked",
    "Keeps its lock when a change throws.",
    "keys-store.update.atomic",
    "keys-store.throwing-change",
    "database is locked",
    (real) => {
      const guarded = LeakyLock.make()
      return { ...real, update: (id, change) => guarded(real.update(id, change)) }
    }
  ),

  // interruption
  port(
    "keys-store.interrupted-half",
    "Inserts a key and then its older secret: who is interrupted between them leaves it without.",
    "keys-store.interruption",
    "keys-store.interrupted",
    "of 0 until 9} {key_",
    (real) => ({
      ...real,
      insert: (key) =>
        Effect.gen(function* () {
          yield* real.insert({ ...key, secrets: key.secrets.slice(0, 1) })
          yield* Effect.yieldNow
          yield* real.update(key.id, () => [undefined, key])
        })
    })
  ),
  port(
    "keys-store.interrupted-locked",
    "Keeps its lock when an update is interrupted.",
    "keys-store.interruption",
    "keys-store.interrupted",
    "database is locked",
    (real) => {
      const guarded = LeakyLock.make()
      return { ...real, update: (id, change) => guarded(real.update(id, change)) }
    }
  ),

  // outage
  port(
    "keys-store.outage-none",
    "Finds no key when its backend does not answer.",
    "keys-store.fails-typed",
    "keys-store.outage",
    "as if nothing were wrong",
    (real) => ({
      ...real,
      findByHash: (hash) => Effect.catch(real.findByHash(hash), () => Effect.succeed(Option.none()))
    })
  ),
  port(
    "keys-store.outage-empty",
    "Lists no keys when its backend does not answer.",
    "keys-store.fails-typed",
    "keys-store.outage",
    "as if nothing were wrong",
    (real) => ({ ...real, list: Effect.catch(real.list, () => Effect.succeed([])) })
  ),
  port(
    "keys-store.outage-refused",
    "Says that a key is not the first when its backend does not answer.",
    "keys-store.fails-typed",
    "keys-store.outage",
    "as if nothing were wrong",
    (real) => ({
      ...real,
      insertFirst: (key) => Effect.catch(real.insertFirst(key), () => Effect.succeed(false))
    })
  ),
  port(
    "keys-store.outage-dies",
    "Dies when its backend does not answer.",
    "keys-store.fails-typed",
    "keys-store.outage",
    "a defect: StoreUnavailable",
    (real) => ({ ...real, insert: (key) => Effect.orDie(real.insert(key)) })
  )
]
