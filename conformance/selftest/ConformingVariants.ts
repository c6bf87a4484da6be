/** Defines the conforming variants: correct servers that differ from ours. The suite must accept each at its level. */
import type { Level } from "../clauses/Clause.ts"
import type { Transport } from "../http/Wire.ts"
import * as ForeignCursors from "./ForeignCursors.ts"
import { type Choices, statuses } from "./plain/Choices.ts"

interface Named {
  /** The unique id, such as `ids.negative`. */
  readonly id: string
  /** The difference from our server, and why the contract allows it. */
  readonly differs: string
}

/** A server that shares no code with the core. */
export interface PlainVariant extends Named {
  /** The choices that differ from the defaults, on points that the contract leaves open. */
  readonly choices: Partial<Choices>
}

/** The core's service behind a transport that changes only points which even level `design` leaves open. */
export interface DisguisedVariant extends Named {
  readonly disguise: (transport: Transport) => Transport
  /** The number of animals in the store at startup. */
  readonly animals: number
}

export type ConformingVariant = PlainVariant | DisguisedVariant

/** Returns the level at which a variant must pass. */
export const levelOf = (variant: ConformingVariant): Level => ("disguise" in variant ? "design" : "spec")

const vary = (id: string, differs: string, choices: Partial<Choices>): PlainVariant => ({
  id,
  differs,
  choices
})

