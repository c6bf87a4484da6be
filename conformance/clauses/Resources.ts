/** Clauses about the resources and their fields. */
import { design, spec } from "./Clause.ts"

export const clauses = [
  ...spec({
    "resources.pet-fields": "§2: An animal has at least `id`, `name` and `categoryId`.",
    "resources.pet-types":
      "§2: The `id` and `categoryId` of an animal are JSON integers within int64, and its `name` is a string.",
    "resources.id-unique": "§2: No two animals have the same `id`.",
    "resources.stable":
      "§2: The id, name and category of an animal never change, whatever is created after it.",
    "resources.status-agreed":
      "§3: Lists and retrievals show the same status of an animal, which may change but does not alternate.",
    "resources.status-values": "§3: The status of an animal, if present, is `available`, `pending` or `sold`."
  }),
  ...design({
    "resources.status-stable": "§3: The status of an animal never changes after its creation.",
    "resources.linearizable":
      "§4: Concurrent creations, lists and retrievals take effect one after the other, each while it runs.",
    "resources.int64-numbers":
      "§2: Every int64 is a JSON number with all its digits, never a string, an exponent or a fraction."
  })
]
