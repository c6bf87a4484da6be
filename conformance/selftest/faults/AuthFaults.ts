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
  fault("auth.prefix", "Accepts the first characters of a key as the whole key.")
    .breaks("auth.whole-key")
    .by(admits((credentials, key) => tokenOf(credentials) !== "" && key.startsWith(tokenOf(credentials)))),
  fault("auth.longer-key", "Ignores characters that follow a key.")
    .breaks("auth.whole-key")
    .by(admits((credentials, key) => tokenOf(credentials).startsWith(key))),
  fault("auth.key-within", "Accepts every credential that ends with a key.")
    .breaks("auth.whole-key")
    .by(admits((credentials, key) => credentials.some((credential) => credential.endsWith(key)))),
  fault("auth.middle-ignored", "Compares only the first and last four characters of a key.")
    .breaks("auth.invalid")
    .by(
      admits((credentials, key) => isLike(tokenOf(credentials), key, (at) => at >= 4 && at < key.length - 4))
    ),
  fault("auth.basic", "Accepts a key under the scheme Basic.")
    .breaks("auth.other-scheme")
    .by(admits((credentials, key) => credentials[0] === `Basic ${key}`)),
  fault("auth.no-scheme", "Accepts a key without a scheme.")
    .breaks("auth.other-scheme")
    .by(admits((credentials, key) => credentials[0] === key)),
  fault("auth.key-in-query", "Accepts a key in the query.")
    .breaks("auth.header-only")
    .by(admits((_credentials, key, request) => [...Requests.parameters(request).values()].includes(key))),
  fault("auth.key-in-other-header", "Accepts a key in X-API-Key.")
    .breaks("auth.header-only")
    .by(admits((_credentials, key, request) => headerValues(request, "x-api-key").includes(key))),
  fault("auth.revoked", "Accepts a revoked key.")
    .breaks("auth.revoked")
    .by(changesFoundKeys({ revokedAt: undefined })),
  fault("auth.expired", "Accepts an expired key.")
    .breaks("auth.expired")
    .by(changesFoundKeys({ expiresAt: undefined })),
  fault("auth.key-in-any-case", "Ignores the letter case of API keys.")
    .breaks("auth.key-case")
    .by(admits((credentials, key) => tokenOf(credentials).toLowerCase() === key.toLowerCase())),
  fault("auth.literal-scheme", "Rejects the scheme Bearer in another letter case.")
    .breaks("auth.scheme-case")
    .by(
      AtHttp.requests(
        (request) => !/^Bearer /.test(Requests.credentials(request)[0] ?? "Bearer "),
        (request) => Requests.withHeader(request, "Authorization", "None")
      )
    ),
  fault("auth.always-invalid-token", "Reports an invalid token even when no token was sent.")
    .breaks("auth.challenge-error")
    .by(challenges('Bearer realm="animals", error="invalid_token"')),
  fault("auth.one-code", "Uses the code missing_api_key for missing and for invalid keys.")
    .breaks("auth.codes")
    .by(AtHttp.responses({ status: 401 }, Edit.error(401, "missing_api_key"))),
  fault("auth.decodes-token", "Percent-decodes the token.")
    .breaks("auth.token-verbatim")
    .by(
      admits((credentials, key) => {
        const token = tokenOf(credentials)
        return /^%[0-9a-f]{2}/.test(token) && decodeURIComponent(token) === key
      })
    ),
  fault("auth.last-header", "Uses the last of several Authorization headers.")
    .breaks("auth.two-headers")
    .by(admits((credentials, key) => credentials.at(-1) === `Bearer ${key}`)),
  fault("auth.long-token-431", "Returns 431 for a token of thousands of characters.")
    .breaks("auth.token-length")
    .by(
      AtHttp.responses(
        { to: (request) => tokenOf(Requests.credentials(request)).length > 2_000, status: 401 },
        Edit.error(431, "headers_too_large")
      )
    ),
  fault("auth.parameters-first", "Checks the query before the key.")
    .breaks("auth.first")
    .by(
      AtHttp.responses(
        { to: ({ target }) => target.includes("limit=0"), status: 401 },
        Edit.error(400, "invalid_parameter")
      )
    ),
  fault("auth.body-first", "Checks the body before the key.")
    .breaks("auth.first")
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
  fault("auth.echoes-key", "Repeats an invalid key in the message.")
    .breaks("errors.no-echo")
    .by(
      AtHttp.responses({ status: 401 }, (response, request) =>
        Edit.members((error) => ({
          ...error,
          message: `Unknown key: ${Requests.credentials(request).join()}`
        }))(response)
      )
    )
]
