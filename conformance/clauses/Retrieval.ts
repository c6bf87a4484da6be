/** Clauses about getPet, which fetches one animal, and about the deprecation and removal of that operation. */
import { section, unchecked } from "./Clause.ts"

export const clauses = [
  ...section("§4.3", "spec", "http", {
    "get.found":
      "A request for the id of an animal gets 200 with that animal, " +
      "from its creation until the operation is removed.",
    "get.faithful":
      "The response shows the id, name and category of the animal as its creation returned them.",
    "get.not-found": "A request for an unknown id gets 404 until the operation is removed."
  }),
  ...section("§9.3", "spec", "http", {
    "get.available-until-removal":
      "Animals can be fetched until 5 December 2030 has begun somewhere on earth.",
    "get.removed": "No animal can be fetched after 5 December 2030 has ended everywhere on earth.",
    "get.removed-alone": "Listing and creating still work after getPet is removed."
  }),
  ...section("§4.3", "design", "http", {
    "get.malformed-id": "A request for an id that is not an int64 gets 404.",
    "get.canonical-id":
      "A request for an id that is not in its shortest decimal form, such as `01`, `+1` or `1.0`, gets 404.",
    "get.deprecation-headers":
      "Every response of the operation, including errors, has `Deprecation`, `Sunset` and `Link`."
  }),
  ...section("§9.3", "design", "http", {
    "get.gone":
      "From 5 December 2030, 00:00:00 UTC, and not earlier, getPet responds with 410 `operation_removed`."
  }),
  ...section("§4.3", "spec", "http", {
    "deprecation.replacement": unchecked(
      "The list with the status filter replaces getPet.",
      "It is advice to clients, and other clauses cover the filter."
    )
  }),
  ...section("§4.3", "design", "http", {
    "deprecation.date": "`Deprecation` is `@` followed by the Unix time of the announcement, as in RFC 9745.",
    "deprecation.sunset": "`Sunset` is `Thu, 05 Dec 2030 00:00:00 GMT`, as in RFC 8594.",
    "deprecation.successor": '`Link` points to the list of animals with `rel="successor-version"`.',
    "deprecation.getpet-only": "No response of another operation has `Deprecation` or `Sunset`."
  }),
  ...section("§9.4", "design", "http", {
    "deprecation.policy": unchecked(
      "Changes within v1 are additive, and removals are announced at least 180 days in advance.",
      "It is a promise about later versions."
    )
  })
]
