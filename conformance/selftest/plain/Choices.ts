/** Lists the points that the contract leaves open, and the choices of a plain server; every combination is correct. */

/** An algorithm that counts requests, implemented in `Windows`. */
export type Algorithm = "token bucket" | "clock window" | "window from first use" | "sliding log"

export type Status = (typeof statuses)[number]
export const statuses = ["available", "pending", "sold"] as const

/** The members of a JSON object, by name. */
export type Fields = Readonly<Record<string, string | number | bigint>>

/** An animal in the store before the first request. */
export interface EarlierPet {
  readonly name: string
  readonly categoryId: bigint
  readonly status: Status
}

/** §8.4.3: bans a key for `seconds` once it was denied `after` times before the `Retry-After` of the previous denial. */
export type Ban =
  | "never"
  | {
      readonly after: number
      readonly seconds: number
      readonly status: 403 | 429
      /** Whether a 403 has no `Retry-After`, which §8.4.2 requires only of a 429. */
      readonly isSilent?: boolean
    }

interface JsonForm {
  readonly space: string
  readonly reversed: boolean
  /** Whether all characters outside ASCII are escaped. */
  readonly escaped: boolean
}

const many = (names: ReadonlyArray<string>, copies: number): ReadonlyArray<EarlierPet> =>
  Array.from({ length: copies }, () => names)
    .flat()
    .flatMap((name, index) => statuses.map((status) => ({ name, categoryId: BigInt(index), status })))

/** The values of a choice whose type has more values than these. */
const of = <A>(...all: readonly [A, ...ReadonlyArray<A>]): readonly [A, ...ReadonlyArray<A>] => all

