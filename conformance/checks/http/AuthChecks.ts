/** Laws about authentication (contract §5). Cases name a credential but never contain it, so that no key is reported. */
import type * as Effect from "effect/Effect"
import type { Http, Sent } from "../../evaluation/Http.ts"
import { expect, type Failure, undecided } from "../../evaluation/Outcome.ts"
import type { Trial } from "../../evaluation/Trial.ts"
import { type Header, header } from "../../http/Wire.ts"
import { outcome } from "../../subjects/Conversation.ts"
import { type Check, family } from "../Check.ts"
import * as Creations from "./Creations.ts"
import * as Responses from "./Responses.ts"

const operations = ["list", "create", "get"] as const

type Operation = (typeof operations)[number]

/** A request for an operation that succeeds with a valid key, or returns 404. */
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

/** The key with the case of one letter changed; `undefined` if it has no letter. */
const withOtherCase = (key: string): string | undefined => {
  const at = key.search(/[A-Za-z]/)
  if (at < 0) return undefined
  const letter = key.charAt(at)
  const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
  return key.slice(0, at) + other + key.slice(at + 1)
}

/** Kinds of characters, each with its first and its last character. */
const kinds = [
  { of: /[a-z]/, ends: ["a", "z"] },
  { of: /[A-Z]/, ends: ["A", "Z"] },
  { of: /[0-9]/, ends: ["0", "9"] }
] as const

const distance = (one: string, other: string): number => Math.abs(one.charCodeAt(0) - other.charCodeAt(0))

/**
 * The key with one letter or digit replaced, at a fraction `part` of its length, by another of the same kind. The new
 * character also occurs elsewhere in the key if possible, because keys may use few characters, such as hexadecimal digits.
 * It is the farthest such character, because low bits of the last character of base64 have no meaning.
 */
const withOtherCharacter = (key: string, part: number): string => {
  const places = [...key.matchAll(/[A-Za-z0-9]/g)].map(({ index }) => index)
  const at = places[Math.round((places.length - 1) * part)] ?? 0
  const given = key.charAt(at)
  const { ends, of } = kinds.find((kind) => kind.of.test(given)) ?? kinds[2]
  const farthest = (characters: ReadonlyArray<string>): string =>
    characters.reduce((best, one) => (distance(one, given) > distance(best, given) ? one : best), given)
  const own = farthest([...key].filter((one) => of.test(one)))
  return key.slice(0, at) + (own === given ? farthest(ends) : own) + key.slice(at + 1)
}

/** Values of `Authorization` that are derived from a valid key and are not valid credentials. */
const credentials = {
  "no credential": () => [],
  "the scheme alone": () => ["Bearer"],
  "an empty token": () => ["Bearer "],
  "a key that was never issued": () => ["Bearer no-such-key-0123456789"],
  "a key like ours that was never issued": () => ["Bearer ast_0000000000000000000000000000000000000"],
  "the key backwards": (key) => [`Bearer ${[...key].toReversed().join("")}`],
  "the key without a scheme": (key) => [key],
  "the key as Basic": (key) => [`Basic ${key}`],
  "the key as a Basic password": (key) => [`Basic ${btoa(`animals:${key}`)}`],
  "the key as Token": (key) => [`Token ${key}`],
  "the key as Bearerx": (key) => [`Bearerx ${key}`],
  "the key and one more character": (key) => [`Bearer ${key}0`],
  "the key and more words": (key) => [`Bearer ${key} and more`],
  "one character before the key": (key) => [`Bearer 0${key}`],
  "the key without its last character": (key) => [`Bearer ${key.slice(0, -1)}`],
  "the key without its first character": (key) => [`Bearer ${key.slice(1)}`],
  "the key with another first character": (key) => [`Bearer ${withOtherCharacter(key, 0)}`],
  "the key with another character in the middle": (key) => [`Bearer ${withOtherCharacter(key, 0.5)}`],
  "the key with another last character": (key) => [`Bearer ${withOtherCharacter(key, 1)}`],
  "half of the key": (key) => [`Bearer ${key.slice(0, Math.floor(key.length / 2))}`],
  "the key twice": (key) => [`Bearer ${key}${key}`],
  "the key in quotes": (key) => [`Bearer "${key}"`],
  "the first character percent-encoded": (key) => [
    `Bearer %${key.charCodeAt(0).toString(16)}${key.slice(1)}`
  ],
  "two headers with the key": (key) => [`Bearer ${key}`, `Bearer ${key}`],
  "two headers, the key second": (key) => ["Bearer no-such-key-0123456789", `Bearer ${key}`],
  "513 characters": () => [`Bearer ${"a".repeat(513)}`],
  "4000 characters": () => [`Bearer ${"a".repeat(4_000)}`]
} as const satisfies { readonly [name: string]: (key: string) => ReadonlyArray<string> }

type Credential = keyof typeof credentials

const authorizationOf = (credential: Credential, { facts }: Http): ReadonlyArray<string> =>
  credentials[credential](facts.mainKey)

interface Ask {
  readonly credential: Credential
  readonly operation: Operation
}

/** One operation for each credential, because callers without a key may have a small limit. */
const spread = (names: ReadonlyArray<Credential>): ReadonlyArray<Ask> =>
  names.map((credential, index) => ({ credential, operation: operations[index % 3] ?? "list" }))

const everywhere = (names: ReadonlyArray<Credential>): ReadonlyArray<Ask> =>
  names.flatMap((credential) => operations.map((operation) => ({ credential, operation })))

const isRejected = (
  http: Http,
  { credential, operation }: Ask,
  trial: Trial,
  code?: string
): Effect.Effect<void, Failure> => {
  const authorization = authorizationOf(credential, http)
  return Responses.unauthorized(http, { ...requestOf(operation, http, trial), authorization }, code)
}

