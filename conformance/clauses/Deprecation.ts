/** Clauses about the deprecation of the operation getPet. */
import { section, unchecked } from "./Clause.ts"

export const clauses = [
  ...section("§4.3", "spec", "nowhere", {
    "deprecation.marked": unchecked(
      "The operation getPet is marked deprecated.",
      "The mark is in the interface description, and no response has to show it."
    ),
    "deprecation.replacement": unchecked(
      "The list with the status filter replaces getPet.",
      "It is advice to clients, and other clauses cover the filter."
    )
  }),
  ...section("§4.3", "design", "http", {
    "deprecation.date": "`Deprecation` is `@` followed by the Unix time of the announcement, as in RFC 9745.",
    "deprecation.sunset": "`Sunset` is `Thu, 05 Dec 2030 00:00:00 GMT`, as in RFC 8594.",
    "deprecation.successor": '`Link` points to the list of animals with `rel="successor-version"`.',
    "deprecation.getpet-only": "No response of another operation has `Deprecation` or `Sunset`.",
    "deprecation.described": unchecked(
      "The OpenAPI document marks only getPet as deprecated.",
      "It is outside the base address, the only address that the suite knows; tests of the service cover it."
    )
  }),
  ...section("§9.4", "design", "nowhere", {
    "deprecation.policy": unchecked(
      "Changes within v1 are additive, and removals are announced at least 180 days in advance.",
      "It is a promise about later versions."
    )
  })
]
