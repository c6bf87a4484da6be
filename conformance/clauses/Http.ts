/** Clauses about every request and response: paths, methods and headers. */
import { design, spec, unchecked } from "./Clause.ts"

export const clauses = [
  ...spec({
    "http.responds": "§1: Every request that the contract describes gets one complete response.",
    "http.json-bodies": "§1: Every response body is JSON.",
    "http.base-path": "§4: The operations are at `/pets` and `/pets/{petId}` below the base address.",
    "http.staging": unchecked(
      "§4: A staging environment has the same paths below a base address of its own.",
      "Environments are a matter of deployment; the suite can run against each."
    ),
    "http.version-segment": "§9.1: The base address has the path segment `/v1`.",
    "http.interface-description": unchecked(
      "§9.2: The interface description is at version 1.0.0, marks getPet as deprecated, and has the tag `animals`.",
      "No response has to show it."
    )
  }),
  ...design({
    "http.content-type":
      "§1: Every response with a body has `Content-Type: application/json; charset=utf-8`.",
    "http.accept": "§4: `Accept` is ignored.",
    "http.method-not-allowed":
      "§4: A method that a path does not support gets 405 `method_not_allowed` with `Allow`.",
    "http.head": "§4: A HEAD request gets the response to GET without the body.",
    "http.options": "§4: An OPTIONS request gets 204 with `Allow`.",
    "http.paths-exact":
      "§4: Paths are percent-decoded exactly once, case-sensitive, and a trailing slash is significant: a request for any other path, or one with a malformed escape, gets 404 `not_found`.",
    "http.malformed-escape": "§4: A malformed percent escape in a query is rejected with 400.",
    "http.no-redirects": "§4: No response is a redirect.",
    "http.order-of-checks":
      "§4: A request with several errors gets the first one in this order: key, limits and bans, path, method, content type, size, content.",
    "http.standard-headers":
      "§4: Every response has `Date`, `Cache-Control: no-store`, `X-Content-Type-Options`, `X-Request-Id`.",
    "http.date": "§4: `Date` is the service's time, which also governs limits and removal.",
    "http.request-id": "§4: No two responses have the same `X-Request-Id`.",
    "http.no-cors": "§4: No response has CORS headers.",
    "http.other-operations":
      "§4.4: There are no operations to update or delete an animal, and none for categories or orders."
  })
]
