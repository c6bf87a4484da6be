/** Clauses about lists of animals: limit, filter, order and pages. */
import { optional, section, unlessFull } from "./Clause.ts"

export const clauses = [
  ...section("§4.1", "spec", "http", {
    "list.status-200": "A list request with valid parameters gets 200.",
    "list.empty": optional(
      "A list request that no animal matches gets 200 with an empty array.",
      "The service holds animals of every status."
    ),
    "list.limit.maximum-returned": "A list holds at most `limit` animals, for every `limit` from 1 to 100.",
    "list.complete": unlessFull("A list with fewer animals than its limit holds every matching animal."),
    "list.sees-created": unlessFull(
      "Every list requested after the 201 of an animal includes it, if its status matches."
    ),
    "list.faithful": "A list shows the id, name and category of an animal as its creation returned them.",
    "list.distinct": "No list holds an animal twice.",
    "list.status.accepted": "Each of `available`, `pending` and `sold` is accepted as `status`.",
    "list.status.filter": "A list with `status` holds only animals with that status.",
    "list.status.all": unlessFull("A list without `status` holds animals of every status."),
    "list.status.before-limit": unlessFull("The filter is applied before the limit."),
    "list.limit.chosen":
      "A service that rejects one `limit` above 100 rejects each of them, and so with those below 0."
  }),
  ...section("§2", "spec", "http", {
    "list.array": "The body of a list is a bare JSON array of animals."
  }),
  ...section("§8.1", "spec", "http", {
    "list.limit.accepted": "Every `limit` from 1 to 100 is accepted.",
    "list.limit.ceiling": "No list holds more than 100 animals, whatever the requested limit.",
    "list.limit.default": "Without `limit` a list holds at most 20 animals.",
    "list.limit.default-fills": "Without `limit` a list holds 20 animals if at least 20 match."
  }),
  ...section("§4.1", "design", "http", {
    "list.limit.range": "A `limit` below 1 or above 100 is rejected with 400, never clamped.",
    "list.limit.syntax":
      "A `limit` that is empty or not a plain decimal number, such as `05`, `1e1` or `+5`, is rejected with 400.",
    "list.limit.repeated": "A repeated `limit` is rejected with 400.",
    "list.status.unknown": "An unknown or empty `status` is rejected with 400.",
    "list.status.exact": "The value of `status` is compared exactly: case-sensitive and without trimming.",
    "list.status.repeated": "A repeated `status` is rejected with 400.",
    "list.unknown-parameters": "Unknown query parameters are ignored.",
    "list.order": "Lists are in ascending order of `id`.",
    "list.paging":
      'A page that is followed by more animals links to the next page with `Link` and `rel="next"`.',
    "list.paging.last": 'The last page has no `Link` with `rel="next"`.',
    "list.paging.complete":
      "Following the `next` links shows every animal that existed at the start exactly once.",
    "list.paging.filter": "The `next` link keeps the status filter and the limit.",
    "list.paging.bound": "A cursor used with a different status filter is rejected with 400.",
    "list.paging.forged": "A forged or altered cursor is rejected with 400.",
    "list.paging.address":
      "The target of a `next` link is a path, or absolute if a public base address is configured."
  }),
  ...section("§7", "design", "http", {
    "list.parameter-code": "A 400 response caused by a query parameter has the code `invalid_parameter`."
  })
]
