/** Clauses about getPet, which fetches one animal, and about the removal of that operation. */
import { section } from "./Clause.ts"

export const clauses = [
  ...section("§4.3", "spec", "both", {
    "get.found":
      "A request for the id of an animal gets 200 with that animal, " +
      "from its creation until the operation is removed.",
    "get.faithful":
      "The response shows the id, name and category of the animal as its creation returned them.",
    "get.not-found": "A request for an unknown id gets 404 until the operation is removed."
  }),
  ...section("§4.3", "design", "http", {
    "get.malformed-id": "A request for an id that is not an int64 gets 404.",
    "get.canonical-id":
      "A request for an id that is not in its shortest decimal form, such as `01`, `+1` or `1.0`, gets 404."
  }),
  ...section("§9.3", "spec", "http", {
    "get.available-until-removal":
      "Animals can be fetched until 5 December 2030 has begun somewhere on earth.",
    "get.removed": "No animal can be fetched after 5 December 2030 has ended everywhere on earth.",
    "get.removed-alone": "Listing and creating still work after getPet is removed."
  }),
  ...section("§9.3", "design", "http", {
    "get.gone":
      "From 5 December 2030, 00:00:00 UTC, and not earlier, getPet responds with 410 `operation_removed`."
  }),
  ...section("§4.3", "design", "http", {
    "get.deprecation-headers":
      "Every response of the operation, including errors, has `Deprecation`, `Sunset` and `Link`."
  })
]
