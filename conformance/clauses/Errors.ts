/** Clauses about error responses. */
import { section, unchecked } from "./Clause.ts"

export const clauses = [
  ...section("§7", "spec", "http", {
    "errors.body": "The body of every error is a JSON object with `code`, `message` and `status`.",
    "errors.listed-statuses":
      "A request that the contract describes gets a status that the contract lists, unless the key is banned."
  }),
  ...section("§2", "spec", "http", {
    "errors.body-types":
      "The `code` and `message` of an error are strings that are not blank, and its `status` is an integer.",
    "errors.status-matches": "The `status` in the body of an error is the HTTP status of the response."
  }),
  ...section("§4", "spec", "http", {
    "errors.no-5xx": "A request that the contract describes never gets 5xx."
  }),
  ...section("§4", "design", "http", {
    "errors.no-5xx-anywhere": "No request, however invalid, gets 5xx while the stores are reachable."
  }),
  ...section("§2", "design", "http", {
    "errors.exact-body": "The body of an error has exactly the members `code`, `message` and `status`."
  }),
  ...section("§7", "design", "http", {
    "errors.codes":
      "Every `code` is in the closed set of codes and comes with the status that belongs to it.",
    "errors.messages": "The message of a 400 names the invalid field or parameter.",
    "errors.no-echo": "No message repeats an API key or long input.",
    "errors.internal": unchecked(
      "After an internal failure, the response is 500 `internal_error` without the cause.",
      "An internal failure cannot be caused from outside."
    ),
    "errors.unavailable": unchecked(
      "While a store is unreachable, requests get 503 `service_unavailable` with `Retry-After`, " +
        "the plan's limit, Remaining 0 and a Reset after that time.",
      "A store cannot be made unreachable from outside."
    ),
    "errors.no-request": unchecked(
      "Bytes that are no HTTP request get 400 `malformed_request`, an oversized header section or target " +
        "431 `headers_too_large`, and an incomplete request 408 `request_timeout`, each with an Error body.",
      "Responses on broken connections need tests with raw sockets; those of the Node adapter cover them."
    )
  })
]
