/** Clauses about the ports `PetRepository`, `RateLimitStore` and `ApiKeyStore`. */
import { port } from "./Clause.ts"

export const clauses = [
  ...port({
    "pets.insert.exact": "§4.2: `insert` returns the animal as given, with every field exact and a new id.",
    "pets.insert.id-positive": "§2: `insert` assigns ids above 0.",
    "pets.insert.id-increasing": "§2: `insert` assigns an id above all ids assigned before it began.",
    "pets.insert.id-never-reused":
      "§2: `insert` never assigns an id twice, even after the store was reopened.",
    "pets.insert.concurrent":
      "§2: Concurrent inserts get different ids, and each animal keeps its own fields.",
    "pets.insert.int64": "§2: A `categoryId` is stored exactly over the whole range of int64.",
    "pets.once":
      "§2: `insertOnce` stores one animal for each caller and key within 24 hours, " +
      "however often it is called and however many calls are concurrent.",
    "pets.insert.names":
      "§2: A name is stored code point by code point, even if it has a special meaning in the database.",
    "pets.find.exact":
      "§4.3: `find` returns every animal as `insert` returned it, once that was acknowledged.",
    "pets.find.none":
      "§4.3: `find` returns `Option.none` for an id that was not assigned, over the whole range of int64.",
    "pets.page.sees-insert": "§4.1: `page` sees every acknowledged `insert`.",
    "pets.page.exact": "§4.1: `page` returns animals as `insert` returned them.",
    "pets.page.order": "§4.1: `page` returns each animal once, in ascending order of id.",
    "pets.page.after": "§4.1: `page` returns only animals whose id is above `after`.",
    "pets.page.status": "§4.1: `page` returns only animals with the given status.",
    "pets.page.limit": "§4.1: `page` returns at most `limit` animals.",
    "pets.page.first": "§4.1: `page` returns the first animals that match its conditions and skips none.",
    "pets.page.full":
      "§4.1: `page` returns fewer than `limit` animals only when no more match its conditions.",
    "pets.page.undefined": "§4.1: A condition of `page` that is `undefined` does not apply.",
    "pets.linearizable": "§4: Concurrent calls behave as if each took effect at one moment while it ran.",
    "pets.fails-typed": "§7: A method fails only with `StoreUnavailable`.",
    "pets.interruption": "§7: An interrupted call leaves the store usable, and no animal partly stored.",
    "limits-store.modify.initial": "§8: `step` receives `undefined` when no state of the key is stored.",
    "limits-store.modify.stored":
      "§8: `step` receives the state that the latest `modify` of the key stored, with every number exact.",
    "limits-store.modify.answer": "§8: `modify` returns the value that `step` returns.",
    "limits-store.modify.atomic":
      "§8: No other `modify` of a key runs between reading and writing its state.",
    "limits-store.modify.keys-apart":
      "§8: `modify` affects the state of its own key only, however similar other keys are.",
    "limits-store.modify.throwing-step":
      "§8: A `step` that throws leaves the state unchanged and the store usable.",
    "limits-store.kept": "§8: A state is kept until `RateLimit.spentAt`.",
    "limits-store.consume.equal":
      "§8: `consume` returns what `modify` with `RateLimit.step` would return, and leaves the same state, also when the clock steps back.",
    "limits-store.consume.atomic":
      "§8: Concurrent `consume` and `modify` of one key take effect in sequence.",
    "limits-store.consume.clock":
      "§8: `consume` computes its step for the time `now`, or for the time of a clock that all nodes share.",
    "limits-store.consume-many":
      "§8: `consumeMany` returns what `modify` with `RateLimit.step` and the same cost would return, and leaves the same state.",
    "limits-store.read":
      "§8: `read` returns the stored states of the given keys, with every number exact, and changes none.",
    "limits-store.rehearse": "§8: `rehearse` succeeds when a request could be counted, and stores nothing.",
    "limits-store.linearizable":
      "§8: Concurrent calls behave as if each took effect at one moment while it ran.",
    "limits-store.fails-typed": "§7: A method fails only with `StoreUnavailable`.",
    "limits-store.interruption":
      "§7: An interrupted call leaves the store usable, and the state either unchanged or with the whole step applied.",
    "keys-store.find.by-hash":
      "§5.4: `findByHash` returns the key that has a secret with the hash, also a revoked key and an expired secret; it sees every acknowledged change, within the adapter's documented staleness.",
    "keys-store.find.each-secret": "§5.4: A key with two secrets is found by either of them.",
    "keys-store.find.none":
      "§5.4: `findByHash` returns `Option.none` for a hash that no secret has, or no longer has.",
    "keys-store.exact":
      "§5.4: A key is returned with every field as stored and its secrets in the same order.",
    "keys-store.insert": "§5.4: `insert` adds the key and changes no other key.",
    "keys-store.insert-first":
      "§5.4: `insertFirst` adds the key only if the store has no keys, and returns whether it did.",
    "keys-store.insert-first.atomic":
      "§5.4: Exactly one of several concurrent `insertFirst` calls adds its key.",
    "keys-store.update.replaces":
      "§5.4: `update` stores the key that `change` returns and changes no other key.",
    "keys-store.update.answer": "§5.4: `update` returns the value that `change` returns.",
    "keys-store.update.none": "§5.4: `update` of an unknown id returns `Option.none` and changes nothing.",
    "keys-store.update.atomic": "§5.4: No other `update` of a key runs between reading and writing it.",
    "keys-store.list.all": "§5.4: `list` contains every key once.",
    "keys-store.list.order": "§5.4: `list` returns the keys in the order of their insertion.",
    "keys-store.find-by-id":
      "§5.4: `find` returns the key with the id as stored, and `Option.none` for an id of no key.",
    "keys-store.events":
      "§5.4: A store with `events` records, in order, the event of each change that takes effect, and no other event.",
    "keys-store.mark-seen":
      "§5.4: `markSeen` raises `lastSeenDay` of the given keys, never lowers it, and changes nothing else.",
    "keys-store.fails-typed": "§7: A method fails only with `StoreUnavailable`.",
    "keys-store.interruption": "§7: An interrupted call leaves the store usable, and no key partly stored."
  })
]
