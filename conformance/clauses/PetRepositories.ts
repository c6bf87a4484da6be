/** Clauses about the port `PetRepository`. */
import { section, unchecked } from "./Clause.ts"

export const clauses = [
  ...section("§4.2", "design", "port", {
    "pets.insert.exact": "`insert` returns the animal as given, with every field exact and a new id."
  }),
  ...section("§2", "design", "port", {
    "pets.insert.id-positive": "`insert` assigns ids above 0.",
    "pets.insert.id-increasing": "`insert` assigns an id above all ids assigned before it began.",
    "pets.insert.id-never-reused": "`insert` never assigns an id twice, even after the store was reopened.",
    "pets.insert.concurrent": "Concurrent inserts get different ids, and each animal keeps its own fields.",
    "pets.insert.int64": "A `categoryId` is stored exactly over the whole range of int64.",
    "pets.once":
      "`insertOnce` stores one animal for each caller and key within 24 hours, " +
      "however often it is called and however many calls are concurrent.",
    "pets.insert.names":
      "A name is stored code point by code point, even if it has a special meaning in the database."
  }),
  ...section("§4.3", "design", "port", {
    "pets.find.sees-insert": "`find` sees every acknowledged `insert`.",
    "pets.find.exact": "`find` returns the animal as `insert` returned it.",
    "pets.find.none":
      "`find` returns `Option.none` for an id that was not assigned, over the whole range of int64."
  }),
  ...section("§4.1", "design", "port", {
    "pets.page.sees-insert": "`page` sees every acknowledged `insert`.",
    "pets.page.exact": "`page` returns animals as `insert` returned them.",
    "pets.page.order": "`page` returns each animal once, in ascending order of id.",
    "pets.page.after": "`page` returns only animals whose id is above `after`.",
    "pets.page.status": "`page` returns only animals with the given status.",
    "pets.page.limit": "`page` returns at most `limit` animals.",
    "pets.page.first": "`page` returns the first animals that match its conditions and skips none.",
    "pets.page.full": "`page` returns fewer than `limit` animals only when no more match its conditions.",
    "pets.page.undefined": "A condition of `page` that is `undefined` does not apply.",
    "pets.page.kept": "Later inserts do not change a page that was already returned."
  }),
  ...section("§4", "design", "port", {
    "pets.linearizable": "Concurrent calls behave as if each took effect at one moment while it ran."
  }),
  ...section("§7", "design", "port", {
    "pets.fails-typed": "A method fails only with `StoreUnavailable`.",
    "pets.failure-stores-nothing": unchecked(
      "A failed `insert` stores nothing, unless the adapter documents when that is unknown.",
      "A partial failure cannot be caused from outside; each adapter tests its own failures."
    ),
    "pets.interruption": "An interrupted call leaves the store usable, and no animal partly stored."
  })
]
