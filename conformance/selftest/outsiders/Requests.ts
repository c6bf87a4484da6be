import { headerValues, text } from "../../http/Wire.ts"
import { type Fault, fault } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Lists from "../spoilers/Lists.ts"
import * as Requests from "../spoilers/Requests.ts"
import * as Outsider from "./Outsider.ts"

const { admits, onPlain, reads } = Outsider

const token = (credential: string) => credential.replace(/^Bearer /, "")

/** Changes a limit if the list also has a status, or if it has none. */
const limitIf = (hasStatus: boolean, isBad: (limit: string) => boolean, to: string) =>
  AtHttp.requests(
    (request) => {
      const limit = Requests.listParameter(request, "limit")
      return (
        limit !== null && isBad(limit) && (Requests.listParameter(request, "status") !== null) === hasStatus
      )
    },
    (request) => Requests.withParameter(request, "limit", to)
  )

const above = (limit: string) => /^[1-9][0-9]*$/.test(limit) && BigInt(limit) > 100n
const below = (limit: string) => /^-?[0-9]+$/.test(limit) && BigInt(limit) < 1n
const huge = (limit: string) => /^[1-9][0-9]{18,}$/.test(limit) && BigInt(limit) >= 2n ** 63n

const queries: ReadonlyArray<Fault> = [
  fault("out.max-lost-with-status", "A limit above 100 is accepted if a status is given.")
    .breaks("list.limit.range")
    .by(limitIf(true, above, "100")),
  fault("out.max-lost-without-status", "A limit above 100 is accepted unless a status is given.")
    .breaks("list.limit.range")
    .by(limitIf(false, above, "100")),
  fault("out.min-lost-with-status", "A limit below 1 is accepted if a status is given.")
    .breaks("list.limit.range")
    .by(limitIf(true, below, "1")),
  fault("out.max-lost-for-sold", "A limit above 100 is accepted for sold animals.")
    .breaks("list.limit.range")
    .by(
      AtHttp.requests(
        (request) =>
          Requests.listParameter(request, "status") === "sold" &&
          above(Requests.listParameter(request, "limit") ?? ""),
        (request) => Requests.withParameter(request, "limit", "100")
      )
    ),
  fault("out.max-lost-limit-last", "A limit above 100 is accepted after the status.")
    .breaks("list.limit.range")
    .by(
      AtHttp.requests(
        (request) =>
          /status=.*limit=/.test(request.target) && above(Requests.listParameter(request, "limit") ?? ""),
        (request) => Requests.withParameter(request, "limit", "100")
      )
    ),
  fault("out.huge-limit", "A limit beyond int64 is accepted.")
    .breaks("list.limit.range")
    .by(Lists.readsLimit(/^[1-9][0-9]{18,}$/, (limit) => (huge(limit) ? 20 : undefined))),
  fault("out.huge-limit-wraps", "A limit is cut to 64 bits, so 2^64+5 is 5.")
    .breaks("list.limit.range")
    .by(
      Lists.readsLimit(/^[1-9][0-9]{18,}$/, (limit) => {
        const wrapped = BigInt.asIntN(64, BigInt(limit))
        return wrapped >= 1n && wrapped <= 100n ? Number(wrapped) : undefined
      })
    ),
  fault("out.limit-500", "Limits of up to 500 are accepted and list 100.")
    .breaks("list.limit.range")
    .by(
      Lists.readsLimit(/^[0-9]{3}$/, (limit) =>
        Number(limit) > 100 && Number(limit) <= 500 ? 100 : undefined
      )
    ),
  fault("out.limit-101-only", "A limit of 101 is accepted.")
    .breaks("list.limit.range")
    .by(Lists.readsLimit(/^101$/, () => 100)),
  fault("out.limit-minus", "A limit of -1 lists all.")
    .breaks("list.limit.range")
    .by(Lists.readsLimit(/^-1$/, () => 100)),
  fault("out.limit-99", "A limit of 100 lists 99.")
    .breaks("list.complete")
    .by(Lists.readsLimit(/^100$/, () => 99)),
  fault("out.limit-50-with-status", "A filtered list has at most 50.")
    .breaks("list.complete")
    .by(
      AtHttp.requests(
        (request) =>
          Requests.listParameter(request, "status") !== null &&
          Number(Requests.listParameter(request, "limit")) > 50 &&
          Number(Requests.listParameter(request, "limit")) <= 100,
        (request) => Requests.withParameter(request, "limit", "50")
      )
    ),
  fault("out.default-30-sold", "The default limit is 30 for sold.")
    .breaks("list.limit.default")
    .by(Lists.defaultLimit("30", "sold")),
  fault("out.default-19", "The default limit is 19.")
    .breaks("list.limit.default-fills")
    .by(Lists.defaultLimit("19")),
  fault("out.default-21-pending", "The default limit is 21 for pending.")
    .breaks("list.limit.default")
    .by(Lists.defaultLimit("21", "pending")),
  fault("out.filter-lost-with-limit", "A filter is ignored if a limit is given.")
    .breaks("list.status.filter")
    .by(
      AtHttp.requests(
        (request) => Requests.listParameter(request, "limit") !== null,
        (request) => Requests.withParameter(request, "status", undefined)
      )
    ),
  fault("out.filter-lost-limit-100", "A filter is ignored with a limit of 100.")
    .breaks("list.status.filter")
    .by(
      AtHttp.requests(
        (request) => Requests.listParameter(request, "limit") === "100",
        (request) => Requests.withParameter(request, "status", undefined)
      )
    ),
  fault("out.filter-lost-first", "A filter before the limit is ignored.")
    .breaks("list.status.filter")
    .by(
      AtHttp.requests(
        (request) => /status=\w+&limit=\d/.test(request.target),
        (request) => Requests.withParameter(request, "status", undefined)
      )
    ),
  fault("out.limit-lost-with-status", "A limit is ignored with a filter.")
    .breaks("list.limit.maximum-returned")
    .by(
      AtHttp.requests(
        (request) =>
          Requests.listParameter(request, "status") !== null &&
          /^[1-9]\d?$/.test(Requests.listParameter(request, "limit") ?? ""),
        (request) => Requests.withParameter(request, "limit", undefined)
      )
    ),
  fault("out.sold-includes-pending", "The filter sold also lists pending animals as they are.")
    .breaks("list.status.filter")
    .by(
      AtHttp.requests(
        (request) =>
          Requests.listParameter(request, "status") === "sold" &&
          Requests.listParameter(request, "limit") === "1",
        (request) => Requests.withParameter(request, "status", "pending")
      )
    )
]

