/** Backends with a fault in who may ask. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type Header, headerValues, type WireRequest, type WireResponse } from "../../http/Wire.ts"
import type { Fault, Where } from "../Fault.ts"
import * as Rewrite from "../Rewrite.ts"

/** Takes requests for ones with the main key, by what they carry as `Authorization`. */
const admits = (
  isAdmitted: (credentials: ReadonlyArray<string>, key: string, request: WireRequest) => boolean
): Where => ({
  at: "http",
  transport: (real, { keys }) =>
    Rewrite.requests((request) => {
      if (!isAdmitted(headerValues(request, "authorization"), keys.main, request)) return request
      const others = request.headers.filter(([name]) => name.toLowerCase() !== "authorization")
      return { ...request, headers: [...others, ["Authorization", `Bearer ${keys.main}`] satisfies Header] }
    })(real)
})

const tokenOf = (credentials: ReadonlyArray<string>): string =>
  /^Bearer (.+)$/.exec(credentials[0] ?? "")?.[1] ?? ""

/** Whether a token is as long as the key and the same, except where nobody looks. */
const isLike = (token: string, key: string, isIgnored: (at: number) => boolean): boolean =>
  token.length === key.length && [...token].every((one, at) => isIgnored(at) || one === key[at])

/** Answers 401 otherwise. */
const refuses = (change: (response: WireResponse, request: WireRequest) => WireResponse): Where => ({
  at: "http",
  transport: Rewrite.answers((response, request) =>
    response.status === 401 ? change(response, request) : response
  )
})

const error = (response: WireResponse, status: number, code: string): WireResponse =>
  Rewrite.withBody(
    Rewrite.withStatus(response, status),
    `{"code":"${code}","message":"It failed.","status":${status}}`
  )

