/** Defines faults in authentication. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ApiKey } from "../../../core/access/ApiKey.ts"
import { type Header, headerValues, type WireRequest } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Treats some requests as if they had the main key. */
const admits = (
  isAdmitted: (credentials: ReadonlyArray<string>, key: string, request: WireRequest) => boolean
): Where =>
  AtHttp.requests(
    (request, { keys }) => isAdmitted(Requests.credentials(request), keys.main, request),
    (request, { keys }) => Requests.withKey(request, keys.main)
  )

const tokenOf = (credentials: ReadonlyArray<string>): string =>
  /^Bearer (.+)$/.exec(credentials[0] ?? "")?.[1] ?? ""

/** Whether a token is as long as the key, and differs from it only at ignored positions. */
const isLike = (token: string, key: string, isIgnored: (at: number) => boolean): boolean =>
  token.length === key.length && [...token].every((character, at) => isIgnored(at) || character === key[at])

/** Changes the `WWW-Authenticate` header of a 401. */
const challenges = (challenge: string): Where =>
  AtHttp.responses({ status: 401 }, Edit.header("WWW-Authenticate", challenge))

/** Changes fields of the keys that are found. */
const changesFoundKeys = (changed: Partial<ApiKey>): Where =>
  AtHttp.keys((real) => ({
    ...real,
    findByHash: (hash) =>
      Effect.map(
        real.findByHash(hash),
        Option.map((key) => ({ ...key, ...changed }))
      )
  }))

