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

export interface Choices {
  /** The animals in the store before the first request, in each catalogue. */
  readonly earlier: ReadonlyArray<EarlierPet>
  /** §4.1 does not specify whether a list contains the animals of all keys, or only those of the request's key. */
  readonly catalogues: "shared" | "one per key"
  /** §2 requires only that `id` is unique: the rule for new ids. */
  readonly ids:
    | "consecutive"
    | "in steps"
    | "random"
    | "random of any sign"
    | "negative"
    | "from 2^53 up"
    | "from 2^63-1 down"
  /** §4.1 states no order of a list; a shuffled list has another order for each request. */
  readonly order: "ascending" | "newest first" | "by name" | "by hash" | "shuffled"
  /** §2: the status of an animal that was created without one. */
  readonly defaultStatus: Status | "absent"
  /** §2 does not mention `null`: reject it, or treat it as an absent status. */
  readonly nullStatus: 400 | "as absent"
  /** §2 does not show the constraints on `name`; a name that does not match gets 400. */
  readonly names: RegExp
  /** §2: the form in which a name is stored: trimmed, or a Unicode normalization form. */
  readonly nameForm: "as sent" | "trimmed" | "NFC" | "NFD" | "NFKC"
  /** §2: whether `1.0` and `1e3` are accepted as integers, or only digits. */
  readonly integers: "by value" | "digits only"
  /** §4.2: the handling of unknown fields of a new animal. */
  readonly unknownFields: "ignored" | 400
  /** §4.2: the handling of an `id` that the client sends. */
  readonly sentId: "ignored" | 400
  /** RFC 8259 §4: the handling of a body with two members of one name. */
  readonly repeatedFields: "last" | 400
  /** RFC 8259 §8.1: the handling of a byte order mark. */
  readonly byteOrderMark: "skipped" | 400
  /** §4.2 names one content type: whether a creation with another one, or even with a parameter, gets 415. */
  readonly contentTypes: "any" | 415 | "exactly JSON"
  /** RFC 9110: the handling of a body in chunks, and of one with a Content-Encoding. */
  readonly chunks: "accepted" | 411
  readonly contentEncoding: "ignored" | 415
  /** The maximum size of a body in bytes; a larger body gets 413. */
  readonly largestBody: number
  /** §4.1: the handling of a `limit` outside 1 to 100; `clamped` moves it into the range. A clamped non-integer becomes 20. */
  readonly badLimit: 400 | 422 | "clamped" | "clamped from above" | "clamped if 32 bits"
  /** §4.1: how an integer is written: without leading zeros, or as `parseInt` reads it. */
  readonly limitForm: "digits" | "shortest" | "as parseInt"
  /** §4.1: which of several equal parameters counts. */
  readonly repeatedParameters: "first" | "last" | 400
  /** §4.1: whether `?limit=` and `?status=` are like no parameter. */
  readonly emptyParameters: "invalid" | "absent"
  /** §4.1: whether the filter `SOLD` is like `sold`. */
  readonly statusCase: "exact" | "any"
  /** §4.1: the handling of a status filter that is not a PetStatus. */
  readonly unknownStatus: 400 | 422 | "matches nothing"
  /** §4.1: the handling of unknown query parameters. */
  readonly unknownParameters: "ignored" | 400
  /** §4.1: whether a full page links to the next one, with an offset or an opaque cursor. */
  readonly paging: "none" | "link" | "cursor"
  /** §3 shows no transitions: whether a pending animal is sold after a day. */
  readonly transitions: "none" | "sold after a day"
  /** §4.3: the status for a `petId` that is not an int64. */
  readonly badPetId: 400 | 404
  /** §4.3: whether an id is percent-decoded, and whether leading zeros are accepted. */
  readonly petIdForm: "digits" | "shortest" | "decoded"
  /** §4.3: the time of the removal (ISO 8601); legal while it is 5 December 2030 somewhere on earth. */
  readonly removedAt: string
  /** §4.3: the status after the removal. */
  readonly removed: 404 | 410
  /** Whether responses of getPet have the headers `Deprecation` (RFC 9745) and `Sunset` (RFC 8594). */
  readonly deprecationHeaders: boolean
  /** §4.4: the status of an unknown path without a valid key. */
  readonly unknownPathWithoutKey: 401 | 404
  /** §5: whether `bearer` is accepted like `Bearer`. */
  readonly scheme: "any case" | "exact"
  /** Whether a 401 has the header `WWW-Authenticate` (RFC 9110). */
  readonly challenge: boolean
  /** §4 does not mention HEAD: handle it as GET, or return 405. */
  readonly head: "as GET" | 404 | 405
  /** §4 does not mention OPTIONS: return 204 with `Allow`, or 405. */
  readonly options: 204 | 405
  /** §4: the status of any other method on a known path. */
  readonly otherMethods: 404 | 405 | 501
  /** §4: the handling of a known path with a trailing slash. */
  readonly trailingSlash: 404 | 308 | "tolerated"
  /** §8.2: how "per minute" is counted. */
  readonly minute: Algorithm
  /** §8.2: how "per day" is counted. */
  readonly day: Exclude<Algorithm, "token bucket">
  /** The offset from UTC, in minutes to the east, of the time zone whose midnight begins the day. */
  readonly dayZone: number
  /** §8.4: what limits are counted for. In this server, all keys with the same limits belong to one account. */
  readonly counted: "per key" | "per account"
  /** §8.2: whether an admitted request that gets 4xx is counted; it must be, so only faulty servers change this. */
  readonly errorsCost: boolean
  /** §8.2: whether requests count that §4 does not describe: with another method, or to an unknown path. */
  readonly undescribed: "counted" | "free"
  /** §8.2: whether a denied request is also counted, so that it delays the next admission. */
  readonly denialsCost: boolean
  /** §8.3: callers without a key are counted with the limits of Free, are only shown these limits, or see zeros. */
  readonly anonymous: "counted" | "not counted" | "zeros"
  /** §8.3: the window that the headers show. */
  readonly shown: "least remaining" | "minute" | "day"
  /** §8.3: the meaning of `X-RateLimit-Reset`; it matters for the token bucket and the sliding log. */
  readonly reset: "window end" | "all left again" | "one more left"
  /** §8.4: the unit of `Retry-After`. */
  readonly retryAfter: "seconds" | "date"
  /** The number of seconds by which `Retry-After` is longer than needed. */
  readonly slack: number
  /**
   * §8.4.3: bans a key for `seconds` once it was denied `after` times before the `Retry-After` of the previous denial had
   * passed. A silent ban has no `Retry-After`, which §8.4.2 requires only of a 429.
   */
  readonly ban:
    | "never"
    | {
        readonly after: number
        readonly seconds: number
        readonly status: 403 | 429
        readonly isSilent?: boolean
      }
  /** §7: the values of `code`. */
  readonly codes: "words" | "UPPER" | "numbered"
  /** §2: the language of `message`. */
  readonly language: "en" | "de"
  /** Additional fields of an Error. */
  readonly errorExtras: Fields
  /** Additional fields of a Pet. */
  readonly petExtras: Fields
  /** How JSON is encoded: white space between tokens, reversed fields, `\uXXXX` for all characters outside ASCII. */
  readonly json: { readonly space: string; readonly reversed: boolean; readonly escaped: boolean }
  /** `Content-Type` of animals. */
  readonly contentType: string
  /** `Content-Type` of errors. */
  readonly errorContentType: string
  /** `true`: `Date` is by the service's clock, which tests move; `of the machine`: by the machine's; `false`: no `Date`. */
  readonly date: boolean | "of the machine"
  /** The case of header names, which are case-insensitive (RFC 9110). */
  readonly headerNames: "as written" | "lower" | "UPPER"
}