/** Requests that are also invalid in another way, which must not be shown to a caller without a key. */
const otherFaults: ReadonlyArray<Sent> = [
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
    law: "Without a key, or with one that was never issued, each operation returns 401 with an Error body.",
    clauses: ["auth.required", "auth.invalid", "auth.every-operation", "auth.error-body"],
    requests: 9,
    examples: everywhere(["no credential", "a key that was never issued", "an empty token"]),
    holds: isRejected
  }),
  spec({
    id: "auth.exact-key",
    law: "A valid key that is cut, extended or changed by one character is rejected with 401.",
    clauses: ["auth.whole-key", "auth.invalid"],
    requests: 12,
    examples: spread([
      "the key and one more character",
      "the key without its last character",
      "half of the key",
      "one character before the key",
      "the key without its first character",
      "the key backwards",
      "the key twice",
      "the key and more words",
      "a key like ours that was never issued",
      "the key with another first character",
      "the key with another character in the middle",
      "the key with another last character"
    ]),
    holds: isRejected
  }),
  spec({
    id: "auth.bearer-only",
    law: "A valid key with another scheme than Bearer, or with none, is rejected with 401.",
    clauses: ["auth.other-scheme"],
    requests: 6,
    examples: spread([
      "the key without a scheme",
      "the key as Basic",
      "the key as Token",
      "the key as a Basic password",
      "the key as Bearerx",
      "the scheme alone"
    ]),
    holds: isRejected
  }),
  spec({
    id: "auth.elsewhere",
    law: "A valid key in the query or in another header than Authorization counts as missing.",
    clauses: ["auth.header-only", "auth.required"],
    requests: 6,
    examples: ["?access_token=", "?api_key=", "?key=", "X-API-Key", "Api-Key", "X-Authorization"],
    *holds(http, place) {
      const { mainKey } = http.facts
      const headers: ReadonlyArray<Header> = place.startsWith("?")
        ? []
        : [[place, place.endsWith("Authorization") ? `Bearer ${mainKey}` : mainKey]]
      const query = place.startsWith("?") ? `${place}${encodeURIComponent(mainKey)}` : ""
      yield* Responses.unauthorized(http, { path: `/pets${query}`, headers })
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
      Responses.unauthorized(http, { ...requestOf(operation, http, trial), key: "revoked" })
  }),
  spec({
    id: "auth.expired-key",
    law: "Each operation rejects an expired key with 401.",
    clauses: ["auth.expired", "auth.invalid"],
    needs: ["expiredKey"],
    requests: 3,
    examples: [...operations],
    holds: (http, operation, trial) =>
      Responses.unauthorized(http, { ...requestOf(operation, http, trial), key: "expired" })
  }),

  // Decisions on points that the contract leaves open.

  design({
    id: "auth.case-of-key",
    law: "A valid key with the case of a letter changed is rejected with 401.",
    clauses: ["auth.key-case"],
    requests: 1,
    examples: [undefined],
    *holds(http) {
      const other = withOtherCase(http.facts.mainKey)
      if (other === undefined) return yield* undecided("the main key has no letter")
      yield* Responses.unauthorized(http, { path: "/pets", authorization: [`Bearer ${other}`] })
    }
  }),
  design({
    id: "auth.scheme-in-any-case",
    law: "The scheme Bearer is accepted in any case.",
    clauses: ["auth.scheme-case"],
    advisedBy: "RFC 9110 §11.1",
    requests: 3,
    examples: ["bearer", "BEARER", "bEaReR"],
    *holds(http, scheme) {
      // A server that does not know the scheme treats the caller as one without a key.
      const exchange = yield* Responses.sendWithoutKey(http, {
        path: "/pets?limit=1",
        authorization: [`${scheme} ${http.facts.mainKey}`]
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
        challenge ?? "none"
      )
    }
  }),
  design({
    id: "auth.challenge-of-ours",
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
      const authorization = authorizationOf(credential, http)
      const { response } = yield* Responses.sendWithoutKey(http, { path: "/pets", authorization })
      const actual = header(response, "www-authenticate")
      yield* expect(
        actual === challenge,
        `WWW-Authenticate: ${challenge} for ${credential}`,
        actual ?? "none"
      )
    }
  }),
  design({
    id: "auth.error-codes",
    law: "A 401 has the code missing_api_key when no credential was sent, else invalid_api_key.",
    clauses: ["auth.codes"],
    requests: 4,
    examples: [
      { credential: "no credential", code: "missing_api_key" },
      { credential: "a key that was never issued", code: "invalid_api_key" },
      { credential: "the scheme alone", code: "invalid_api_key" },
      { credential: "the key as Basic", code: "invalid_api_key" }
    ] as const satisfies ReadonlyArray<{ readonly credential: Credential; readonly code: string }>,
    holds: (http, { code, credential }, trial) =>
      isRejected(http, { credential, operation: "list" }, trial, code)
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
      isRejected(http, { credential, operation: "list" }, trial, "invalid_api_key")
  }),
  design({
    id: "auth.before-all-else",
    law: "A request without a valid key is rejected with 401, whatever else is wrong with it.",
    clauses: ["auth.first"],
    requests: otherFaults.length,
    examples: otherFaults,
    holds: (http, sent) => Responses.unauthorized(http, sent)
  }),
  design({
    id: "auth.unknown-paths",
    law: "A request without a valid key for a path that does not exist is also rejected with 401.",
    clauses: ["auth.unknown-path"],
    requests: 3,
    examples: ["/nothing", "/store/orders", "/pets/1/2"],
    holds: (http, path) => Responses.unauthorized(http, { path })
  })
]