export const faults: ReadonlyArray<Fault> = [
  fault("auth.no-key-needed", "Accepts requests without a key.")
    .breaks("auth.required", "auth.key-required", "401 with an Error body 200")
    .by(admits((credentials) => credentials.length === 0)),
  fault("auth.open-get", "Returns a single animal without a key.")
    .breaks("auth.every-operation", "auth.key-required", "401 with an Error body 404")
    .by(admits((_credentials, _key, request) => Requests.isGet(request))),
  fault("auth.open-create", "Creates animals without a key.")
    .breaks("auth.every-operation", "auth.key-required", "401 with an Error body 201")
    .by(admits((_credentials, _key, request) => Requests.isCreation(request))),
  fault("auth.any-key", "Accepts every key.")
    .breaks("auth.invalid", "auth.key-required", "401 with an Error body 200")
    .by(admits((credentials) => tokenOf(credentials) !== "")),
  fault("auth.returns-403", "Returns 403 instead of 401 for a missing or invalid key.")
    .breaks("auth.required", "auth.key-required", "401 with an Error body 403")
    .by(AtHttp.responses({ status: 401 }, Edit.error(403, "missing_api_key"))),
  fault("auth.returns-404", "Returns 404 for getPet without a key.")
    .breaks("auth.every-operation", "auth.key-required", "401 with an Error body 404")
    .by(AtHttp.responses({ to: Requests.isGet, status: 401 }, Edit.error(404, "not_found"))),
  fault("auth.prefix", "Accepts the first characters of a key as the whole key.")
    .breaks("auth.whole-key", "auth.exact-key", "401 with an Error body 201")
    .by(admits((credentials, key) => tokenOf(credentials) !== "" && key.startsWith(tokenOf(credentials)))),
  fault("auth.longer-key", "Ignores characters that follow a key.")
    .breaks("auth.whole-key", "auth.exact-key", "401 with an Error body 200")
    .by(admits((credentials, key) => tokenOf(credentials).startsWith(key))),
  fault("auth.key-within", "Accepts every credential that ends with a key.")
    .breaks("auth.whole-key", "auth.exact-key", "401 with an Error body 200")
    .by(admits((credentials, key) => credentials.some((credential) => credential.endsWith(key)))),
  fault("auth.first-character-ignored", "Ignores the first character of a key.")
    .breaks("auth.invalid", "auth.exact-key", "401 with an Error body 200")
    .by(admits((credentials, key) => isLike(tokenOf(credentials), key, (at) => at === 0))),
  fault("auth.middle-ignored", "Compares only the first and last four characters of a key.")
    .breaks("auth.invalid", "auth.exact-key", "401 with an Error body 201")
    .by(
      admits((credentials, key) => isLike(tokenOf(credentials), key, (at) => at >= 4 && at < key.length - 4))
    ),
  fault("auth.last-character-ignored", "Ignores the last character of a key.")
    .breaks("auth.invalid", "auth.exact-key", "401 with an Error body 404")
    .by(admits((credentials, key) => isLike(tokenOf(credentials), key, (at) => at === key.length - 1))),
  fault("auth.basic", "Accepts a key under the scheme Basic.")
    .breaks("auth.other-scheme", "auth.bearer-only", "401 with an Error body 201")
    .by(admits((credentials, key) => credentials[0] === `Basic ${key}`)),
  fault("auth.no-scheme", "Accepts a key without a scheme.")
    .breaks("auth.other-scheme", "auth.bearer-only", "401 with an Error body 200")
    .by(admits((credentials, key) => credentials[0] === key)),
  fault("auth.last-word", "Uses the last word of the header as the key.")
    .breaks("auth.other-scheme", "auth.bearer-only", "401 with an Error body 200")
    .by(admits((credentials, key) => credentials[0]?.split(" ").at(-1) === key)),
  fault("auth.key-in-query", "Accepts a key in the query.")
    .breaks("auth.header-only", "auth.elsewhere", "401 with an Error body 200")
    .by(admits((_credentials, key, request) => [...Requests.parameters(request).values()].includes(key))),
  fault("auth.key-in-other-header", "Accepts a key in X-API-Key.")
    .breaks("auth.header-only", "auth.elsewhere", "401 with an Error body 200")
    .by(admits((_credentials, key, request) => headerValues(request, "x-api-key").includes(key))),
  fault("auth.revoked", "Accepts a revoked key.")
    .breaks("auth.revoked", "auth.revoked-key", "401 with an Error body 200")
    .by(changesFoundKeys({ revokedAt: undefined })),
  fault("auth.expired", "Accepts an expired key.")
    .breaks("auth.expired", "auth.expired-key", "401 with an Error body 200")
    .by(changesFoundKeys({ expiresAt: undefined })),
  fault("auth.read-only", "Returns 403 for creations with a valid key.")
    .breaks("auth.bearer", "auth.accepted", "the valid key accepted 403")
    .by(AtHttp.responses({ to: Requests.isCreation }, Edit.error(403, "invalid_api_key"))),
  fault("auth.key-in-any-case", "Ignores the letter case of API keys.")
    .breaks("auth.key-case", "auth.case-of-key", "401 with an Error body 200")
    .by(admits((credentials, key) => tokenOf(credentials).toLowerCase() === key.toLowerCase())),
  fault("auth.literal-scheme", "Rejects the scheme Bearer in another letter case.")
    .breaks("auth.scheme-case", "auth.scheme-in-any-case", "under the scheme bearer 401")
    .by(
      AtHttp.requests(
        (request) => !/^Bearer /.test(Requests.credentials(request)[0] ?? "Bearer "),
        (request) => Requests.withHeader(request, "Authorization", "None")
      )
    ),
  fault("auth.no-challenge", "Returns 401 without WWW-Authenticate.")
    .breaks("auth.challenge", "auth.challenged", "with a 401 no WWW-Authenticate")
    .by(AtHttp.responses({ status: 401 }, Edit.without("www-authenticate"))),
  fault("auth.other-realm", "Sends another realm in WWW-Authenticate.")
    .breaks("auth.challenge", "auth.exact-challenge", 'Bearer realm="pets"')
    .by(challenges('Bearer realm="pets"')),
  fault("auth.always-invalid-token", "Reports an invalid token even when no token was sent.")
    .breaks("auth.challenge-error", "auth.exact-challenge", 'error="invalid_token"')
    .by(challenges('Bearer realm="animals", error="invalid_token"')),
  fault("auth.one-code", "Uses the code missing_api_key for missing and for invalid keys.")
    .breaks("auth.codes", "auth.error-codes", "of code invalid_api_key 401")
    .by(AtHttp.responses({ status: 401 }, Edit.error(401, "missing_api_key"))),
  fault("auth.decodes-token", "Percent-decodes the token.")
    .breaks("auth.token-verbatim", "auth.strict-token", "401 with an Error body of code invalid_api_key 200")
    .by(
      admits((credentials, key) => {
        const token = tokenOf(credentials)
        return /^%[0-9a-f]{2}/.test(token) && decodeURIComponent(token) === key
      })
    ),
  fault("auth.unquotes-token", "Removes quotes from the token.")
    .breaks("auth.token-verbatim", "auth.strict-token", "401 with an Error body of code invalid_api_key 200")
    .by(admits((credentials, key) => tokenOf(credentials) === `"${key}"`)),
  fault("auth.last-header", "Uses the last of several Authorization headers.")
    .breaks("auth.two-headers", "auth.strict-token", "401 with an Error body of code invalid_api_key 200")
    .by(admits((credentials, key) => credentials.at(-1) === `Bearer ${key}`)),
  fault("auth.long-token-431", "Returns 431 for a token of thousands of characters.")
    .breaks("auth.token-length", "auth.strict-token", "401 with an Error body of code invalid_api_key 431")
    .by(
      AtHttp.responses(
        { to: (request) => tokenOf(Requests.credentials(request)).length > 2_000, status: 401 },
        Edit.error(431, "headers_too_large")
      )
    ),
  fault("auth.method-first", "Checks the method before the key.")
    .breaks("auth.first", "auth.before-all-else", "401 with an Error body 405")
    .by(
      AtHttp.responses(
        { to: ({ method }) => method === "DELETE", status: 401 },
        Edit.error(405, "method_not_allowed")
      )
    ),
  fault("auth.parameters-first", "Checks the query before the key.")
    .breaks("auth.first", "auth.before-all-else", "401 with an Error body 400")
    .by(
      AtHttp.responses(
        { to: ({ target }) => target.includes("limit=0"), status: 401 },
        Edit.error(400, "invalid_parameter")
      )
    ),
  fault("auth.body-first", "Checks the body before the key.")
    .breaks("auth.first", "auth.before-all-else", "401 with an Error body 415")
    .by(
      AtHttp.transport(
        (real, { keys }) =>
          (request) =>
            Effect.flatMap(real(request), (response) => {
              if (response.status !== 401 || !Requests.isCreation(request)) return Effect.succeed(response)
              const key: Header = ["Authorization", `Bearer ${keys.main}`]
              return Effect.map(real({ ...request, headers: [...request.headers, key] }), (judged) =>
                judged.status === 201 ? response : judged
              )
            })
      )
    ),
  fault("auth.path-first", "Returns 404 for an unknown path without a key.")
    .breaks("auth.unknown-path", "auth.unknown-paths", "401 with an Error body 404")
    .by(
      AtHttp.responses(
        { to: ({ target }) => !target.includes("/pets"), status: 401 },
        Edit.error(404, "not_found")
      )
    ),
  fault("auth.echoes-key", "Repeats an invalid key in the message.")
    .breaks("errors.no-echo", "every.no-echo", "the credential of the request in the message")
    .by(
      AtHttp.responses({ status: 401 }, (response, request) =>
        Edit.members((error) => ({
          ...error,
          message: `Unknown key: ${Requests.credentials(request).join()}`
        }))(response)
      )
    )
]
