/** Clauses about the port `ApiKeyStore`. */
import { section, unchecked } from "./Clause.ts"

export const clauses = [
  ...section("§5.4", "design", "port", {
    "keys-store.find.by-hash": "`findByHash` returns the key that has a secret with the hash.",
    "keys-store.find.each-secret": "A key with two secrets is found by either of them.",
    "keys-store.find.none": "`findByHash` returns `Option.none` for a hash that no secret has.",
    "keys-store.find.revoked": "`findByHash` also finds revoked keys and expired secrets.",
    "keys-store.find.sees-insert":
      "`findByHash` sees every acknowledged `insert`, within the adapter's documented staleness.",
    "keys-store.find.sees-update":
      "`findByHash` sees every acknowledged `update`, within the adapter's documented staleness.",
    "keys-store.find.sees-insert-first":
      "`findByHash` sees an acknowledged `insertFirst`, within the adapter's documented staleness.",
    "keys-store.find.dropped-secret": "A key is no longer found by a secret that an `update` removed.",
    "keys-store.exact": "A key is returned with every field as stored and its secrets in the same order.",
    "keys-store.insert": "`insert` adds the key and changes no other key.",
    "keys-store.insert-first":
      "`insertFirst` adds the key only if the store has no keys, and returns whether it did.",
    "keys-store.insert-first.atomic": "Exactly one of several concurrent `insertFirst` calls adds its key.",
    "keys-store.update.replaces": "`update` stores the key that `change` returns and changes no other key.",
    "keys-store.update.answer": "`update` returns the value that `change` returns.",
    "keys-store.update.none": "`update` of an unknown id returns `Option.none` and changes nothing.",
    "keys-store.update.atomic": "No other `update` of a key runs between reading and writing it.",
    "keys-store.list.all": "`list` contains every key once.",
    "keys-store.list.order": "`list` returns the keys in the order of their insertion.",
    "keys-store.events":
      "A store with `events` records, in order, the event of each change that takes effect, and no other event.",
    "keys-store.mark-seen":
      "`markSeen` raises `lastSeenDay` of the given keys, never lowers it, and changes nothing else."
  }),
  ...section("§7", "design", "port", {
    "keys-store.fails-typed": "A method fails only with `StoreUnavailable`.",
    "keys-store.failure-stores-nothing": unchecked(
      "A failed write changes nothing, unless the adapter documents when that is unknown.",
      "A partial failure cannot be caused from outside; each adapter tests its own failures."
    ),
    "keys-store.interruption": "An interrupted call leaves the store usable, and no key partly stored."
  })
]
