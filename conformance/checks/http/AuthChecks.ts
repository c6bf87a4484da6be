/** Laws about authentication (contract §5). Cases contain only names of credentials, so that no key is reported. */
import * as Effect from "effect/Effect"
import type { Http, Sent } from "../../evaluation/Http.ts"
import { expect, type Failure, undecided } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import { type Header, header } from "../../http/Wire.ts"
import { outcome } from "../../subjects/Conversation.ts"
import { type Check, family } from "../Check.ts"
import * as Creations from "./Creations.ts"
import * as Credentials from "./Credentials.ts"
import * as Responses from "./Responses.ts"

const operations = ["list", "create", "get"] as const

type Operation = (typeof operations)[number]

/** Returns a request for the operation; with a valid key it succeeds or gets 404. */
const requestOf = (operation: Operation, http: Http, trial: Trial): Sent => {
  switch (operation) {
    case "list":
      return { path: "/pets?limit=1" }
    case "create":
      return Creations.request(http, trial)
    case "get":
      return { path: "/pets/1" }
  }
}

/** Changes the case of one letter of the key; returns `undefined` if it has no letter. */
const withOtherCase = (key: string): string | undefined => {
  const at = key.search(/[A-Za-z]/)
  if (at < 0) return undefined
  const letter = key.charAt(at)
  const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
  return key.slice(0, at) + other + key.slice(at + 1)
}

type Credential = Credentials.Credential

interface Attempt {
  readonly credential: Credential
  readonly operation: Operation
}

/** Pairs each credential with only one operation, because callers without a key may have a small limit. */
const withOneOperation = (names: ReadonlyArray<Credential>): ReadonlyArray<Attempt> =>
  names.map((credential, index) => ({ credential, operation: operations[index % 3] ?? "list" }))

const withAllOperations = (names: ReadonlyArray<Credential>): ReadonlyArray<Attempt> =>
  names.flatMap((credential) => operations.map((operation) => ({ credential, operation })))

const expectRejected = (
  http: Http,
  { credential, operation }: Attempt,
  trial: Trial,
  code?: string
): Effect.Effect<void, Failure> => {
  const request = requestOf(operation, http, trial)
  return Effect.flatMap(Credentials.fieldsOf(credential, http), (fields) =>
    Responses.sendUnauthorized(http, { ...request, ...fields }, code)
  )
}

/** Requests with an error of their own. Sent without a key, they must get a response that does not reveal it. */
const otherErrors: ReadonlyArray<Sent> = [
  { method: "DELETE", path: "/pets" },
  { path: "/pets?limit=0" },
  { method: "POST", path: "/pets", headers: [["Content-Type", "text/plain"]], body: "nonsense" },
  { method: "POST", path: "/pets", json: "{" },
  { path: "/pets/abc" },
  { path: "/pets/%zz" }
]

const spec = family({ level: "spec", profile: "auth", on: "http" })
const design = family({ level: "design", profile: "auth", on: "http" })

