/** Who may ask (contract §5). Cases name a credential and never hold one: keys do not belong in reports. */
import * as Effect from "effect/Effect"
import { expect, type Failure, undecided } from "../../engine/Outcome.ts"
import type { Trial } from "../../engine/Trial.ts"
import { outcome } from "../../http/Conversation.ts"
import { type Header, header } from "../../http/Wire.ts"
import { type Check, define } from "../Check.ts"
import type { Http, Sent } from "../Http.ts"
import * as Answers from "./Answers.ts"

const operations = ["list", "create", "get"] as const

type Operation = (typeof operations)[number]

/** A request for an operation that would succeed with a valid key, or find nothing. */
const requestOf = (operation: Operation, http: Http, trial: Trial): Sent => {
  switch (operation) {
    case "list":
      return { path: "/pets?limit=1" }
    case "create":
      return Answers.creation(Answers.filled(Answers.plain, http, trial))
    case "get":
      return { path: "/pets/1" }
  }
}

/** The key with the case of one letter changed, `undefined` when it has none. */
const withOtherCase = (key: string): string | undefined => {
  const at = key.search(/[A-Za-z]/)
  if (at < 0) return undefined
  const letter = key.charAt(at)
  const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
  return key.slice(0, at) + other + key.slice(at + 1)
}

/** Characters of one kind, from its first to its last. */
const kinds = [
  { of: /[a-z]/, ends: ["a", "z"] },
  { of: /[A-Z]/, ends: ["A", "Z"] },
  { of: /[0-9]/, ends: ["0", "9"] }
] as const

const distance = (one: string, other: string): number => Math.abs(one.charCodeAt(0) - other.charCodeAt(0))

