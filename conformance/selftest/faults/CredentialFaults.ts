/** Faults in recognizing keys: credentials that are nearly a valid one, and checks that come before that of the key. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ApiKey } from "../../../core/access/ApiKey.ts"
import type { ClauseSlug } from "../../clauses/Clauses.ts"
import { headerValues, text, type WireRequest } from "../../http/Wire.ts"
import { type Fault, fault, type World } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Requests from "../spoilers/Requests.ts"

type IsAccepted = (given: string, key: string, request: WireRequest, world: World) => boolean

const token = (credential: string): string => credential.replace(/^Bearer /, "")

const decoded = (credential: string): string =>
  token(credential).replaceAll(/%[2-7][0-9a-f]/gi, decodeURIComponent)

/** Credentials that a server takes for the main key. */
const accepted: ReadonlyArray<readonly [id: string, clause: ClauseSlug, isAccepted: IsAccepted]> = [
  ["in any case", "auth.key-case", (given, key) => token(given).toLowerCase() === key.toLowerCase()],
  ["by its beginning", "auth.whole-key", (given, key) => given !== "" && key.startsWith(token(given))],
  ["with more characters", "auth.whole-key", (given, key) => token(given).startsWith(key)],
  ["twice", "auth.whole-key", (given, key) => token(given) === key + key],
  [
    "by its ends",
    "auth.invalid",
    (given, key) =>
      token(given).replace(/(?<=^....).*(?=....$)/, "") === key.replace(/(?<=^....).*(?=....$)/, "")
  ],
  ["percent-encoded", "auth.token-verbatim", (given, key) => given.includes("%") && decoded(given) === key],
  ["after Basic", "auth.other-scheme", (given, key) => given === `Basic ${key}`],
  [
    "after Token",
    "auth.other-scheme",
    (given, key) => /^(?:Token|ApiKey) /i.test(given) && given.endsWith(key)
  ],
  ["without a scheme", "auth.other-scheme", (given, key) => given === key],
  ["in the query", "auth.header-only", (given, key, { target }) => given === "" && target.includes(key)],
  [
    "in X-API-Key",
    "auth.header-only",
    (given, key, request) => given === "" && headerValues(request, "x-api-key").includes(key)
  ],
  [
    "that is missing, for a body in chunks",
    "auth.required",
    (given, _key, request) => given === "" && headerValues(request, "transfer-encoding").length > 0
  ],
  ["that is null", "auth.invalid", (given) => ["null", "undefined"].includes(token(given))],
  [
    "that is revoked, for filtered lists",
    "auth.revoked",
    (given, _key, { target }, { keys }) => target.includes("status=") && token(given) === keys.revoked
  ],
  [
    "in the last header",
    "auth.two-headers",
    (_given, key, request) => Requests.credentials(request).at(-1) === `Bearer ${key}`
  ]
]

/** Changes fields of the keys that are found. */
const changesFoundKeys = (changed: Partial<ApiKey>) =>
  AtHttp.keys((real) => ({
    ...real,
    findByHash: (hash) =>
      Effect.map(
        real.findByHash(hash),
        Option.map((key) => ({ ...key, ...changed }))
      )
  }))

/** Validates some requests without a valid key before it checks the key. */
const validatesFirst = (isFirst: (request: WireRequest) => boolean) =>
  AtHttp.transport(
    (real, { keys }) =>
      (request) =>
        Effect.flatMap(real(request), (response) => {
          if (response.status !== 401 || !isFirst(request)) return Effect.succeed(response)
          const judged = real(Requests.withKey(request, keys.main))
          return Effect.map(judged, (other) => (other.status < 300 ? response : other))
        })
  )

export const faults: ReadonlyArray<Fault> = [
  ...accepted.map(([id, clause, isAccepted]) =>
    fault(`auth.key ${id}`.replaceAll(/[ ,]+/g, "-"), `Accepts a key ${id}.`)
      .breaks(clause)
      .by(
        AtHttp.requests(
          (request, world) =>
            isAccepted(Requests.credentials(request)[0] ?? "", world.keys.main, request, world),
          (request, { keys }) => Requests.withKey(request, keys.main)
        )
      )
  ),
  fault("auth.revoked", "Accepts a revoked key.")
    .breaks("auth.revoked")
    .by(changesFoundKeys({ revokedAt: undefined })),
  fault("auth.expired", "Accepts an expired key.")
    .breaks("auth.expired")
    .by(changesFoundKeys({ expiresAt: undefined })),
  fault(
    "auth.key-unknown-at-times",
    "Returns 401 for every 50th request with a valid key, like a late replica."
  )
    .breaks("auth.bearer")
    .by(
      AtHttp.transport((real, { keys }) => {
        let sent = 0
        return (request) => {
          const isUnknown = Requests.hasKey(request, keys.main) && ++sent % 50 === 0
          return real(isUnknown ? Requests.withKey(request, undefined) : request)
        }
      })
    ),
  fault("auth.key-unknown-in-bursts", "Returns 401 for a valid key while four other requests are in flight.")
    .breaks("auth.bearer")
    .by(
      AtHttp.transport((real, { keys }) => {
        let inFlight = 0
        return (request) =>
          Effect.suspend(() => {
            const isUnknown = ++inFlight > 4 && Requests.hasKey(request, keys.main)
            const handled = real(isUnknown ? Requests.withKey(request, undefined) : request)
            // Lets the other requests of a burst begin.
            return Effect.ensuring(
              Effect.andThen(Effect.yieldNow, handled),
              Effect.sync(() => void inFlight--)
            )
          })
      })
    ),
  ...(["list", "creation", "get"] as const).map((operation) =>
    fault(`auth.${operation}-first`, `Checks the rest of a ${operation} before the key.`)
      .breaks("auth.every-operation")
      .by(
        validatesFirst(
          { list: Requests.isList, creation: Requests.isCreation, get: Requests.isGet }[operation]
        )
      )
  ),
  fault("auth.echoes-key", "Repeats an invalid key in the message.")
    .breaks("errors.no-echo")
    .by(
      AtHttp.responses({ status: 401 }, (response, request) =>
        Edit.members((error) => ({ ...error, message: `Unknown: ${Requests.credentials(request).join()}` }))(
          response
        )
      )
    ),
  fault("errors.echoes-body", "Repeats a rejected body in the message.")
    .breaks("errors.no-echo")
    .by(
      AtHttp.responses({ status: 400 }, (response, { body, target }) =>
        Edit.members((error) => ({ ...error, message: `Invalid: ${text(body)}${target}` }))(response)
      )
    )
]
