/** Clauses about error responses. */
import { design, spec, unchecked } from "./Clause.ts"

export const clauses = [
  ...spec({
    "errors.body": "§7: The body of every error is a JSON object with `code`, `message` and `status`.",
    "errors.listed-statuses":
      "§7: A request that the contract describes gets a status that the contract lists, unless the key is banned.",
    "errors.body-types":
      "§2: The `code` and `message` of an error are strings that are not blank, and its `status` is an integer.",
    "errors.status-matches": "§2: The `status` in the body of an error is the HTTP status of the response.",
    "errors.no-5xx": "§4: A request that the contract describes never gets 5xx."
  }),
  ...design({
    "errors.no-5xx-anywhere": "§4: No request, however invalid, gets 5xx while the stores are reachable.",
    "errors.exact-body": "§2: The body of an error has exactly the members `code`, `message` and `status`.",
    "errors.codes":
      "§7: Every `code` is in the closed set of codes and comes with the status that belongs to it.",
    "errors.messages": "§7: The message of a 400 names the invalid field or parameter.",
    "errors.no-echo": "§7: No message repeats an API key or long input.",
    "errors.internal": unchecked(
      "§7: After an internal failure, the response is 500 `internal_error` without the cause.",
      "An internal failure cannot be caused from outside."
    ),
    "errors.unavailable": unchecked(
      "§7: While a store is unreachable, requests get 503 `service_unavailable` with `Retry-After`, " +
        "the plan's limit, Remaining 0 and a Reset after that time.",
      "A store cannot be made unreachable from outside."
    ),
    "errors.no-request": unchecked(
      "§7: Bytes that are no HTTP request get 400 `malformed_request`, an oversized header section or target " +
        "431 `headers_too_large`, and an incomplete request 408 `request_timeout`, each with an Error body.",
      "Responses on broken connections need tests with raw sockets; those of the Node adapter cover them."
    )
  })
]
