/** What every answer of a run must be, whatever it was sent for. */
import * as Result from "effect/Result"
import { catalogue } from "../../core/errors/ErrorCatalogue.ts"
import { maxRetryAfter } from "../../core/limits/RateLimit.ts"
import { Violation } from "../engine/Outcome.ts"
import * as ErrorBody from "../http/ErrorBody.ts"
import type { Exchange } from "../http/Exchange.ts"
import * as KeptResponse from "../http/KeptResponse.ts"
import * as Moment from "../http/Moment.ts"
import * as PetJson from "../http/PetJson.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import { header, headerValues } from "../http/Wire.ts"
import { REMOVAL_BEGINS } from "../subjects/HttpCatalogue.ts"
import type { AmbientCheck, Look } from "./Ambient.ts"

const DAY_MS = 86_400_000

/** How far a Reset may be off the times known of an exchange: clocks of two machines, and rounding. */
const CLOCK_SLACK_MS = 10_000

/** The same when the answer does not tell its own time. */
const DATELESS_SLACK_MS = 120_000

/** Seconds above which a number is none since 1970 but milliseconds: the year 5138. */
const MOST_SECONDS = 100_000_000_000

const rateNames = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const

const violation = (expected: string, actual: string): Violation => new Violation({ expected, actual })

/** A header as it came, for messages. */
const told = ({ response }: Exchange, name: string): string => {
  const values = headerValues(response, name)
  return values.length === 0 ? `${name} is missing` : `${name}: ${values.join(" and ")}`
}

/**
 * Answers that an HTTP implementation gives before the service has a say; the contract knows none of them, so
 * at level `spec` nothing is asked of them.
 */
const byTransport: ReadonlySet<number> = new Set([408, 414, 417, 421, 426, 431, 501, 502, 504, 505])

/** Targets that RFC 3986 knows not: an HTTP implementation may refuse them with 400 by itself. */
const malformedTarget = /%(?![0-9a-f]{2})|[^!-~]/i

const isOfService = ({ request, response }: Exchange): boolean =>
  !byTransport.has(response.status) && (response.status !== 400 || !malformedTarget.test(request.target))

const hasBody = ({ request, response }: Exchange): boolean =>
  request.method !== "HEAD" && response.status >= 200 && response.status !== 204 && response.status !== 304

/** Whether the answer is about the limits of a declared key that was valid. */
const isOfValidKey = ({ key, response }: Exchange): boolean =>
  (key === "main" || key === "tiny" || key === "victim") && response.status !== 401

const isRefusal = ({ response }: Exchange): boolean => response.status === 429 || response.status === 403

/** The earliest and latest moment, epoch ms, at which the answer can have been made, by whichever clock. */
const momentsOf = ({
  receivedAt,
  response,
  sentAt
}: Exchange): readonly [earliest: number, latest: number] => {
  const date = Date.parse(header(response, "date") ?? "")
  return Number.isNaN(date)
    ? [sentAt - DATELESS_SLACK_MS, receivedAt + DATELESS_SLACK_MS]
    : [Math.min(date, sentAt) - CLOCK_SLACK_MS, Math.max(date + 1_000, receivedAt) + CLOCK_SLACK_MS]
}

const iso = ({ sentAt }: Exchange): string => Moment.iso(sentAt)

const spelled = (seconds: number): string =>
  seconds < MOST_SECONDS ? `${seconds} (${Moment.iso(seconds * 1_000)})` : String(seconds)

/** Which operation a request is, if it is made as contract §4 describes it. */
const describedAs = ({ request }: Exchange): "list" | "create" | "get" | undefined => {
  const { body, headers, method, target } = request
  const [path = "", query] = target.split("?", 2)
  const lower = headers.map(([name, value]) => [name.toLowerCase(), value] as const)
  const isPlain =
    lower.filter(([name]) => name === "authorization").length <= 1 &&
    lower.every(
      ([name, value]) =>
        name === "authorization" ||
        (name === "content-type" && value === "application/json" && method === "POST")
    )
  if (!isPlain) return undefined
  if (method === "POST" && path.endsWith("/pets") && query === undefined) {
    const isSent =
      body !== undefined && body.length <= 1_024 && lower.some(([name]) => name === "content-type")
    return isSent ? "create" : undefined
  }
  if (method !== "GET" || body !== undefined) return undefined
  if (path.endsWith("/pets")) {
    const parameter = "(?:limit=(?:[1-9][0-9]?|100)|status=(?:available|pending|sold))"
    const isListed =
      query === undefined ||
      (new RegExp(`^${parameter}(?:&${parameter})?$`).test(query) && !/(\w+)=.*&\1=/.test(query))
    return isListed ? "list" : undefined
  }
  const id = /\/pets\/(-?[0-9]{1,18})$/.exec(path)
  return id === null || query !== undefined ? undefined : "get"
}

