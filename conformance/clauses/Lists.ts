/** Clauses about lists of animals: limit, filter, order and pages. */
import { design, optional, spec, unlessFull } from "./Clause.ts"

export const clauses = [
  ...spec({
    "list.status-200": "§4.1: A list request with valid parameters gets 200.",
    "list.empty": optional(
      "§4.1: A list request that no animal matches gets 200 with an empty array.",
      "No list of the run was empty."
    ),
    "list.limit.maximum-returned":
      "§4.1: A list holds at most `limit` animals, for every `limit` from 1 to 100.",
    "list.complete": unlessFull(
      "§4.1: A list with fewer animals than its limit holds every matching animal."
    ),
    "list.sees-created": unlessFull(
      "§4.1: Every list requested after the 201 of an animal includes it, if its status matches."
    ),
    "list.faithful":
      "§4.1: A list shows the id, name and category of an animal as its creation returned them.",
    "list.distinct": "§4.1: No list holds an animal twice.",
    "list.status.accepted": "§4.1: Each of `available`, `pending` and `sold` is accepted as `status`.",
    "list.status.filter": "§4.1: A list with `status` holds only animals with that status.",
    "list.status.all": unlessFull("§4.1: A list without `status` holds animals of every status."),
    "list.status.before-limit": unlessFull("§4.1: The filter is applied before the limit."),
    "list.limit.chosen":
      "§4.1: A service that rejects one `limit` above 100 rejects each of them, and so with those below 0.",
    "list.array": "§2: The body of a list is a bare JSON array of animals.",
    "list.limit.accepted": "§8.1: Every `limit` from 1 to 100 is accepted.",
    "list.limit.ceiling": "§8.1: No list holds more than 100 animals, whatever the requested limit.",
    "list.limit.default": "§8.1: Without `limit` a list holds at most 20 animals.",
    "list.limit.default-fills": "§8.1: Without `limit` a list holds 20 animals if at least 20 match."
  }),
  ...design({
    "list.limit.range":
      "§4.1: A `limit` that is not one plain decimal number from 1 to 100 is rejected with 400, never clamped: one that is empty, repeated, `05`, `1e1` or `+5`, too.",
    "list.status.exact":
      "§4.1: The value of `status` is compared exactly: one that is empty, repeated, unknown or in another case is rejected with 400.",
    "list.unknown-parameters": "§4.1: Unknown query parameters are ignored.",
    "list.order": "§4.1: Lists are in ascending order of `id`.",
    "list.paging":
      '§4.1: A page that is followed by more animals links to the next page with `Link` and `rel="next"`: to a path, or an absolute address, with the same status and limit.',
    "list.paging.last": '§4.1: The last page has no `Link` with `rel="next"`.',
    "list.paging.complete":
      "§4.1: Following the `next` links shows every animal that existed at the start exactly once.",
    "list.paging.forged":
      "§4.1: A cursor that is forged, altered or used with a different status filter is rejected with 400."
  })
]