export const checks: ReadonlyArray<Check> = [
  spec({
    id: "auth.accepted",
    law: "A valid key in the form Bearer <API_KEY> is accepted by each operation.",
    clauses: ["auth.bearer"],
    requests: 3,
    examples: [...operations],
    *holds(http, operation, trial) {
      const { response } = yield* http.send(requestOf(operation, http, trial))
      yield* expect(
        response.status !== 401 && response.status !== 403,
        "the valid key accepted",
        outcome(response)
      )
    }
  }),
  spec({
    id: "auth.key-required",
    law: "Without a key, or with one that was never issued, each operation responds with 401 and an Error body.",
    clauses: ["auth.required", "auth.invalid", "auth.every-operation", "auth.error-body"],
    requests: 9,
    examples: withAllOperations(["no credential", "a key that was never issued", "an empty token"]),
    holds: expectRejected
  }),
  spec({
    id: "auth.exact-key",
    law: "A valid key that is cut, extended or changed by one character is rejected with 401.",
    clauses: ["auth.whole-key", "auth.invalid"],
    requests: 12,
    examples: withOneOperation([
      "the key and one more character",
      "the key without its last character",
      "half of the key",
      "one character before the key",
      "the key without its first character",
      "the key backwards",
      "the key twice",
      "the key and more words",
      "a key in our format that was never issued",
      "the key with another first character",
      "the key with another character in the middle",
      "the key with another last character"
    ]),
    holds: expectRejected
  }),
  spec({
    id: "auth.bearer-only",
    law: "A valid key with a scheme other than Bearer, or without one, is rejected with 401.",
    clauses: ["auth.other-scheme"],
    requests: 6,
    examples: withOneOperation([
      "the key without a scheme",
      "the key as Basic",
      "the key as Token",
      "the key as a Basic password",
      "the key as Bearerx",
      "the scheme alone"
    ]),
    holds: expectRejected
  }),
  spec({
    id: "auth.elsewhere",
    law: "A valid key in the query or in a header other than Authorization counts as missing.",
    clauses: ["auth.header-only", "auth.required"],
    requests: 6,
    examples: ["?access_token=", "?api_key=", "?key=", "X-API-Key", "Api-Key", "X-Authorization"],
    *holds(http, place) {
      const { mainKey } = http.facts
      const headers: ReadonlyArray<Header> = place.startsWith("?")
        ? []
        : [[place, place.endsWith("Authorization") ? `Bearer ${mainKey}` : mainKey]]
      const query = place.startsWith("?") ? `${place}${encodeURIComponent(mainKey)}` : ""
      yield* Responses.sendUnauthorized(http, { path: `/pets${query}`, headers })
    }
  }),
  spec({
    id: "auth.revoked-key",
    law: "Each operation rejects a revoked key with 401.",
    clauses: ["auth.revoked", "auth.invalid"],
    needs: ["revokedKey"],
    requests: 3,
    examples: [...operations],
    holds: (http, operation, trial) =>
      Responses.sendUnauthorized(http, { ...requestOf(operation, http, trial), key: "revoked" })
  }),
  spec({
    id: "auth.expired-key",
    law: "Each operation rejects an expired key with 401.",
    clauses: ["auth.expired", "auth.invalid"],
    needs: ["expiredKey"],
    requests: 3,
    examples: [...operations],
    holds: (http, operation, trial) =>
      Responses.sendUnauthorized(http, { ...requestOf(operation, http, trial), key: "expired" })
  }),

  // Decisions on points that the contract leaves open.

  design({
    id: "auth.case-of-key",
    law: "A valid key with the case of one letter changed is rejected with 401.",
    clauses: ["auth.key-case"],
    requests: 1,
    examples: [undefined],
    *holds(http) {
      const other = withOtherCase(http.facts.mainKey)
      if (other === undefined) return yield* undecided("the main key has no letter")
      yield* Responses.sendUnauthorized(http, {
        path: "/pets",
        authorization: [`Bearer ${other}`],
        credential: "the key with a letter in the other case"
      })
    }
  }),
  design({
    id: "auth.scheme-in-any-case",
    law: "The scheme Bearer is accepted in any letter case.",
    clauses: ["auth.scheme-case"],
    advisedBy: "RFC 9110 §11.1",
    requests: 3,
    examples: ["bearer", "BEARER", "bEaReR"],
    *holds(http, scheme) {
      // A server that rejects the spelling counts the request like one without a key, and may deny it with 429.
      const exchange = yield* Responses.sendWithoutKey(http, {
        path: "/pets?limit=1",
        authorization: [`${scheme} ${http.facts.mainKey}`],
        credential: `the key with the scheme ${scheme}`
      })
      yield* expect(
        exchange.response.status === 200,
        `200 to the valid key under the scheme ${scheme}`,
        outcome(exchange.response)
      )
    }
  }),
  design({
    id: "auth.challenged",
    law: "A 401 has WWW-Authenticate.",
    clauses: ["auth.challenge"],
    advisedBy: "RFC 9110 §11.6.1",
    requests: 2,
    examples: [{ authorization: [] }, { authorization: ["Bearer no-such-key-0123456789"] }],
    *holds(http, { authorization }) {
      const { response } = yield* Responses.sendWithoutKey(http, { path: "/pets", authorization })
      const challenge = header(response, "www-authenticate")
      yield* expect(
        /^bearer\b/i.test(challenge ?? ""),
        "WWW-Authenticate: Bearer with a 401",
        challenge ?? "no WWW-Authenticate"
      )
    }
  }),
  design({
    id: "auth.exact-challenge",
    law: 'The challenge is Bearer realm="animals", with error="invalid_token" when a credential was sent.',
    clauses: ["auth.challenge", "auth.challenge-error"],
    requests: 3,
    examples: [
      { credential: "no credential", challenge: 'Bearer realm="animals"' },
      {
        credential: "a key that was never issued",
        challenge: 'Bearer realm="animals", error="invalid_token"'
      },
      { credential: "the key as Basic", challenge: 'Bearer realm="animals", error="invalid_token"' }
    ] as const satisfies ReadonlyArray<{ readonly credential: Credential; readonly challenge: string }>,
    *holds(http, { challenge, credential }) {
      const fields = yield* Credentials.fieldsOf(credential, http)
      const { response } = yield* Responses.sendWithoutKey(http, { path: "/pets", ...fields })
      const actual = header(response, "www-authenticate")
      yield* expect(
        actual === challenge,
        `WWW-Authenticate: ${challenge} for ${credential}`,
        actual ?? "no WWW-Authenticate"
      )
    }
  }),
  design({
    id: "auth.error-codes",
    law: "A 401 has the code missing_api_key when no credential was sent, otherwise invalid_api_key.",
    clauses: ["auth.codes"],
    requests: 4,
    examples: [
      { credential: "no credential", code: "missing_api_key" },
      { credential: "a key that was never issued", code: "invalid_api_key" },
      { credential: "the scheme alone", code: "invalid_api_key" },
      { credential: "the key as Basic", code: "invalid_api_key" }
    ] as const satisfies ReadonlyArray<{ readonly credential: Credential; readonly code: string }>,
    holds: (http, { code, credential }, trial) =>
      expectRejected(http, { credential, operation: "list" }, trial, code)
  }),
  design({
    id: "auth.strict-token",
    law: "A token that is quoted, percent-encoded, too long or sent in two headers is rejected with 401.",
    clauses: ["auth.token-verbatim", "auth.token-length", "auth.two-headers"],
    requests: 6,
    examples: [
      "the first character percent-encoded",
      "the key in quotes",
      "513 characters",
      "4000 characters",
      "two headers with the key",
      "two headers, the key second"
    ] as const satisfies ReadonlyArray<Credential>,
    holds: (http, credential, trial) =>
      expectRejected(http, { credential, operation: "list" }, trial, "invalid_api_key")
  }),
  design({
    id: "auth.before-all-else",
    law: "A request without a valid key is rejected with 401, whatever else is wrong with it.",
    clauses: ["auth.first"],
    requests: 8,
    examples: otherErrors,
    holds: (http, sent) => Responses.sendUnauthorized(http, sent)
  }),
  design({
    id: "auth.unknown-paths",
    law: "A request without a valid key for a path that does not exist is also rejected with 401.",
    clauses: ["auth.unknown-path"],
    requests: 5,
    examples: ["/nothing", "/store/orders", "/pets/1/2"],
    holds: (http, path) => Responses.sendUnauthorized(http, { path })
  })
]
