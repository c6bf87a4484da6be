/** Clauses about error responses. */
import { design, spec } from "./Clause.ts"

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
      "§7: The `code` of an error is the one of the closed set that belongs to its cause, and comes with the status of that code.",
    "errors.messages": "§7: The message of a 400 names the invalid field or parameter.",
    "errors.no-echo": "§7: No message repeats an API key or long input."
  })
]