/** The points that the contract leaves open, and their values; the first is that of an ordinary server. */
export const values = {
  /** The animals in the store before the first request, in each catalogue. */
  earlier: of<ReadonlyArray<EarlierPet>>(
    [],
    many(["a", "abc", "sold", "Rex", "a".repeat(300), ""], 1),
    many(["Rex", "abc"], 25)
  ),
  /** §4.1 does not specify whether a list contains the animals of all keys, or only those of the request's key. */
  catalogues: ["shared", "one per key"],
  /** §2 requires only that `id` is unique: the rule for new ids. */
  ids: [
    "consecutive",
    "in steps",
    "random",
    "random of any sign",
    "negative",
    "from 2^53 up",
    "from 2^63-1 down"
  ],
  /** §4.1 states no order of a list; a shuffled list has another order for each request. */
  order: ["ascending", "newest first", "by name", "by hash", "shuffled"],
  /** §2: the status of an animal that was created without one. */
  defaultStatus: ["available", "pending", "sold", "absent"],
  /** §2 does not mention `null`: reject it, or treat it as an absent status. */
  nullStatus: [400, "as absent"],
  /** §2 does not show the constraints on `name`; a name that does not match gets 400. */
  names: of<RegExp>(/^/, /^[ -~]{1,64}$/, /^[^\p{Cc}\p{Cs}]{1,255}$/u, /^[a-z]{1,16}$/i),
  /** §2: the form in which a name is stored: trimmed, or a Unicode normalization form. */
  nameForm: ["as sent", "trimmed", "NFC", "NFD", "NFKC"],
  /** §2: whether `1.0` and `1e3` are accepted as integers, or only digits. */
  integers: ["by value", "digits only"],
  /** §4.2: the handling of unknown fields of a new animal. */
  unknownFields: ["ignored", 400],
  /** §4.2: the handling of an `id` that the client sends. */
  sentId: ["ignored", 400],
  /** RFC 8259 §4: the handling of a body with two members of one name. */
  repeatedFields: ["last", 400],
  /** RFC 8259 §8.1: the handling of a byte order mark. */
  byteOrderMark: ["skipped", 400],
  /** §4.2 names one content type: whether a creation with another one, or even with a parameter, gets 415. */
  contentTypes: ["any", 415, "exactly JSON"],
  /** RFC 9110: the handling of a body in chunks, and of one with a Content-Encoding. */
  chunks: ["accepted", 411],
  contentEncoding: ["ignored", 415],
  /** The maximum size of a body in bytes; a larger body gets 413. */
  largestBody: of<number>(Number.POSITIVE_INFINITY, 4096, 1024),
  /** §4.1: the handling of a `limit` outside 1 to 100; `clamped` moves it into the range. A clamped non-integer becomes 20. */
  badLimit: [400, 422, "clamped", "clamped from above", "clamped if 32 bits"],
  /** §8.1: the largest limit; only faulty servers change it. */
  largestLimit: of<number>(100),
  /** §4.1: how an integer is written: without leading zeros, or as `parseInt` reads it. */
  limitForm: ["digits", "shortest", "as parseInt"],
  /** §4.1: which of several equal parameters counts. */
  repeatedParameters: ["first", "last", 400],
  /** §4.1: whether `?limit=` and `?status=` are like no parameter. */
  emptyParameters: ["invalid", "absent"],
  /** §4.1: whether the filter `SOLD` is like `sold`. */
  statusCase: ["exact", "any"],
  /** §4.1: the handling of a status filter that is not a PetStatus. */
  unknownStatus: [400, 422, "matches nothing"],
  /** §4.1: the handling of unknown query parameters. */
  unknownParameters: ["ignored", 400],
  /** §4.1: whether a full page links to the next one. */
  paging: ["none", "link"],
  /** §3 shows no transitions: whether a pending animal is sold after a day. */
  transitions: ["none", "sold after a day"],
  /** §4.3: the status for a `petId` that is not an int64. */
  badPetId: [404, 400],
  /** §4.3: whether an id is percent-decoded, and whether leading zeros are accepted. */
  petIdForm: ["digits", "shortest", "decoded"],
  /** §4.3: the time of the removal (ISO 8601); legal while it is 5 December 2030 somewhere on earth. */
  removedAt: of<string>("2030-12-05T00:00:00Z", "2030-12-05T00:00:00+14:00", "2030-12-05T23:59:59-12:00"),
  /** §4.3: the status after the removal. */
  removed: [404, 410],
  /** Whether responses of getPet have the headers `Deprecation` (RFC 9745) and `Sunset` (RFC 8594). */
  deprecationHeaders: [false, true],
  /** §4.4: the status of an unknown path without a valid key. */
  unknownPathWithoutKey: [401, 404],
  /** §5: whether `bearer` is accepted like `Bearer`. */
  scheme: ["any case", "exact"],
  /** Whether a 401 has the header `WWW-Authenticate` (RFC 9110). */
  challenge: [true, false],
  /** §4 does not mention HEAD: handle it as GET, or return 405. */
  head: ["as GET", 404, 405],
  /** §4 does not mention OPTIONS: return 204 with `Allow`, or 405. */
  options: [204, 405],
  /** §4: the status of any other method on a known path. */
  otherMethods: [405, 404, 501],
  /** §4: the handling of a known path with a trailing slash. */
  trailingSlash: [404, 308, "tolerated"],
  /** §8.2: how "per minute" is counted. */
  minute: ["clock window", "token bucket", "window from first use", "sliding log"],
  /** §8.2: how "per day" is counted. */
  day: ["clock window", "window from first use", "sliding log"],
  /** The offset from UTC, in minutes to the east, of the time zone whose midnight begins the day. */
  dayZone: of<number>(0, 14 * 60, -8 * 60, 330),
  /** §8.4: what limits are counted for. In this server, all keys with the same limits belong to one account. */
  counted: ["per key", "per account"],
  /** §8.2: whether an admitted request that gets 4xx is counted; it must be, so only faulty servers change this. */
  errorsCost: of<boolean>(true),
  /** §8.2: whether requests count that §4 does not describe: with another method, or to an unknown path. */
  undescribed: ["counted", "free"],
  /** §8.2: whether a denied request is also counted, so that it delays the next admission. */
  denialsCost: [false, true],
  /** §8.3: callers without a key are counted with the limits of Free, are only shown these limits, or see zeros. */
  anonymous: ["counted", "not counted", "zeros"],
  /** §8.3: the window that the headers show. */
  shown: ["least remaining", "minute", "day"],
  /** §8.3: the meaning of `X-RateLimit-Reset`; it matters for the token bucket and the sliding log. */
  reset: ["window end", "all left again", "one more left"],
  /** §8.4: the unit of `Retry-After`. */
  retryAfter: ["seconds", "date"],
  /** The number of seconds by which `Retry-After` is longer than needed. */
  slack: of<number>(0, 1, 7),
  ban: of<Ban>(
    "never",
    { after: 10, seconds: 600, status: 429 },
    { after: 3, seconds: 90, status: 403 },
    { after: 1, seconds: 20, status: 403 },
    { after: 5, seconds: 3_600, status: 403, isSilent: true }
  ),
  /** §7: the values of `code`. */
  codes: ["words", "UPPER", "numbered"],
  /** §2: the language of `message`. */
  language: ["en", "de"],
  /** Additional fields of an Error. */
  errorExtras: of<Fields>({}, { type: "about:blank", title: "No.", trace: "4f1c" }),
  /** Additional fields of a Pet. */
  petExtras: of<Fields>({}, { createdAt: "2026-01-01T00:00:00Z", version: 1n, weight: 4.5 }),
  /** How JSON is encoded: white space between tokens, reversed fields, `\uXXXX` for all characters outside ASCII. */
  json: of<JsonForm>(
    { space: "", reversed: false, escaped: false },
    { space: "\r\n\t ", reversed: true, escaped: true }
  ),
  /** `Content-Type` of animals. */
  contentType: of<string>("application/json", "Application/JSON; charset=UTF-8"),
  /** `Content-Type` of errors. */
  errorContentType: of<string>(
    "application/json",
    "application/problem+json",
    "application/json;charset=utf-8"
  ),
  /** `true`: `Date` is by the service's clock, which tests move; `of the machine`: by the machine's; `false`: no `Date`. */
  date: [true, "of the machine", false],
  /** The case of header names, which are case-insensitive (RFC 9110). */
  headerNames: ["as written", "lower", "UPPER"]
} as const

export type Choices = { readonly [K in keyof typeof values]: (typeof values)[K][number] }

/** The choices of an ordinary server. */
export const defaults = Object.fromEntries(
  Object.entries(values).map(([name, [usual]]) => [name, usual])
) as unknown as Choices // one value of each choice