/**
 * The key with one letter or digit changed, at this part of its length, into another of its kind. That is one
 * that the key has elsewhere, where there is any, since keys may be of few characters, such as hexadecimal
 * digits; and the farthest, since the last character of base64 has low bits that mean nothing.
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

const swapped = (key: string): string => [...key].toReversed().join("")

/** Credentials that are made from a valid key and are none. */
const credentials = {
  "no credential": () => [],
  "the scheme alone": () => ["Bearer"],
  "an empty token": () => ["Bearer "],
  "a key that was never issued": () => ["Bearer no-such-key-0123456789"],
  "a key like ours that was never issued": () => ["Bearer ast_0000000000000000000000000000000000000"],
  "the key backwards": (key: string) => [`Bearer ${swapped(key)}`],
  "the key without a scheme": (key: string) => [key],
  "the key as Basic": (key: string) => [`Basic ${key}`],
  "the key as a Basic password": (key: string) => [`Basic ${btoa(`animals:${key}`)}`],
  "the key as Token": (key: string) => [`Token ${key}`],
  "the key as Bearerx": (key: string) => [`Bearerx ${key}`],
  "the key and one more character": (key: string) => [`Bearer ${key}0`],
  "the key and more words": (key: string) => [`Bearer ${key} and more`],
  "one character before the key": (key: string) => [`Bearer 0${key}`],
  "the key without its last character": (key: string) => [`Bearer ${key.slice(0, -1)}`],
  "the key without its first character": (key: string) => [`Bearer ${key.slice(1)}`],
  "the key with another first character": (key: string) => [`Bearer ${withOtherCharacter(key, 0)}`],
  "the key with another character in the middle": (key: string) => [`Bearer ${withOtherCharacter(key, 0.5)}`],
  "the key with another last character": (key: string) => [`Bearer ${withOtherCharacter(key, 1)}`],
  "half of the key": (key: string) => [`Bearer ${key.slice(0, Math.floor(key.length / 2))}`],
  "the key twice": (key: string) => [`Bearer ${key}${key}`],
  "the key in quotes": (key: string) => [`Bearer "${key}"`],
  "the first character percent-encoded": (key: string) => [
    `Bearer %${key.charCodeAt(0).toString(16)}${key.slice(1)}`
  ],
  "two headers with the key": (key: string) => [`Bearer ${key}`, `Bearer ${key}`],
  "two headers, the key second": (key: string) => ["Bearer no-such-key-0123456789", `Bearer ${key}`],
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

/** One operation for each credential, since callers without a key may have few requests. */
const spread = (names: ReadonlyArray<Credential>): ReadonlyArray<Ask> =>
  names.map((credential, index) => ({ credential, operation: operations[index % 3] ?? "list" }))

const everywhere = (names: ReadonlyArray<Credential>): ReadonlyArray<Ask> =>
  names.flatMap((credential) => operations.map((operation) => ({ credential, operation })))

const isRefused = (
  http: Http,
  { credential, operation }: Ask,
  trial: Trial,
  code?: string
): Effect.Effect<void, Failure> =>
  Effect.asVoid(
    Answers.unauthorized(
      http,
      { ...requestOf(operation, http, trial), authorization: authorizationOf(credential, http) },
      code
    )
  )

/** Below a base path, requests at fault in other ways too, which nobody learns without a key. */
const otherFaults: ReadonlyArray<Sent> = [
  { method: "DELETE", path: "/pets" },
  { path: "/pets?limit=0" },
  { method: "POST", path: "/pets", headers: [["Content-Type", "text/plain"]], body: "nonsense" },
  { method: "POST", path: "/pets", json: "{" },
  { path: "/pets/abc" },
  { path: "/pets/%zz" }
]

export const checks: ReadonlyArray<Check> = [
  define({
    id: "auth.accepted",
    law: "A valid key in the form Bearer <API_KEY> is accepted by each operation.",
    clauses: ["auth.bearer"],
    level: "spec",
    profile: "auth",
    on: "http",
    requests: 3,
    examples: [...operations],
    holds: (http, operation, trial) =>
      Effect.gen(function* () {
        const { response } = yield* http.send(requestOf(operation, http, trial))
        yield* expect(
          response.status !== 401 && response.status !== 403,
          "the valid key accepted",
          outcome(response)
        )
      })
  }),
  define({
    id: "auth.key-required",
    law: "Without a key, or with one that was never issued, each operation answers 401 with an Error body.",
    clauses: ["auth.required", "auth.invalid", "auth.every-operation", "auth.error-body"],
    level: "spec",
    profile: "auth",
    on: "http",
    requests: 9,
    examples: everywhere(["no credential", "a key that was never issued", "an empty token"]),
    holds: (http, ask, trial) => isRefused(http, ask, trial)
  }),
  define({
    id: "auth.exact-key",
    law: "A part of a valid key, one with more about it, or with one character changed, answers 401.",
    clauses: ["auth.whole-key", "auth.invalid"],
    level: "spec",
    profile: "auth",
    on: "http",
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
    holds: (http, ask, trial) => isRefused(http, ask, trial)
  }),
  define({
    id: "auth.bearer-only",
    law: "A valid key under another scheme than Bearer, or under none, answers 401.",
    clauses: ["auth.other-scheme"],
    level: "spec",
    profile: "auth",
    on: "http",
    requests: 6,
    examples: spread([
      "the key without a scheme",
      "the key as Basic",
      "the key as Token",
      "the key as a Basic password",
      "the key as Bearerx",
      "the scheme alone"
    ]),
    holds: (http, ask, trial) => isRefused(http, ask, trial)
  }),
  define({
    id: "auth.elsewhere",
    law: "A valid key in the query or in another header than Authorization counts as missing.",
    clauses: ["auth.header-only", "auth.required"],
    level: "spec",
    profile: "auth",
    on: "http",
    requests: 6,
    examples: ["?access_token=", "?api_key=", "?key=", "X-API-Key", "Api-Key", "X-Authorization"],
    holds: (http, place) =>
      Effect.gen(function* () {
        const { mainKey } = http.facts
        const headers: ReadonlyArray<Header> = place.startsWith("?")
          ? []
          : [[place, place.endsWith("Authorization") ? `Bearer ${mainKey}` : mainKey]]
        const query = place.startsWith("?") ? `${place}${encodeURIComponent(mainKey)}` : ""
        yield* Answers.unauthorized(http, { path: `/pets${query}`, headers })
      })
  }),
  define({
    id: "auth.revoked-key",
    law: "A revoked key answers 401 on each operation.",
    clauses: ["auth.revoked", "auth.invalid"],
    level: "spec",
    profile: "auth",
    on: "http",
    needs: ["revokedKey"],
    requests: 3,
    examples: [...operations],
    holds: (http, operation, trial) =>
      Effect.asVoid(Answers.unauthorized(http, { ...requestOf(operation, http, trial), key: "revoked" }))
  }),

  // Our answers to the contract's gaps.

  define({
    id: "auth.case-of-key",
    law: "A valid key with the case of a letter changed answers 401.",
    clauses: ["auth.key-case"],
    level: "design",
    profile: "auth",
    on: "http",
    requests: 1,
    examples: [undefined],
    holds: (http) =>
      Effect.gen(function* () {
        const other = withOtherCase(http.facts.mainKey)
        if (other === undefined) return yield* undecided("the main key has no letter")
        yield* Answers.unauthorized(http, { path: "/pets", authorization: [`Bearer ${other}`] })
      })
  }),
  define({
    id: "auth.scheme-in-any-case",
    law: "The scheme Bearer is accepted in any case.",
    clauses: ["auth.scheme-case"],
    level: "design",
    advisedBy: "RFC 9110 §11.1",
    profile: "auth",
    on: "http",
    requests: 3,
    examples: ["bearer", "BEARER", "bEaReR"],
    holds: (http, scheme) =>
      Effect.gen(function* () {
        // To whom the scheme means nothing, the caller is one without a key.
        const exchange = yield* Answers.sendUnknown(http, {
          path: "/pets?limit=1",
          authorization: [`${scheme} ${http.facts.mainKey}`]
        })
        yield* expect(
          exchange.response.status === 200,
          `200 to the valid key under the scheme ${scheme}`,
          outcome(exchange.response)
        )
      })
  }),
  define({
    id: "auth.challenged",
    law: "A 401 carries WWW-Authenticate.",
    clauses: ["auth.challenge"],
    level: "design",
    advisedBy: "RFC 9110 §11.6.1",
    profile: "auth",
    on: "http",
    requests: 2,
    examples: [{ authorization: [] }, { authorization: ["Bearer no-such-key-0123456789"] }],
    holds: (http, { authorization }) =>
      Effect.gen(function* () {
        const { response } = yield* Answers.sendUnknown(http, { path: "/pets", authorization })
        const challenge = header(response, "www-authenticate")
        yield* expect(
          /^bearer\b/i.test(challenge ?? ""),
          "WWW-Authenticate: Bearer with a 401",
          challenge ?? "none"
        )
      })
  }),
  define({
    id: "auth.challenge-of-ours",
    law: 'The challenge is Bearer realm="animals", with error="invalid_token" when a credential was sent.',
    clauses: ["auth.challenge", "auth.challenge-error"],
    level: "design",
    profile: "auth",
    on: "http",
    requests: 3,
    examples: [
      { credential: "no credential", challenge: 'Bearer realm="animals"' },
      {
        credential: "a key that was never issued",
        challenge: 'Bearer realm="animals", error="invalid_token"'
      },
      { credential: "the key as Basic", challenge: 'Bearer realm="animals", error="invalid_token"' }
    ] as const satisfies ReadonlyArray<{ readonly credential: Credential; readonly challenge: string }>,
    holds: (http, { challenge, credential }) =>
      Effect.gen(function* () {
        const authorization = authorizationOf(credential, http)
        const { response } = yield* Answers.sendUnknown(http, { path: "/pets", authorization })
        const actual = header(response, "www-authenticate")
        yield* expect(
          actual === challenge,
          `WWW-Authenticate: ${challenge} for ${credential}`,
          actual ?? "none"
        )
      })
  }),
  define({
    id: "auth.error-codes",
    law: "A 401 has the code missing_api_key when no credential was sent, else invalid_api_key.",
    clauses: ["auth.codes"],
    level: "design",
    profile: "auth",
    on: "http",
    requests: 4,
    examples: [
      { credential: "no credential", code: "missing_api_key" },
      { credential: "a key that was never issued", code: "invalid_api_key" },
      { credential: "the scheme alone", code: "invalid_api_key" },
      { credential: "the key as Basic", code: "invalid_api_key" }
    ] as const satisfies ReadonlyArray<{ readonly credential: Credential; readonly code: string }>,
    holds: (http, { code, credential }, trial) =>
      isRefused(http, { credential, operation: "list" }, trial, code)
  }),
  define({
    id: "auth.strict-token",
    law: "A token that is quoted, percent-encoded, too long or sent in two headers answers 401.",
    clauses: ["auth.token-verbatim", "auth.token-length", "auth.two-headers"],
    level: "design",
    profile: "auth",
    on: "http",
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
      isRefused(http, { credential, operation: "list" }, trial, "invalid_api_key")
  }),
  define({
    id: "auth.before-all-else",
    law: "Without a valid key a request answers 401, whatever else is wrong with it.",
    clauses: ["auth.first"],
    level: "design",
    profile: "auth",
    on: "http",
    requests: otherFaults.length,
    examples: otherFaults,
    holds: (http, sent) => Effect.asVoid(Answers.unauthorized(http, sent))
  }),
  define({
    id: "auth.unknown-paths",
    law: "Without a valid key a path that does not exist answers 401 too.",
    clauses: ["auth.unknown-path"],
    level: "design",
    profile: "auth",
    on: "http",
    requests: 3,
    examples: ["/nothing", "/store/orders", "/pets/1/2"],
    holds: (http, path) => Effect.asVoid(Answers.unauthorized(http, { path }))
  })
]