const bodies: ReadonlyArray<Fault> = [
  fault("out.trailing-text", "Ignores text after the value.")
    .breaks("create.json-strict")
    .by(reads((body) => /^(\{[^{}]*\})[^{}]+$/s.exec(body)?.[1] ?? body)),
  fault("out.trailing-text-plain", "Ignores text after the value.")
    .breaks("create.json-strict")
    .by(onPlain(reads((body) => /^(\{[^{}]*\})\s*\w+\s*$/s.exec(body)?.[1] ?? body))),
  fault("out.second-value", "Ignores a second value.")
    .breaks("create.json-strict")
    .by(reads((body) => /^(\{[^{}]*\})\s*[{[].*$/s.exec(body)?.[1] ?? body)),
  fault("out.trailing-comma", "Accepts a trailing comma.")
    .breaks("create.json-syntax")
    .by(reads((body) => body.replace(/,\s*\}/, "}"))),
  fault("out.comment-before", "Accepts a comment before the value.")
    .breaks("create.json-syntax")
    .by(reads((body) => body.replace(/^\s*(?:\/\*.*?\*\/|\/\/[^\n]*\n|#[^\n]*\n)\s*/s, ""))),
  fault("out.comment-inside", "Accepts a comment inside the value.")
    .breaks("create.json-syntax")
    .by(reads((body) => body.replace(/(\{|,)\s*\/\*.*?\*\//s, "$1"))),
  fault("out.comment-after", "Accepts a comment after the value.")
    .breaks("create.json-strict")
    .by(reads((body) => body.replace(/\}\s*(?:\/\*.*?\*\/|\/\/[^\n]*)\s*$/s, "}"))),
  fault("out.single-quotes", "Accepts single quotes.")
    .breaks("create.json-syntax")
    .by(reads((body) => (body.includes('"') ? body : body.replaceAll("'", '"')))),
  fault("out.bare-names", "Accepts member names without quotes.")
    .breaks("create.json-syntax")
    .by(reads((body) => body.replace(/([{,]\s*)([a-zA-Z]+)\s*:/g, '$1"$2":'))),
  fault("out.capital-name", "Takes Name for name.")
    .breaks("create.name-required")
    .by(reads((body) => (body.includes('"name"') ? body : body.replace(/"name"/i, '"name"')))),
  fault("out.capital-category", "Takes CategoryId or categoryid for categoryId.")
    .breaks("create.category-required")
    .by(
      reads((body) => (body.includes('"categoryId"') ? body : body.replace(/"categoryid"/i, '"categoryId"')))
    ),
  fault("out.snake-category", "Takes category_id for categoryId.")
    .breaks("create.category-required")
    .by(
      reads((body) => (body.includes('"categoryId"') ? body : body.replace('"category_id"', '"categoryId"')))
    ),
  fault("out.capital-status", "Takes Status for status.")
    .breaks("create.unknown-fields")
    .by(reads((body) => (body.includes('"status"') ? body : body.replace(/"status"/i, '"status"')))),
  fault("out.any-case-plain", "Member names in any case.")
    .breaks("create.name-required")
    .by(
      onPlain(
        reads((body) =>
          body.replace(
            /"(name|categoryId|status)"\s*:/gi,
            (_, name: string) =>
              `"${{ name: "name", categoryid: "categoryId", status: "status" }[name.toLowerCase()]}":`
          )
        )
      )
    ),
  fault("out.status-any-case", "Accepts SOLD as sold.")
    .breaks("create.status-enum")
    .by(
      reads((body) =>
        body.replace(/"status":\s*"(\w+)"/, (_, status: string) => `"status":"${status.toLowerCase()}"`)
      )
    ),
  fault("out.status-empty", "An empty status is absent.")
    .breaks("create.status-enum")
    .by(reads((body) => body.replace(/,\s*"status":\s*""/, ""))),
  fault("out.category-text", "Accepts a category in a string.")
    .breaks("create.category-type")
    .by(reads((body) => body.replace(/"categoryId":\s*"(-?\d+)"/, '"categoryId":$1'))),
  fault("out.category-true", "Accepts true as category 1.")
    .breaks("create.category-type")
    .by(reads((body) => body.replace(/"categoryId":\s*true/, '"categoryId":1'))),
  fault("out.category-empty", "Accepts an empty string as category 0.")
    .breaks("create.category-type")
    .by(reads((body) => body.replace(/"categoryId":\s*(""|\[\])/, '"categoryId":0'))),
  fault("out.category-null", "Accepts null as category 0.")
    .breaks("create.category-type")
    .by(reads((body) => body.replace(/"categoryId":\s*null/, '"categoryId":0'))),
  fault("out.category-fraction", "Cuts the fraction of a category.")
    .breaks("create.category-type")
    .by(reads((body) => body.replace(/("categoryId":\s*-?\d+)\.\d+/, "$1"))),
  fault("out.category-saturates", "A category beyond int64 becomes the largest.")
    .breaks("create.category-range")
    .by(
      reads((body) =>
        body.replace(/("categoryId":\s*)(\d{19,})/, (all, head: string, digits: string) =>
          BigInt(digits) >= 2n ** 63n ? `${head}9223372036854775807` : all
        )
      )
    ),
  fault("out.category-2-63", "Only 2^63 itself is accepted.")
    .breaks("create.category-range")
    .by(reads((body) => body.replace(/("categoryId":\s*)9223372036854775808/, "$19223372036854775807"))),
  fault("out.category-exponent", "1e400 becomes category 0.")
    .breaks("create.category-range")
    .by(reads((body) => body.replace(/("categoryId":\s*)[0-9.]+e\+?[0-9]{3,}/i, "$10"))),
  fault("out.name-number", "A number is a name.")
    .breaks("create.name-type")
    .by(reads((body) => body.replace(/"name":\s*(-?\d+(?:\.\d+)?)/, '"name":"$1"'))),
  fault("out.name-true", "true is a name.")
    .breaks("create.name-type")
    .by(reads((body) => body.replace(/"name":\s*(true|false)/, '"name":"$1"'))),
  fault("out.name-null", "null is a name.")
    .breaks("create.name-type")
    .by(reads((body) => body.replace(/"name":\s*null/, '"name":"null"'))),
  fault("out.name-array", "A list of one text is a name.")
    .breaks("create.name-type")
    .by(reads((body) => body.replace(/"name":\s*\[\s*("[^"]*")\s*\]/, '"name":$1'))),
  fault("out.name-object", "An object is a name.")
    .breaks("create.name-type")
    .by(reads((body) => body.replace(/"name":\s*\{[^{}]*\}/, '"name":"[object Object]"'))),
  fault("out.body-in-array", "Takes the animal out of an array.")
    .breaks("create.body-object")
    .by(reads((body) => /^\s*\[\s*(\{.*\})\s*\]\s*$/s.exec(body)?.[1] ?? body)),
  fault("out.body-in-text", "Takes the animal out of a JSON string.")
    .breaks("create.body-object")
    .by(
      reads((body) => {
        try {
          const value: unknown = JSON.parse(body)
          return typeof value === "string" ? value : body
        } catch {
          return body
        }
      })
    ),
  fault("out.form", "Accepts a form.")
    .breaks("create.json-syntax")
    .by(
      AtHttp.requests(Requests.isCreation, (request) => {
        const given = new URLSearchParams(text(request.body))
        return given.has("name") && given.has("categoryId")
          ? {
              ...request,
              body: new TextEncoder().encode(
                JSON.stringify({ name: given.get("name"), categoryId: Number(given.get("categoryId")) })
              ),
              headers: request.headers.map(([name, value]) =>
                name.toLowerCase() === "content-type" ? ([name, "application/json"] as const) : [name, value]
              )
            }
          : request
      })
    ),
  fault("out.truncated-closed", "Closes a truncated body.")
    .breaks("create.json-syntax")
    .by(reads((body) => (/^\{[^{}]*[^{},:"\s]$/.test(body) ? `${body}}` : body))),
  fault("out.nan", "NaN is category 0.")
    .breaks("create.json-syntax")
    .by(reads((body) => body.replace(/"categoryId":\s*(?:NaN|-?Infinity)/, '"categoryId":0'))),
  fault("out.leading-zero", "007 is category 7.")
    .breaks("create.json-syntax")
    .by(reads((body) => body.replace(/("categoryId":\s*)0+(\d)/, "$1$2"))),
  fault("out.plus-sign", "+1 is category 1.")
    .breaks("create.json-syntax")
    .by(reads((body) => body.replace(/("categoryId":\s*)\+(\d)/, "$1$2"))),
  fault("out.raw-newline", "A raw line feed in a name is accepted.")
    .breaks("create.json-syntax")
    .by(reads((body) => body.replace(/("name":"[^"]*)\n([^"]*")/, "$1\\n$2")))
]

const keys: ReadonlyArray<Fault> = [
  fault("out.key-lower", "A key in small letters is accepted.")
    .breaks("auth.key-case")
    .by(admits((given, key) => token(given) === key.toLowerCase() && token(given) !== key)),
  fault("out.key-upper", "A key in capitals is accepted.")
    .breaks("auth.key-case")
    .by(admits((given, key) => token(given) === key.toUpperCase())),
  fault("out.key-swapped-get", "A retrieval ignores the case of the key.")
    .breaks("auth.key-case")
    .by(
      admits(
        (given, key, request) => Requests.isGet(request) && token(given).toLowerCase() === key.toLowerCase()
      )
    ),
  fault("out.key-any-case-plain", "A key in any case is accepted.")
    .breaks("auth.key-case")
    .by(onPlain(admits((given, key) => token(given).toLowerCase() === key.toLowerCase()))),
  fault("out.key-prefix", "A prefix of at least 8 characters is accepted.")
    .breaks("auth.whole-key")
    .by(admits((given, key) => token(given).length >= 8 && key.startsWith(token(given)))),
  fault("out.key-without-last", "A key without its last character is accepted.")
    .breaks("auth.whole-key")
    .by(admits((given, key) => token(given) === key.slice(0, -1))),
  fault("out.key-suffix", "A key with one more character is accepted.")
    .breaks("auth.whole-key")
    .by(admits((given, key) => token(given).slice(0, -1) === key)),
  fault("out.key-doubled", "A doubled key is accepted.")
    .breaks("auth.whole-key")
    .by(admits((given, key) => token(given) === key + key)),
  fault("out.key-encoded", "A percent-encoded key is accepted.")
    .breaks("auth.token-verbatim")
    .by(
      admits(
        (given, key) =>
          /%[2-7][0-9a-f]/i.test(token(given)) &&
          token(given).replaceAll(/%[2-7][0-9a-f]/gi, decodeURIComponent) === key
      )
    ),
  fault("out.key-basic", "Basic with the key is accepted.")
    .breaks("auth.other-scheme")
    .by(
      admits(
        (given, key) =>
          /^Basic /i.test(given) &&
          [given.slice(6), atob(given.slice(6).replace(/[^A-Za-z0-9+/=]/g, ""))].some((value) =>
            value.includes(key)
          )
      )
    ),
  fault("out.key-token", "Token KEY is accepted.")
    .breaks("auth.other-scheme")
    .by(admits((given, key) => /^(?:Token|ApiKey|Key) /i.test(given) && given.endsWith(key))),
  fault("out.key-glued", "BearerKEY is accepted.")
    .breaks("auth.other-scheme")
    .by(admits((given, key) => given === `Bearer${key}`)),
  fault("out.key-bare", "The key alone is accepted on lists.")
    .breaks("auth.other-scheme")
    .by(admits((given, key, request) => Requests.isList(request) && given === key)),
  fault("out.key-in-query", "api_key in the query is accepted.")
    .breaks("auth.header-only")
    .by(
      admits(
        (given, key, request) => given === "" && [...Requests.parameters(request).values()].includes(key)
      )
    ),
  fault("out.key-in-cookie", "The key in a cookie is accepted.")
    .breaks("auth.header-only")
    .by(
      admits(
        (given, key, request) =>
          given === "" && headerValues(request, "cookie").some((value) => value.includes(key))
      )
    ),
  fault("out.key-in-header", "The key in X-API-Key is accepted.")
    .breaks("auth.header-only")
    .by(admits((given, key, request) => given === "" && headerValues(request, "x-api-key").includes(key))),
  fault("out.revoked-gets", "A revoked key retrieves animals.")
    .breaks("auth.revoked")
    .by(admits((given, _key, request, { keys }) => Requests.isGet(request) && token(given) === keys.revoked)),
  fault("out.revoked-lists-sold", "A revoked key lists with a status.")
    .breaks("auth.revoked")
    .by(
      admits(
        (given, _key, request, { keys }) =>
          Requests.listParameter(request, "status") !== null && token(given) === keys.revoked
      )
    ),
  fault("out.revoked-404", "A revoked key gets 403.")
    .breaks("auth.revoked")
    .by(
      AtHttp.responses(
        { to: (request, { keys }) => Requests.hasKey(request, keys.revoked) },
        Edit.error(403, "revoked")
      )
    ),
  fault("out.revoked-empty", "A revoked key gets 401 without a body.")
    .breaks("auth.error-body")
    .by(
      AtHttp.responses({ to: (request, { keys }) => Requests.hasKey(request, keys.revoked) }, Edit.body(""))
    ),
  fault("out.revoked-no-headers", "A revoked key gets no rate headers.")
    .breaks("limits.headers-present")
    .by(
      AtHttp.responses(
        { to: (request, { keys }) => Requests.hasKey(request, keys.revoked) },
        Edit.without("X-RateLimit-Limit")
      )
    ),
  fault("out.empty-bearer", "Bearer with nothing is accepted.")
    .breaks("auth.invalid")
    .by(admits((given) => /^Bearer\s*$/.test(given))),
  fault("out.bearer-undefined", "Bearer null or undefined is accepted.")
    .breaks("auth.invalid")
    .by(admits((given) => ["null", "undefined"].includes(token(given)))),
  fault("out.head-open", "HEAD needs no key.")
    .breaks("auth.every-operation")
    .by(admits((given, _key, request) => Requests.isHead(request) && given === "")),
  fault("out.get-open", "A retrieval with a wrong key is answered.")
    .breaks("auth.invalid")
    .by(admits((given, _key, request) => Requests.isGet(request) && given !== "")),
  fault("out.validation-first", "An invalid body gets 400 before 401.")
    .breaks("auth.first")
    .by(
      onPlain(
        Outsider.instead(
          (response, request) =>
            response.status === 401 &&
            Requests.isCreation(request) &&
            !/"name".*"categoryId"/s.test(text(request.body)),
          (request, { keys }) => Requests.withKey(request, keys.main)
        )
      )
    ),
  fault("out.query-first", "An invalid limit gets 400 before 401.")
    .breaks("auth.first")
    .by(
      onPlain(
        Outsider.instead(
          (response, request) => response.status === 401 && /limit=(?:0|101|-1|abc|x)/.test(request.target),
          (request, { keys }) => Requests.withKey(request, keys.main)
        )
      )
    ),
  fault("out.id-first", "An id that is no number gets 404 before 401.")
    .breaks("auth.first")
    .by(
      onPlain(
        Outsider.instead(
          (response, request) => response.status === 401 && /\/pets\/[^/0-9-]+$/.test(request.target),
          (request, { keys }) => Requests.withKey(request, keys.main)
        )
      )
    ),
  fault("out.missing-first", "An unknown id gets 404 before 401.")
    .breaks("auth.first")
    .by(
      onPlain(
        Outsider.instead(
          (response, request, { keys }) =>
            response.status === 401 &&
            Requests.isGet(request) &&
            request.target.length > 12 &&
            !Requests.hasKey(request, keys.revoked),
          (request, { keys }) => Requests.withKey(request, keys.main)
        )
      )
    ),
  fault("out.type-first", "Another content type gets 415 before 401.")
    .breaks("auth.first")
    .by(
      AtHttp.responses(
        {
          to: (request) =>
            Requests.isCreation(request) &&
            !headerValues(request, "content-type").some((value) => value.startsWith("application/json")),
          status: 401
        },
        Edit.error(415, "unsupported_media_type")
      )
    )
]

export const faults: ReadonlyArray<Fault> = [...queries, ...bodies, ...keys]