/** A law about what `of` reads from an exchange, where it reads anything. */
const about = <A>(
  of: Look<A | undefined>,
  examine: (read: A, exchange: Exchange) => Violation | undefined
): Pick<AmbientCheck, "isAbout" | "examine"> => ({
  isAbout: (...look) => of(...look) !== undefined,
  examine: (...look) => {
    const read = of(...look)
    return read === undefined ? undefined : examine(read, look[0])
  }
})

const isAnswerOfAnyKind = (): boolean => true

/** Whether there is a body to be read. */
const isFilled = (exchange: Exchange): boolean => hasBody(exchange) && exchange.response.body.length > 0

const rateOf = ({ response }: Exchange): RateHeaders.RateHeaders | undefined => RateHeaders.of(response)

const errorOf = (exchange: Exchange): ErrorBody.ErrorBody | undefined =>
  exchange.response.status < 400 || !hasBody(exchange)
    ? undefined
    : Result.getOrUndefined(ErrorBody.of(exchange.response))

/** The rate headers of two answers in a row, with the same limit. */
interface Succession {
  readonly before: RateHeaders.RateHeaders
  readonly after: RateHeaders.RateHeaders
}

const successionOf = (exchange: Exchange, previous: Exchange): Succession | undefined => {
  const before = rateOf(previous)
  const after = rateOf(exchange)
  return before === undefined || after === undefined || before.limit !== after.limit
    ? undefined
    : { before, after }
}

/** Two successes in a row that show the same window. */
const sameWindow: Look<Succession | undefined> = (exchange, previous) => {
  // Keys may share a budget (contract §8), so nothing may lie between the two.
  if (previous === undefined || previous.index !== exchange.index - 1) return undefined
  if (!isOfValidKey(exchange) || exchange.response.status >= 300 || previous.response.status >= 300)
    return undefined
  const succession = successionOf(exchange, previous)
  if (succession === undefined) return undefined
  // Minute and day may have the same limit; their resets are far apart.
  const { after, before } = succession
  const moved = after.resetAt - before.resetAt - (exchange.receivedAt - previous.sentAt) / 1_000
  return Math.abs(moved) > 75 ? undefined : succession
}

/** What the key was answered before, if it is not refused: only a 429 can have led to a ban (contract §8.4.3). */
const isInGoodStanding = (history: ReadonlyArray<Exchange>): boolean => {
  // Of requests at the same time it is unknown which was decided first.
  const latest = history.findLast(
    ({ isAlone, response: { status } }) => status === 429 || (isAlone && status !== 401 && status !== 403)
  )
  return latest?.response.status !== 429
}

const listed = {
  list: [200, 401, 429],
  create: [201, 400, 401, 429],
  get: [200, 401, 404, 429]
} as const satisfies { readonly [operation: string]: ReadonlyArray<number> }

