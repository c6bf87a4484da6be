/** Clauses about every request and response: paths, methods and headers. */
import { section, unchecked } from "./Clause.ts"

export const clauses = [
  ...section("§1", "spec", "http", {
    "http.responds": "Every request that the contract describes gets one complete response.",
    "http.json-bodies": "Every response body is JSON."
  }),
  ...section("§4", "spec", "http", {
    "http.base-path": "The operations are at `/pets` and `/pets/{petId}` below the base address.",
    "http.staging": unchecked(
      "A staging environment has the same paths below a base address of its own.",
      "Environments are a matter of deployment; the suite can run against each."
    )
  }),
  ...section("§9.1", "spec", "http", {
    "http.version-segment": "The base address has the path segment `/v1`."
  }),
  ...section("§9.2", "spec", "http", {
    "http.interface-description": unchecked(
      "The interface description is at version 1.0.0, marks getPet as deprecated, and has the tag `animals`.",
      "No response has to show it."
    )
  }),
  ...section("§1", "design", "http", {
    "http.content-type": "Every response with a body has `Content-Type: application/json; charset=utf-8`."
  }),
  ...section("§4", "design", "http", {
    "http.accept": "`Accept` is ignored.",
    "http.unknown-path": "A request for an unknown path gets 404 `not_found`.",
    "http.method-not-allowed":
      "A method that a path does not support gets 405 `method_not_allowed` with `Allow`.",
    "http.head": "A HEAD request gets the response to GET without the body.",
    "http.options": "An OPTIONS request gets 204 with `Allow`.",
    "http.paths-exact":
      "Paths are case-sensitive, and a trailing slash is significant: " +
      "a request for a path with the wrong case or an extra slash gets 404.",
    "http.decoded-once": "The segments of a path are percent-decoded exactly once.",
    "http.malformed-escape":
      "A malformed percent escape is rejected with 404 in a path and with 400 in a query.",
    "http.no-redirects": "No response is a redirect.",
    "http.order-of-checks":
      "A request with several errors gets the first one in this order: path, method, content type, size, content.",
    "http.standard-headers":
      "Every response has `Date`, `Cache-Control: no-store`, `X-Content-Type-Options`, `X-Request-Id`.",
    "http.date": "`Date` is the service's time, which also governs limits and removal.",
    "http.request-id": "No two responses have the same `X-Request-Id`.",
    "http.no-cors": "No response has CORS headers.",
    "http.probes": unchecked(
      "`/livez`, `/readyz` and `/openapi.json` are outside the base path, need no key and are not counted.",
      "They are outside the base address, the only address that the suite knows; tests of the service cover it."
    ),
    "http.openapi": unchecked(
      "The OpenAPI document marks only getPet as deprecated; its `servers` are the configured addresses.",
      "It is outside the base address, the only address that the suite knows; tests of the service cover it."
    )
  }),
  ...section("§4.4", "design", "http", {
    "http.other-operations":
      "There are no operations to update or delete an animal, and none for categories or orders."
  }),
  ...section("§6", "design", "http", {
    "http.no-events": unchecked(
      "There are no events, callbacks or webhooks.",
      "Requests cannot prove that something is absent."
    )
  })
]
