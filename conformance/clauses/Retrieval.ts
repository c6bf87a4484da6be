/** Clauses about getPet, which fetches one animal, and about the deprecation and removal of that operation. */
import { design, spec, unchecked } from "./Clause.ts"

export const clauses = [
  ...spec({
    "get.found":
      "§4.3: A request for the id of an animal gets 200 with that animal, " +
      "from its creation until the operation is removed.",
    "get.faithful":
      "§4.3: The response shows the id, name and category of the animal as its creation returned them.",
    "get.not-found": "§4.3: A request for an unknown id gets 404 until the operation is removed.",
    "get.available-until-removal":
      "§9.3: Animals can be fetched until 5 December 2030 has begun somewhere on earth.",
    "get.removed": "§9.3: No animal can be fetched after 5 December 2030 has ended everywhere on earth.",
    "get.removed-alone": "§9.3: Listing and creating still work after getPet is removed."
  }),
  ...design({
    "get.canonical-id":
      "§4.3: A request for an id that is not an int64 in its shortest decimal form, such as `x`, `01`, `+1` or `1.0`, gets 404.",
    "get.deprecation-headers":
      '§4.3: Every response of the operation, including errors, has `Deprecation` with the time of the announcement (RFC 9745), `Sunset: Thu, 05 Dec 2030 00:00:00 GMT` (RFC 8594), and a `Link` to the list with `rel="successor-version"`.',
    "get.gone":
      "§9.3: From 5 December 2030, 00:00:00 UTC, and not earlier, getPet responds with 410 `operation_removed`."
  }),
  ...spec({
    "deprecation.replacement": unchecked(
      "§4.3: The list with the status filter replaces getPet.",
      "It is advice to clients, and other clauses cover the filter."
    )
  }),
  ...design({
    "deprecation.getpet-only": "§4.3: No response of another operation has `Deprecation` or `Sunset`."
  })
]
