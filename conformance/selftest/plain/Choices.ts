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
  /** §2: constraints on `name`, in UTF-16 code units. */
  readonly names: { readonly minimum: number; readonly maximum: number; readonly onlyAscii: boolean }
  /** §2 does not state the Unicode normalization form in which a name is stored. */
  readonly nameForm: "as sent" | "NFC" | "NFD" | "NFKC"
  /** §2: whether `1.0` and `1e3` are accepted as integers, or only digits. */
  readonly integers: "by value" | "digits only"
  /** §4.2: the handling of unknown fields of a new animal. */
  readonly unknownFields: "ignored" | 400
  /** §4.2: the handling of an `id` that the client sends. */
  readonly sentId: "ignored" | 400
  /** §4.2 names one content type: whether a creation with another one is rejected. */
  readonly contentTypes: "any" | 415
  /** The maximum size of a body in bytes; a larger body gets 413. */
  readonly largestBody: number
  /** §4.1: the handling of a `limit` outside 1 to 100. `clamped` moves it into the range; a non-integer becomes 20. */
  readonly badLimit: 400 | 422 | "clamped"
  /** §4.1: the handling of a status filter that is not a PetStatus. */
  readonly unknownStatus: 400 | 422 | "matches nothing"
  /** §4.1: the handling of unknown query parameters. */
  readonly unknownParameters: "ignored" | 400
  /** §4.1: whether a full page links to the next one. */
  readonly paging: "none" | "link"
  /** §4.3: the status for a `petId` that is not an int64. */
  readonly badPetId: 400 | 404
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
  readonly head: "as GET" | 405
  /** §4 does not mention OPTIONS: return 204 with `Allow`, or 405. */
  readonly options: 204 | 405
  /** §4: the status of any other method on a known path. */
  readonly otherMethods: 404 | 405
  /** §4: the handling of a known path with a trailing slash. */
  readonly trailingSlash: "tolerated" | 404
  /** §8.2: how "per minute" is counted. */
  readonly minute: Algorithm
  /** §8.2: how "per day" is counted. */
  readonly day: Exclude<Algorithm, "token bucket">
  /** The offset from UTC, in minutes to the east, of the time zone whose midnight begins the day. */
  readonly dayZone: number
  /** §8.4: what limits are counted for. In this server, all keys with the same limits belong to one account. */
  readonly counted: "per key" | "per account"
  /** §8.2: whether an admitted request that fails with 4xx is counted. */
  readonly errorsCost: boolean
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

/** The choices of an ordinary server. */
export const defaults: Choices = {
  earlier: [],
  catalogues: "shared",
  ids: "consecutive",
  order: "ascending",
  defaultStatus: "available",
  nullStatus: 400,
  names: { minimum: 0, maximum: Number.POSITIVE_INFINITY, onlyAscii: false },
  nameForm: "as sent",
  integers: "by value",
  unknownFields: "ignored",
  sentId: "ignored",
  contentTypes: "any",
  largestBody: Number.POSITIVE_INFINITY,
  badLimit: 400,
  unknownStatus: 400,
  unknownParameters: "ignored",
  paging: "none",
  badPetId: 404,
  removedAt: "2030-12-05T00:00:00Z",
  removed: 404,
  deprecationHeaders: false,
  unknownPathWithoutKey: 401,
  scheme: "any case",
  challenge: true,
  head: "as GET",
  options: 204,
  otherMethods: 405,
  trailingSlash: 404,
  minute: "clock window",
  day: "clock window",
  dayZone: 0,
  counted: "per key",
  errorsCost: true,
  denialsCost: false,
  anonymous: "counted",
  shown: "least remaining",
  reset: "window end",
  retryAfter: "seconds",
  slack: 0,
  ban: "never",
  codes: "words",
  language: "en",
  errorExtras: {},
  petExtras: {},
  json: { space: "", reversed: false, escaped: false },
  contentType: "application/json",
  errorContentType: "application/json",
  date: true,
  headerNames: "as written"
}