const spec: ReadonlyArray<AmbientCheck> = [
  {
    id: "every.error-body",
    law: "Every answer of 400 or more carries an Error: code and message as text, status as integer.",
    clauses: ["errors.body", "errors.body-types"],
    level: "spec",
    isAbout: (exchange) => exchange.response.status >= 400 && hasBody(exchange) && isOfService(exchange),
    examine: ({ response }) =>
      Result.match(ErrorBody.of(response), {
        onSuccess: () => undefined,
        onFailure: (actual) => violation(`an Error body with ${response.status}`, actual)
      })
  },
  {
    id: "every.error-status",
    law: "The status in an Error body is the HTTP status of the answer.",
    clauses: ["errors.status-matches"],
    level: "spec",
    ...about(errorOf, (body, { response: { status } }) =>
      body.status === status
        ? undefined
        : violation(`status ${status} in the body too`, `status ${body.status} in the body`)
    )
  },
  {
    id: "every.rate-headers",
    law: "Every answer carries X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset, once each.",
    clauses: ["limits.headers-present"],
    level: "spec",
    isAbout: isOfService,
    examine: (exchange) => {
      const wrong = rateNames.find((name) => headerValues(exchange.response, name).length !== 1)
      return wrong === undefined
        ? undefined
        : violation(
            `${wrong} once in every answer`,
            `${exchange.response.status} where ${told(exchange, wrong)}`
          )
    }
  },
  {
    id: "every.rate-integers",
    law: "The three rate headers are decimal integers, none of them negative.",
    clauses: ["limits.header-types"],
    level: "spec",
    isAbout: ({ response }) => rateNames.some((name) => headerValues(response, name).length > 0),
    examine: (exchange) => {
      for (const name of rateNames) {
        const wrong = headerValues(exchange.response, name).find((value) => !/^[0-9]+$/.test(value))
        if (wrong !== undefined) return violation(`${name} to be a decimal integer`, JSON.stringify(wrong))
      }
      return undefined
    }
  },
  {
    id: "every.remaining-within",
    law: "X-RateLimit-Remaining is at most X-RateLimit-Limit.",
    clauses: ["limits.remaining-within"],
    level: "spec",
    ...about(rateOf, ({ limit, remaining }) =>
      remaining <= limit
        ? undefined
        : violation(`at most ${limit} remaining, the limit`, `${remaining} remaining`)
    )
  },
  {
    id: "every.remaining-falls-by-one",
    law: "From one success to the next of the same key and window no more than one request is gone.",
    clauses: ["limits.remaining-truth"],
    level: "spec",
    ...about(sameWindow, ({ after, before }) =>
      after.remaining >= before.remaining - 1
        ? undefined
        : violation(
            `at least ${before.remaining - 1} remaining after one more request`,
            `${after.remaining} remaining, ${before.remaining} before`
          )
    )
  },
  {
    id: "every.reset-unix-seconds",
    law: "X-RateLimit-Reset is a Unix time in seconds.",
    clauses: ["limits.reset-unix-seconds"],
    level: "spec",
    ...about(rateOf, (rate, exchange) => {
      if (rate.resetAt >= MOST_SECONDS) {
        return violation("X-RateLimit-Reset in seconds since 1970", `${rate.resetAt}, as if in milliseconds`)
      }
      // Years before now: a number of seconds to wait. Callers without a key may have no window at all.
      return isOfValidKey(exchange) && rate.resetAt * 1_000 < exchange.sentAt / 2
        ? violation("X-RateLimit-Reset in seconds since 1970", `${rate.resetAt}, as if in seconds from now`)
        : undefined
    })
  },
  {
    id: "every.reset-ahead",
    law: "For a valid key that is not refused X-RateLimit-Reset is at most a day ahead.",
    clauses: ["limits.reset-ahead"],
    level: "spec",
    ...about(
      (exchange) => (isOfValidKey(exchange) && !isRefusal(exchange) ? rateOf(exchange) : undefined),
      ({ resetAt }, exchange) => {
        const [, latest] = momentsOf(exchange)
        return resetAt * 1_000 <= latest + DAY_MS
          ? undefined
          : violation("X-RateLimit-Reset at most a day ahead", `${spelled(resetAt)} at ${iso(exchange)}`)
      }
    )
  },
  {
    id: "every.reset-not-past",
    law: "For a valid key X-RateLimit-Reset is not in the past.",
    clauses: ["limits.reset-not-past"],
    level: "spec",
    ...about(
      (exchange) => (isOfValidKey(exchange) ? rateOf(exchange) : undefined),
      ({ resetAt }, exchange) => {
        const [earliest] = momentsOf(exchange)
        return resetAt * 1_000 >= earliest
          ? undefined
          : violation("X-RateLimit-Reset now or later", `${spelled(resetAt)} at ${iso(exchange)}`)
      }
    )
  },
  {
    id: "every.retry-after",
    profile: "limits",
    law: "Every 429 carries Retry-After once, as a whole number of seconds or an HTTP date.",
    clauses: ["limits.retry-after-present"],
    level: "spec",
    isAbout: ({ response }) => response.status === 429,
    examine: (exchange) =>
      RateHeaders.retryAfterSeconds(exchange.response, exchange.receivedAt) !== undefined
        ? undefined
        : violation("Retry-After with a 429: whole seconds or a date", told(exchange, "Retry-After"))
  },
  {
    id: "every.no-5xx",
    law: "A request that the contract describes is not answered with 5xx.",
    clauses: ["errors.no-5xx"],
    level: "spec",
    isAbout: (exchange) => describedAs(exchange) !== undefined,
    examine: ({ response: { status } }) =>
      status < 500 ? undefined : violation("no 5xx to a request that the contract describes", String(status))
  },
  {
    id: "every.listed-status",
    law: "A request that the contract describes gets a status that it lists for the operation.",
    clauses: ["errors.listed-statuses"],
    level: "spec",
    ...about(
      (exchange, _previous, history) => {
        const operation = describedAs(exchange)
        const { status } = exchange.response
        if (operation === undefined || status >= 500 || !isOfService(exchange)) return undefined
        if (operation === "get" && momentsOf(exchange)[1] >= REMOVAL_BEGINS) return undefined
        // How a banned key is answered is open (contract §8.4.3), and only a 429 can have led to a ban.
        if (status === 403 && history.some(({ response }) => response.status === 429)) return undefined
        return operation
      },
      (operation, { response: { status } }) => {
        const allowed: ReadonlyArray<number> = listed[operation]
        return allowed.includes(status)
          ? undefined
          : violation(`one of ${allowed.join(", ")}`, String(status))
      }
    )
  },
  {
    id: "every.valid-key-accepted",
    law: "No operation answers 401 to a valid key that no 429 came before.",
    clauses: ["auth.bearer"],
    level: "spec",
    isAbout: (exchange, _previous, history) =>
      (exchange.key === "main" || exchange.key === "tiny" || exchange.key === "victim") &&
      describedAs(exchange) !== undefined &&
      isInGoodStanding(history),
    examine: ({ key, response: { status } }) =>
      status === 401 ? violation(`the ${key} key to be accepted`, "401") : undefined
  },
  {
    id: "every.json-body",
    law: "Every body is JSON.",
    clauses: ["http.json-bodies"],
    level: "spec",
    isAbout: (exchange) => isFilled(exchange) && isOfService(exchange),
    examine: ({ response }) =>
      Result.match(KeptResponse.jsonOf(response), {
        onSuccess: () => undefined,
        onFailure: (actual) => violation("a JSON body", actual)
      })
  },
  {
    id: "every.json-type",
    law: "A Content-Type that is told with a body is one of JSON.",
    clauses: ["http.json-bodies"],
    level: "spec",
    // A body whose type is not told is within the law: the contract asks for no Content-Type.
    isAbout: (exchange) => isFilled(exchange) && isOfService(exchange),
    examine: ({ response }) => {
      const wrong = headerValues(response, "content-type").find(
        (value) => !/^\s*(?:application|text)\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(value)
      )
      return wrong === undefined ? undefined : violation("a Content-Type of JSON", JSON.stringify(wrong))
    }
  }
]