export const faults: ReadonlyArray<Fault> = [
  {
    id: "auth.no-key-needed",
    does: "Answers requests without a key.",
    breaks: "auth.required",
    killedBy: "auth.key-required",
    words: "401 with an Error body 200",
    where: admits((credentials) => credentials.length === 0)
  },
  {
    id: "auth.open-get",
    does: "Shows a single animal to everyone.",
    breaks: "auth.every-operation",
    killedBy: "auth.key-required",
    words: "401 with an Error body 404",
    where: admits((_, __, request) => Rewrite.isGet(request))
  },
  {
    id: "auth.open-create",
    does: "Lets everyone create animals.",
    breaks: "auth.every-operation",
    killedBy: "auth.key-required",
    words: "401 with an Error body 201",
    where: admits((_, __, request) => Rewrite.isCreation(request))
  },
  {
    id: "auth.any-key",
    does: "Accepts every key.",
    breaks: "auth.invalid",
    killedBy: "auth.key-required",
    words: "401 with an Error body 200",
    where: admits((credentials) => tokenOf(credentials) !== "")
  },
  {
    id: "auth.answers-403",
    does: "Answers 403 to a missing key.",
    breaks: "auth.required",
    killedBy: "auth.key-required",
    words: "401 with an Error body 403",
    where: refuses((response) => error(response, 403, "missing_api_key"))
  },
  {
    id: "auth.answers-404",
    does: "Hides the operation getPet from who has no key.",
    breaks: "auth.every-operation",
    killedBy: "auth.key-required",
    words: "401 with an Error body 404",
    where: refuses((response, request) =>
      Rewrite.isGet(request) ? error(response, 404, "not_found") : response
    )
  },
  {
    id: "auth.prefix",
    does: "Compares as many characters of a key as were sent.",
    breaks: "auth.whole-key",
    killedBy: "auth.exact-key",
    words: "401 with an Error body 201",
    where: admits((credentials, key) => tokenOf(credentials) !== "" && key.startsWith(tokenOf(credentials)))
  },
  {
    id: "auth.longer-key",
    does: "Compares as many characters as a key has.",
    breaks: "auth.whole-key",
    killedBy: "auth.exact-key",
    words: "401 with an Error body 200",
    where: admits((credentials, key) => tokenOf(credentials).startsWith(key))
  },
  {
    id: "auth.key-within",
    does: "Looks for a key anywhere in the credential.",
    breaks: "auth.whole-key",
    killedBy: "auth.exact-key",
    words: "401 with an Error body 200",
    where: admits((credentials, key) => credentials.some((credential) => credential.endsWith(key)))
  },
  {
    id: "auth.first-character-ignored",
    does: "Compares a key from its second character on.",
    breaks: "auth.invalid",
    killedBy: "auth.exact-key",
    words: "401 with an Error body 200",
    where: admits((credentials, key) => isLike(tokenOf(credentials), key, (at) => at === 0))
  },
  {
    id: "auth.middle-ignored",
    does: "Compares the first and the last four characters of a key.",
    breaks: "auth.invalid",
    killedBy: "auth.exact-key",
    words: "401 with an Error body 201",
    where: admits((credentials, key) =>
      isLike(tokenOf(credentials), key, (at) => at >= 4 && at < key.length - 4)
    )
  },
  {
    id: "auth.last-character-ignored",
    does: "Compares all characters of a key but the last.",
    breaks: "auth.invalid",
    killedBy: "auth.exact-key",
    words: "401 with an Error body 404",
    where: admits((credentials, key) => isLike(tokenOf(credentials), key, (at) => at === key.length - 1))
  },
  {
    id: "auth.basic",
    does: "Accepts a key under the scheme Basic.",
    breaks: "auth.other-scheme",
    killedBy: "auth.bearer-only",
    words: "401 with an Error body 201",
    where: admits((credentials, key) => credentials[0] === `Basic ${key}`)
  },
  {
    id: "auth.no-scheme",
    does: "Accepts a key without a scheme.",
    breaks: "auth.other-scheme",
    killedBy: "auth.bearer-only",
    words: "401 with an Error body 200",
    where: admits((credentials, key) => credentials[0] === key)
  },
  {
    id: "auth.last-word",
    does: "Takes the last word of the header for the key.",
    breaks: "auth.other-scheme",
    killedBy: "auth.bearer-only",
    words: "401 with an Error body 200",
    where: admits((credentials, key) => credentials[0]?.split(" ").at(-1) === key)
  },
  {
    id: "auth.key-in-query",
    does: "Accepts a key in the query.",
    breaks: "auth.header-only",
    killedBy: "auth.elsewhere",
    words: "401 with an Error body 200",
    where: admits((_, key, request) => [...Rewrite.parameters(request).values()].includes(key))
  },
  {
    id: "auth.key-in-other-header",
    does: "Accepts a key in X-API-Key.",
    breaks: "auth.header-only",
    killedBy: "auth.elsewhere",
    words: "401 with an Error body 200",
    where: admits((_, key, request) => headerValues(request, "x-api-key").includes(key))
  },
  {
    id: "auth.revoked",
    does: "Goes on accepting a key that is revoked.",
    breaks: "auth.revoked",
    killedBy: "auth.revoked-key",
    words: "401 with an Error body 200",
    where: {
      at: "http",
      keys: (real) => ({
        ...real,
        findByHash: (hash) =>
          Effect.map(
            real.findByHash(hash),
            Option.map((key) => ({ ...key, revokedAt: undefined }))
          )
      })
    }
  },
  {
    id: "auth.read-only",
    does: "Refuses a valid key for creations.",
    breaks: "auth.bearer",
    killedBy: "auth.accepted",
    words: "the valid key accepted 403",
    where: {
      at: "http",
      transport: Rewrite.answers((response, request) =>
        Rewrite.isCreation(request) ? error(response, 403, "invalid_api_key") : response
      )
    }
  },

  // Against our own answers to the contract's gaps.

  {
    id: "auth.key-in-any-case",
    does: "Compares keys without regard to case.",
    breaks: "auth.key-case",
    killedBy: "auth.case-of-key",
    words: "401 with an Error body 200",
    where: admits((credentials, key) => tokenOf(credentials).toLowerCase() === key.toLowerCase())
  },
  {
    id: "auth.literal-scheme",
    does: "Knows the scheme only as Bearer.",
    breaks: "auth.scheme-case",
    killedBy: "auth.scheme-in-any-case",
    words: "under the scheme bearer 401",
    where: {
      at: "http",
      transport: Rewrite.requests((request) => ({
        ...request,
        headers: request.headers.map(
          ([name, value]): Header =>
            name === "Authorization" && !value.startsWith("Bearer ") ? [name, "None"] : [name, value]
        )
      }))
    }
  },
  {
    id: "auth.no-challenge",
    does: "Answers 401 without WWW-Authenticate.",
    breaks: "auth.challenge",
    killedBy: "auth.challenged",
    words: "with a 401 none",
    where: refuses((response) => Rewrite.withoutHeader(response, "www-authenticate"))
  },
  {
    id: "auth.other-realm",
    does: "Names another realm.",
    breaks: "auth.challenge",
    killedBy: "auth.challenge-of-ours",
    words: 'Bearer realm="pets"',
    where: refuses((response) => Rewrite.withHeader(response, "WWW-Authenticate", 'Bearer realm="pets"'))
  },
  {
    id: "auth.always-invalid-token",
    does: "Speaks of an invalid token where none was sent.",
    breaks: "auth.challenge-error",
    killedBy: "auth.challenge-of-ours",
    words: 'error="invalid_token"',
    where: refuses((response) =>
      Rewrite.withHeader(response, "WWW-Authenticate", 'Bearer realm="animals", error="invalid_token"')
    )
  },
  {
    id: "auth.one-code",
    does: "Has one code for missing and for invalid keys.",
    breaks: "auth.codes",
    killedBy: "auth.error-codes",
    words: "of code invalid_api_key 401",
    where: refuses((response) => error(response, 401, "missing_api_key"))
  },
  {
    id: "auth.decodes-token",
    does: "Percent-decodes the token.",
    breaks: "auth.token-verbatim",
    killedBy: "auth.strict-token",
    words: "401 with an Error body of code invalid_api_key 200",
    where: admits((credentials, key) => {
      const token = tokenOf(credentials)
      return /^%[0-9a-f]{2}/.test(token) && decodeURIComponent(token) === key
    })
  },
  {
    id: "auth.unquotes-token",
    does: "Takes quotes off the token.",
    breaks: "auth.token-verbatim",
    killedBy: "auth.strict-token",
    words: "401 with an Error body of code invalid_api_key 200",
    where: admits((credentials, key) => tokenOf(credentials) === `"${key}"`)
  },
  {
    id: "auth.last-header",
    does: "Looks at the last of several Authorization headers.",
    breaks: "auth.two-headers",
    killedBy: "auth.strict-token",
    words: "401 with an Error body of code invalid_api_key 200",
    where: admits((credentials, key) => credentials.at(-1) === `Bearer ${key}`)
  },
  {
    id: "auth.long-token-431",
    does: "Answers a token of thousands of characters with 431.",
    breaks: "auth.token-length",
    killedBy: "auth.strict-token",
    words: "401 with an Error body of code invalid_api_key 431",
    where: refuses((response, request) =>
      tokenOf(headerValues(request, "authorization")).length > 2_000
        ? error(response, 431, "headers_too_large")
        : response
    )
  },
  {
    id: "auth.method-first",
    does: "Looks at the method before the key.",
    breaks: "auth.first",
    killedBy: "auth.before-all-else",
    words: "401 with an Error body 405",
    where: refuses((response, { method }) =>
      method === "DELETE" ? error(response, 405, "method_not_allowed") : response
    )
  },
  {
    id: "auth.parameters-first",
    does: "Looks at the query before the key.",
    breaks: "auth.first",
    killedBy: "auth.before-all-else",
    words: "401 with an Error body 400",
    where: refuses((response, { target }) =>
      target.includes("limit=0") ? error(response, 400, "invalid_parameter") : response
    )
  },
  {
    id: "auth.body-first",
    does: "Looks at the body before the key.",
    breaks: "auth.first",
    killedBy: "auth.before-all-else",
    words: "401 with an Error body 415",
    where: {
      at: "http",
      transport:
        (real, { keys }) =>
        (request) =>
          Effect.flatMap(real(request), (response) => {
            if (response.status !== 401 || !Rewrite.isCreation(request)) return Effect.succeed(response)
            const key: Header = ["Authorization", `Bearer ${keys.main}`]
            return Effect.map(real({ ...request, headers: [...request.headers, key] }), (judged) =>
              judged.status === 201 ? response : judged
            )
          })
    }
  },
  {
    id: "auth.path-first",
    does: "Answers an unknown path with 404 where no key was sent.",
    breaks: "auth.unknown-path",
    killedBy: "auth.unknown-paths",
    words: "401 with an Error body 404",
    where: refuses((response, { target }) =>
      /\/pets/.test(target) ? response : error(response, 404, "not_found")
    )
  },
  {
    id: "auth.echoes-key",
    does: "Repeats an invalid key in the message.",
    breaks: "errors.no-echo",
    killedBy: "every.no-echo",
    words: "the credential of the request in the message",
    where: refuses((response, request) =>
      Rewrite.withJson(response, (members) => ({
        ...Object(members),
        message: `Unknown key: ${headerValues(request, "authorization").join()}`
      }))
    )
  }
]