const many = (names: ReadonlyArray<string>, copies: number): ReadonlyArray<EarlierPet> =>
  Array.from({ length: copies }, () => names)
    .flat()
    .flatMap((name, index) => statuses.map((status) => ({ name, categoryId: BigInt(index), status })))

/** The values of each choice; the first is that of an ordinary server. */
export const values: { readonly [K in keyof Choices]: readonly [Choices[K], ...ReadonlyArray<Choices[K]>] } =
  {
    earlier: [[], many(["a", "abc", "sold", "Rex", "a".repeat(300), ""], 1), many(["Rex", "abc"], 25)],
    catalogues: ["shared", "one per key"],
    ids: [
      "consecutive",
      "in steps",
      "random",
      "random of any sign",
      "negative",
      "from 2^53 up",
      "from 2^63-1 down"
    ],
    order: ["ascending", "newest first", "by name", "by hash", "shuffled"],
    defaultStatus: ["available", "pending", "sold", "absent"],
    nullStatus: [400, "as absent"],
    names: [/^/, /^[ -~]{1,64}$/, /^[^\p{Cc}\p{Cs}]{1,255}$/u, /^[a-z]{1,16}$/i],
    nameForm: ["as sent", "trimmed", "NFC", "NFD", "NFKC"],
    integers: ["by value", "digits only"],
    unknownFields: ["ignored", 400],
    sentId: ["ignored", 400],
    repeatedFields: ["last", 400],
    byteOrderMark: ["skipped", 400],
    contentTypes: ["any", 415, "exactly JSON"],
    chunks: ["accepted", 411],
    contentEncoding: ["ignored", 415],
    largestBody: [Number.POSITIVE_INFINITY, 4096, 1024],
    badLimit: [400, 422, "clamped", "clamped from above", "clamped if 32 bits"],
    limitForm: ["digits", "shortest", "as parseInt"],
    repeatedParameters: ["first", "last", 400],
    emptyParameters: ["invalid", "absent"],
    statusCase: ["exact", "any"],
    unknownStatus: [400, 422, "matches nothing"],
    unknownParameters: ["ignored", 400],
    paging: ["none", "link", "cursor"],
    transitions: ["none", "sold after a day"],
    badPetId: [404, 400],
    petIdForm: ["digits", "shortest", "decoded"],
    removedAt: ["2030-12-05T00:00:00Z", "2030-12-05T00:00:00+14:00", "2030-12-05T23:59:59-12:00"],
    removed: [404, 410],
    deprecationHeaders: [false, true],
    unknownPathWithoutKey: [401, 404],
    scheme: ["any case", "exact"],
    challenge: [true, false],
    head: ["as GET", 404, 405],
    options: [204, 405],
    otherMethods: [405, 404, 501],
    trailingSlash: [404, 308, "tolerated"],
    minute: ["clock window", "token bucket", "window from first use", "sliding log"],
    day: ["clock window", "window from first use", "sliding log"],
    dayZone: [0, 14 * 60, -8 * 60, 330],
    counted: ["per key", "per account"],
    errorsCost: [true],
    undescribed: ["counted", "free"],
    denialsCost: [false, true],
    anonymous: ["counted", "not counted", "zeros"],
    shown: ["least remaining", "minute", "day"],
    reset: ["window end", "all left again", "one more left"],
    retryAfter: ["seconds", "date"],
    slack: [0, 1, 7],
    ban: [
      "never",
      { after: 10, seconds: 600, status: 429 },
      { after: 3, seconds: 90, status: 403 },
      { after: 1, seconds: 20, status: 403 },
      { after: 5, seconds: 3_600, status: 403, isSilent: true }
    ],
    codes: ["words", "UPPER", "numbered"],
    language: ["en", "de"],
    errorExtras: [{}, { type: "about:blank", title: "No.", trace: "4f1c" }],
    petExtras: [{}, { createdAt: "2026-01-01T00:00:00Z", version: 1n, weight: 4.5 }],
    json: [
      { space: "", reversed: false, escaped: false },
      { space: "\r\n\t ", reversed: true, escaped: true }
    ],
    contentType: ["application/json", "Application/JSON; charset=UTF-8"],
    errorContentType: ["application/json", "application/problem+json", "application/json;charset=utf-8"],
    date: [true, "of the machine", false],
    headerNames: ["as written", "lower", "UPPER"]
  }

/** Returns the choices with a value for each; by default the first. */
export const choose = (indexOf: (choice: keyof Choices) => number = () => 0): Choices =>
  Object.fromEntries(
    Object.entries(values).map(([name, all]) => [name, all[indexOf(name as keyof Choices)] ?? all[0]])
  ) as unknown as Choices // one value of each choice

/** The choices of an ordinary server. */
export const defaults: Choices = choose()