/** What the catalogue calls each code's status. */
const statusOf: ReadonlyMap<string, number> = new Map(
  Object.entries(catalogue).map(([code, { status }]) => [code, status])
)

/** Longest message that repeats no input. */
const LONGEST_MESSAGE = 400

/** Shortest credential that a message could repeat by more than chance. */
const SHORTEST_SECRET = 8

/** Statuses that tell when to come again. */
const isOfWaiting = (status: number): boolean => status === 429 || status === 503

/** Two answers in a row of a valid key, with the service's own time from the one to the other. */
const dated: Look<(Succession & { readonly ms: number }) | undefined> = (exchange, previous) => {
  // What a law sends with other credentials may count for the same key.
  if (previous === undefined || previous.index !== exchange.index - 1) return undefined
  if (!isOfValidKey(exchange) || !isOfValidKey(previous)) return undefined
  if (byTransport.has(exchange.response.status) || byTransport.has(previous.response.status)) return undefined
  // During a ban Remaining tells nothing of the window, and a 400 may come from before a key was read.
  const isSilent = ({ response: { status } }: Exchange) => status === 429 || status === 400
  if (isSilent(exchange) || isSilent(previous)) return undefined
  const succession = successionOf(exchange, previous)
  // By the service's own time, to the second.
  const from = Date.parse(header(previous.response, "date") ?? "")
  const to = Date.parse(header(exchange.response, "date") ?? "") + 1_000
  if (succession === undefined || Number.isNaN(from) || Number.isNaN(to)) return undefined
  return Math.floor(from / DAY_MS) === Math.floor(to / DAY_MS) ? { ...succession, ms: to - from } : undefined
}