export const plain: ReadonlyArray<PlainVariant> = [
  vary("plain", "A plain server with default choices, which shares no code with ours.", {}),

  // Animals
  vary("ids.in-steps", "Ids are multiples of 1000: §2 requires only that they are unique.", {
    ids: "in steps"
  }),
  vary("ids.random", "Ids are random: §2 does not require increasing ids.", { ids: "random" }),
  vary("ids.random-of-any-sign", "Ids are random, half of them negative: §2 requires only an int64.", {
    ids: "random of any sign"
  }),
  vary("ids.negative", "Ids count down from -1: §2 requires only an int64.", { ids: "negative" }),
  vary("ids.beyond-doubles", "Ids start above 2^53: §2 requires only an int64.", { ids: "from 2^53 up" }),
  vary("ids.from-the-top", "Ids count down from 2^63-1, the largest int64: §2 requires only an int64.", {
    ids: "from 2^63-1 down"
  }),
  vary("order.newest-first", "Lists begin with the newest animal: §4.1 states no order.", {
    order: "newest first"
  }),
  vary("order.by-name", "Lists are sorted by name: §4.1 states no order.", { order: "by name" }),
  vary("order.by-hash", "Lists are in the order of a hash table: §4.1 states no order.", {
    order: "by hash"
  }),
  vary("order.shuffled", "Each list is a new random selection: §4.1 limits only the number of animals.", {
    order: "shuffled"
  }),
  vary("status.pending-by-default", "The default status is pending: §2 does not state it.", {
    defaultStatus: "pending"
  }),
  vary("status.absent-by-default", "A status that was not sent stays absent: §2 does not require one.", {
    defaultStatus: "absent"
  }),
  vary("status.null-is-absent", "A null status is treated as absent: the contract does not mention null.", {
    nullStatus: "as absent",
    defaultStatus: "sold"
  }),
  vary("names.narrow", "Names are 1 to 64 ASCII characters: §2 does not show the constraints.", {
    names: { minimum: 1, maximum: 64, onlyAscii: true }
  }),
  vary("names.decomposed", "Names are stored in Unicode NFD, an equivalent form: §2 states no form.", {
    nameForm: "NFD"
  }),
  vary("names.compatible", "Names are stored in Unicode NFKC, like many identifiers: §2 states no form.", {
    nameForm: "NFKC"
  }),
  vary("integers.digits-only", "1.0 and 1e3 get 400: §2 does not state how to write an integer.", {
    integers: "digits only"
  }),
  vary("bodies.strict", "A body with unknown fields or an id gets 400: §2 does not mention them.", {
    unknownFields: 400,
    sentId: 400
  }),
  vary("bodies.no-id", "A body with an id gets 400: the service assigns the id (§2).", { sentId: 400 }),
  vary("bodies.one-type-and-small", "Another content type gets 415, and a body above 4 KiB gets 413.", {
    contentTypes: 415,
    largestBody: 4096
  }),
  vary("pets.extra-fields", "A Pet has additional fields: §2 does not forbid them.", {
    petExtras: { createdAt: "2026-01-01T00:00:00Z", version: 1n, weight: 4.5 }
  }),

  // Stores
  vary(
    "store.used",
    "The store already holds animals, some with names that the suite uses: §2 allows equal names.",
    {
      earlier: ["a", "abc", "sold", "Rex", "a".repeat(300), ""].flatMap((name, index) =>
        statuses.map((status) => ({ name, categoryId: BigInt(index), status }))
      )
    }
  ),
  vary(
    "store.used-and-shuffled",
    "Lists are random selections from a store with earlier animals: §4.1 states no order.",
    {
      earlier: Array.from({ length: 5 }, () => ["a", "abc"])
        .flat()
        .flatMap((name) => statuses.map((status) => ({ name, categoryId: -1n, status }))),
      order: "shuffled"
    }
  ),
  vary(
    "keys.own-catalogue",
    "A key gets only animals that it created, and 404 for others: §4 does not state whose it shows.",
    {
      catalogues: "one per key"
    }
  ),

  // Parameters, pages and paths
  vary("limit.clamped", "A limit out of range is clamped: §4.1 lists no 400.", { badLimit: "clamped" }),
  vary("parameters.422", "A list with an invalid parameter gets 422: §7 states 400 only for bodies.", {
    badLimit: 422,
    unknownStatus: 422
  }),
  vary("parameters.strict", "A request with unknown parameters gets 400: §4.1 does not mention them.", {
    unknownParameters: 400
  }),
  vary("filter.unknown-matches-nothing", "An unknown status matches no animal: §4.1 states no error.", {
    unknownStatus: "matches nothing"
  }),
  vary("pages.linked", "A full page links to the next one, with an offset: §4.1 shows no paging.", {
    paging: "link"
  }),
  vary("paths.pet-id-400", "A petId that is not an int64 gets 400: §4.3 states 404 only for unknown ids.", {
    badPetId: 400
  }),
  vary("paths.tolerant", "A trailing slash is ignored: §4 does not forbid it.", {
    trailingSlash: "tolerated"
  }),
  vary("methods.few", "HEAD and OPTIONS get 405, other methods 404: §4 defines only its own methods.", {
    head: 405,
    options: 405,
    otherMethods: 404
  }),

  // Removal of getPet
  vary("removal.410-announced", "getPet announces its end and then returns 410: §4.3 states only the day.", {
    removed: 410,
    deprecationHeaders: true
  }),
  vary("removal.at-first-dawn", "getPet ends when 5 December 2030 begins in UTC+14: §4.3 names no zone.", {
    removedAt: "2030-12-05T00:00:00+14:00"
  }),
  vary("removal.at-last-dusk", "getPet ends when 5 December 2030 ends in UTC-12: §4.3 names no zone.", {
    removedAt: "2030-12-05T23:59:59-12:00"
  }),

  // Keys
  vary("keys.exact-scheme", "The scheme is case-sensitive, and a 401 has no challenge: §5 allows both.", {
    scheme: "exact",
    challenge: false
  }),
  vary("keys.unknown-path-first", "An unknown path gets 404 without a key: §5.2 covers only operations.", {
    unknownPathWithoutKey: 404
  }),
  vary("keys.anonymous-not-counted", "Callers without a key have no limit: §8.2 has no plan for them.", {
    anonymous: "not counted"
  }),
  vary("keys.anonymous-zeros", "Requests without a key get 401 with zeros in the rate headers (§8.3).", {
    anonymous: "zeros"
  }),
  vary("keys.one-account", "Keys with equal limits share a budget: §8.4 does not state what is counted.", {
    counted: "per account"
  }),

  // Windows
  vary("windows.bucket", "The minute is a token bucket; Reset is when it is full: §8.2 names no algorithm.", {
    minute: "token bucket",
    reset: "all left again"
  }),
  vary("windows.bucket-next", "The minute is a token bucket; Reset is when the next token is added.", {
    minute: "token bucket",
    reset: "one more left"
  }),
  vary("windows.bucket-minute-ahead", "The minute is a token bucket; Reset is always a minute ahead.", {
    minute: "token bucket",
    reset: "window end"
  }),
  vary("windows.first-use", "Each window begins with its first request: §8.2 does not mention the clock.", {
    minute: "window from first use",
    day: "window from first use"
  }),
  vary("windows.log", "Limits apply to the last 60 seconds and 24 hours: §8.2 names no algorithm.", {
    minute: "sliding log",
    day: "sliding log",
    reset: "all left again"
  }),
  vary("windows.log-next", "The minute is a sliding log; Reset is when its oldest request expires (§8.3).", {
    minute: "sliding log",
    reset: "one more left"
  }),
  vary("windows.log-counts-denials", "Denied requests are also counted: §8.2 does not exclude them.", {
    minute: "sliding log",
    day: "sliding log",
    denialsCost: true
  }),
  vary("windows.day-of-kiribati", "The day begins 14 hours east of UTC: §8.2 names no time zone.", {
    dayZone: 14 * 60
  }),
  vary("windows.day-of-california", "The day begins 8 hours west of UTC: §8.2 names no time zone.", {
    dayZone: -8 * 60
  }),
  vary("windows.rolling-day", "The day is the last 24 hours: §8.2 does not require a calendar day.", {
    day: "sliding log"
  }),
  vary("windows.errors-free", "Requests that get 4xx are not counted: §8.2 does not state what counts.", {
    errorsCost: false
  }),
  vary("windows.minute-shown", "The headers always show the minute: §8.3 does not choose the window.", {
    shown: "minute"
  }),
  vary("windows.day-shown", "The headers always show the day: §8.3 does not choose the window.", {
    shown: "day"
  }),

  // Denials
  vary("retry.date", "Retry-After is an HTTP-date (RFC 9110): §8.4 does not state its unit.", {
    retryAfter: "date"
  }),
  vary("retry.with-slack", "Retry-After is seven seconds longer than needed: §8.4 allows a longer wait.", {
    slack: 7
  }),
  vary("ban.429", "Ten early retries ban the key for ten minutes, with 429 (§8.4.3).", {
    ban: { after: 10, seconds: 600, status: 429 }
  }),
  vary("ban.403", "Three early retries ban the key, with 403 for requests within the limits (§8.4.3).", {
    ban: { after: 3, seconds: 90, status: 403 }
  }),
  vary("ban.first-and-short", "One early retry bans the key for 20 seconds: §8.4.3 states no number.", {
    minute: "token bucket",
    ban: { after: 1, seconds: 20, status: 403 }
  }),
  vary("ban.silent", "During a ban of an hour, a 403 has no Retry-After: §8.4.2 requires it only with 429.", {
    ban: { after: 5, seconds: 3_600, status: 403, isSilent: true }
  }),

  // JSON and headers
  vary("errors.german", "Errors are in German, with upper-case codes and more fields: §7 allows that.", {
    language: "de",
    codes: "UPPER",
    errorExtras: { type: "about:blank", trace: "4f1c" }
  }),
  vary(
    "errors.numbered-problems",
    "Errors are problem+json (RFC 9457) with numbered codes: §7 requires only JSON.",
    {
      codes: "numbered",
      errorContentType: "application/problem+json",
      errorExtras: { title: "No." }
    }
  ),
  vary("json.other-encoding", "JSON has white space, reversed fields and escapes: RFC 8259 allows them.", {
    json: { space: "\r\n\t ", reversed: true, escaped: true }
  }),
  vary("headers.charset", "Content types have parameters and capitals: RFC 9110 treats them as equal.", {
    contentType: "Application/JSON; charset=UTF-8",
    errorContentType: "application/json;charset=utf-8"
  }),
  vary("headers.lower-without-date", "Header names are in lower case, and there is no Date.", {
    headerNames: "lower",
    date: false
  }),
  vary(
    "headers.date-of-machine",
    "Date is the machine's time, even when tests move the service's clock: §8.3 does not mention Date.",
    {
      date: "of the machine"
    }
  ),
  vary(
    "headers.date-of-machine-retry",
    "Date is the machine's time, and Retry-After is a date by the service's clock.",
    {
      date: "of the machine",
      retryAfter: "date",
      minute: "token bucket",
      ban: { after: 10, seconds: 600, status: 429 }
    }
  ),
  vary("headers.upper", "Header names are in upper case: RFC 9110 ignores their case.", {
    headerNames: "UPPER"
  }),

  // Mixed
  vary("mixed.strict", "Rejects everything that §2 and §4 do not mention, and sends no optional header.", {
    defaultStatus: "absent",
    names: { minimum: 1, maximum: 64, onlyAscii: true },
    integers: "digits only",
    unknownFields: 400,
    sentId: 400,
    contentTypes: 415,
    largestBody: 4096,
    unknownParameters: 400,
    badPetId: 400,
    scheme: "exact",
    challenge: false,
    head: 405,
    options: 405,
    date: false,
    headerNames: "lower",
    minute: "sliding log",
    day: "sliding log",
    denialsCost: true,
    ban: { after: 3, seconds: 90, status: 403 }
  }),
  vary("mixed.lenient", "Accepts everything that it can interpret, and counts only successes.", {
    ids: "random",
    order: "newest first",
    nullStatus: "as absent",
    badLimit: "clamped",
    unknownStatus: "matches nothing",
    paging: "link",
    removed: 410,
    deprecationHeaders: true,
    trailingSlash: "tolerated",
    minute: "token bucket",
    reset: "all left again",
    errorsCost: false,
    anonymous: "not counted",
    petExtras: { createdAt: "2026-01-01T00:00:00Z" },
    errorExtras: { help: "https://example.com/help" }
  }),
  vary("mixed.all-different", "Differs in ids, order, windows, dates, errors and more at once.", {
    ids: "from 2^63-1 down",
    order: "shuffled",
    defaultStatus: "pending",
    badLimit: 422,
    removedAt: "2030-12-05T23:59:59-12:00",
    unknownPathWithoutKey: 404,
    minute: "window from first use",
    day: "window from first use",
    shown: "minute",
    retryAfter: "date",
    slack: 2,
    ban: { after: 5, seconds: 120, status: 429 },
    codes: "numbered",
    language: "de",
    json: { space: " ", reversed: true, escaped: true },
    headerNames: "UPPER"
  }),
  vary("mixed.gateway", "Has one budget for all keys, zeros without a key, and problem+json errors.", {
    ids: "random of any sign",
    order: "by hash",
    counted: "per account",
    minute: "token bucket",
    reset: "one more left",
    dayZone: 330,
    anonymous: "zeros",
    shown: "minute",
    slack: 1,
    contentTypes: 415,
    otherMethods: 404,
    errorContentType: "application/problem+json",
    contentType: "application/json; charset=utf-8"
  })
]

const disguised: ReadonlyArray<DisguisedVariant> = [
  {
    id: "pages.foreign-cursors",
    differs:
      "Cursors contain +, /, =, % and spaces, in a store of 400 animals (level design): cursors are opaque.",
    disguise: ForeignCursors.disguise,
    animals: 400
  }
]

export const conformingVariants: ReadonlyArray<ConformingVariant> = [...plain, ...disguised]
