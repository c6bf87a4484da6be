/** Clauses about the resources and their fields. */
import { section } from "./Clause.ts"

export const clauses = [
  ...section("§2", "spec", "http", {
    "resources.pet-fields": "An animal has at least `id`, `name` and `categoryId`.",
    "resources.pet-types":
      "The `id` and `categoryId` of an animal are JSON integers within int64, and its `name` is a string.",
    "resources.id-unique": "No two animals have the same `id`.",
    "resources.stable": "The id, name and category of an animal never change, whatever is created after it."
  }),
  ...section("§3", "spec", "http", {
    "resources.status-agreed":
      "Lists and retrievals show the same status of an animal, which may change but does not alternate.",
    "resources.status-values": "The status of an animal, if present, is `available`, `pending` or `sold`."
  }),
  ...section("§3", "design", "http", {
    "resources.status-stable": "The status of an animal never changes after its creation."
  }),
  ...section("§4", "design", "http", {
    "resources.linearizable":
      "Concurrent creations, lists and retrievals take effect one after the other, each while it runs."
  }),
  ...section("§2", "design", "http", {
    "resources.int64-numbers":
      "Every int64 is a JSON number with all its digits, never a string, an exponent or a fraction."
  })
]