const design: ReadonlyArray<AmbientCheck> = [
  {
    id: "every.content-type",
    law: "Every answer with a body says Content-Type: application/json; charset=utf-8.",
    clauses: ["http.content-type"],
    level: "design",
    isAbout: isFilled,
    examine: (exchange) =>
      header(exchange.response, "content-type") === "application/json; charset=utf-8"
        ? undefined
        : violation("Content-Type: application/json; charset=utf-8", told(exchange, "Content-Type"))
  },
  {
    id: "every.exact-error",
    law: "An Error body has code, message and status and nothing else.",
    clauses: ["errors.exact-body"],
    level: "design",
    isAbout: (exchange) => exchange.response.status >= 400 && hasBody(exchange),
    examine: (exchange) => {
      const members = errorOf(exchange)?.members.toSorted().join(", ")
      return members === "code, message, status"
        ? undefined
        : violation("an Error with code, message and status alone", members ?? "no Error")
    }
  },
  {
    id: "every.code",
    law: "Every code is one of the closed set, with the status that belongs to it.",
    clauses: ["errors.codes", "limits.exceeded-code"],
    level: "design",
    ...about(errorOf, ({ code }, { response: { status } }) =>
      statusOf.get(code) === status
        ? undefined
        : violation(`a code of the catalogue for ${status}`, `${PetJson.excerpt(code)} with ${status}`)
    )
  },
  {
    id: "every.no-echo",
    law: "No message repeats the credential of its request, or anything long.",
    clauses: ["errors.no-echo"],
    level: "design",
    ...about(errorOf, ({ message, messageLength }, exchange) => {
      const tokens = headerValues(exchange.request, "authorization").flatMap((value) => value.split(/\s+/))
      if (tokens.some((token) => token.length >= SHORTEST_SECRET && message.includes(token))) {
        return violation(
          "a message that repeats no credential",
          "the credential of the request in the message"
        )
      }
      return messageLength <= LONGEST_MESSAGE
        ? undefined
        : violation(`a message of at most ${LONGEST_MESSAGE} characters`, `one of ${messageLength}`)
    })
  },
  {
    id: "every.retry-after-seconds",
    profile: "limits",
    law: `Retry-After comes with 429 and 503 alone, as whole seconds from 1 to ${maxRetryAfter}.`,
    clauses: ["limits.retry-after-seconds"],
    level: "design",
    isAbout: ({ response }) =>
      isOfWaiting(response.status) || headerValues(response, "retry-after").length > 0,
    examine: (exchange) => {
      const { response } = exchange
      const values = headerValues(response, "retry-after")
      if (!isOfWaiting(response.status)) {
        return violation(`no Retry-After with ${response.status}`, values.join(", "))
      }
      const isWhole = values.length === 1 && /^[1-9][0-9]{0,6}$/.test(values[0] ?? "")
      return isWhole && Number(values[0]) <= maxRetryAfter
        ? undefined
        : violation(`Retry-After in whole seconds from 1 to ${maxRetryAfter}`, told(exchange, "Retry-After"))
    }
  },
  {
    id: "every.refused-remaining",
    profile: "limits",
    law: "Every 429 shows X-RateLimit-Remaining 0.",
    clauses: ["limits.window-shown-denied"],
    level: "design",
    ...about(
      (exchange) => (exchange.response.status === 429 ? rateOf(exchange) : undefined),
      ({ remaining }) =>
        remaining === 0 ? undefined : violation("X-RateLimit-Remaining 0 with 429", String(remaining))
    )
  },
  {
    id: "every.remaining-arithmetic",
    law: "From one answer to the next a request is gone, and time has given back no more than it can.",
    clauses: ["limits.every-request-costs", "limits.bucket-refill", "limits.remaining-floor"],
    level: "design",
    ...about(dated, ({ after, before, ms }) => {
      const most = before.remaining - 1 + Math.ceil((ms * before.limit) / 60_000)
      const least = Math.max(before.remaining - 1, 0)
      return after.remaining >= least && after.remaining <= Math.max(most, 0)
        ? undefined
        : violation(
            `from ${least} to ${Math.max(most, 0)} remaining, after ${before.remaining}`,
            `${after.remaining} remaining`
          )
    })
  },
  {
    id: "every.no-5xx-anywhere",
    law: "No request, however wrong, is answered with 5xx.",
    clauses: ["errors.no-5xx-anywhere"],
    level: "design",
    isAbout: isAnswerOfAnyKind,
    examine: ({ response }) =>
      response.status < 500 ? undefined : violation("no 5xx to any request", String(response.status))
  },
  {
    id: "every.standard-headers",
    law: "Every answer has Date, Cache-Control: no-store, X-Content-Type-Options: nosniff and X-Request-Id.",
    clauses: ["http.standard-headers"],
    level: "design",
    isAbout: isAnswerOfAnyKind,
    examine: (exchange) => {
      const { response } = exchange
      if (header(response, "cache-control") !== "no-store") {
        return violation("Cache-Control: no-store", told(exchange, "Cache-Control"))
      }
      if (header(response, "x-content-type-options") !== "nosniff") {
        return violation("X-Content-Type-Options: nosniff", told(exchange, "X-Content-Type-Options"))
      }
      const missing = ["Date", "X-Request-Id"].find((name) => (header(response, name) ?? "") === "")
      return missing === undefined ? undefined : violation(`${missing} once`, told(exchange, missing))
    }
  },
  {
    id: "every.date",
    law: "Date is the service's time, in the form of RFC 9110.",
    clauses: ["http.date"],
    level: "design",
    ...about(
      ({ response }) => header(response, "date"),
      (value, exchange) => {
        const date = Date.parse(value)
        if (Number.isNaN(date) || new Date(date).toUTCString() !== value) {
          return violation("Date as an IMF-fixdate", JSON.stringify(value))
        }
        const isNow =
          date >= exchange.sentAt - DATELESS_SLACK_MS && date <= exchange.receivedAt + DATELESS_SLACK_MS
        return isNow ? undefined : violation(`a Date near ${iso(exchange)}, the service's time`, value)
      }
    )
  },
  {
    id: "every.request-id",
    law: "No two answers in a row have the same X-Request-Id.",
    clauses: ["http.request-id"],
    level: "design",
    ...about(
      ({ response }, _previous, history) => {
        const id = header(response, "x-request-id")
        const latest = history.at(-1)
        return id === undefined || latest === undefined
          ? undefined
          : { id, before: header(latest.response, "x-request-id") }
      },
      ({ before, id }) =>
        before === id ? violation("an X-Request-Id of its own", "that of the answer before") : undefined
    )
  },
  {
    id: "every.no-cors",
    law: "No answer carries CORS headers.",
    clauses: ["http.no-cors"],
    level: "design",
    isAbout: isAnswerOfAnyKind,
    examine: ({ response }) => {
      const found = response.headers.find(([name]) => name.toLowerCase().startsWith("access-control-"))
      return found === undefined ? undefined : violation("no CORS headers", `${found[0]}: ${found[1]}`)
    }
  },
  {
    id: "every.no-redirect",
    law: "No answer is a redirect.",
    clauses: ["http.no-redirects"],
    level: "design",
    isAbout: isAnswerOfAnyKind,
    examine: ({ response }) =>
      response.status < 300 || response.status >= 400
        ? undefined
        : violation("no redirect", String(response.status))
  }
]

export const checks: ReadonlyArray<AmbientCheck> = [...spec, ...design]
