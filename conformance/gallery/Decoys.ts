/** Servers that are legal and yet different from ours: the suite has to accept every one, at level `spec` or at its own. */
import type { Level } from "../clauses/Clause.ts"
import type { Transport } from "../http/Wire.ts"
import * as ForeignCursors from "./ForeignCursors.ts"
import type * as PlainServer from "./PlainServer.ts"

interface Named {
  /** Frozen name, such as `ids.negative`. */
  readonly id: string
  /** In what it differs, and why the contract allows it. */
  readonly differs: string
}

/** A server that shares nothing with the core. */
export interface PlainDecoy extends Named {
  /** Its answers to the contract's gaps; the rest is `PlainServer.defaults`. */
  readonly choices: Partial<PlainServer.Choices>
}

/** The service of the core, different where even its own promises leave it open: it keeps them all. */
export interface DisguisedDecoy extends Named {
  readonly disguise: (transport: Transport) => Transport
  /** Animals that it has from the beginning. */
  readonly animals: number
}

export type Decoy = PlainDecoy | DisguisedDecoy

/** The level at which a decoy has to pass. */
export const levelOf = (decoy: Decoy): Level => ("disguise" in decoy ? "design" : "spec")

export const plain: ReadonlyArray<PlainDecoy> = [
  {
    id: "plain",
    differs: "A plain server without any oddity, written without a line of ours.",
    choices: {}
  },

  // Animals
  {
    id: "ids.in-steps",
    differs: "Ids leave gaps of a thousand: §2 wants them unique, not dense.",
    choices: { ids: "in steps" }
  },
  {
    id: "ids.random",
    differs: "Ids are random and tell nothing about age: §2 wants them unique, not growing.",
    choices: { ids: "random" }
  },
  {
    id: "ids.random-of-any-sign",
    differs:
      "Ids are random over all of int64, half of them negative: §2 wants an int64, not a positive one.",
    choices: { ids: "random of any sign" }
  },
  {
    id: "ids.negative",
    differs: "Ids count down from -1: §2 wants an int64, and says nothing of sign or direction.",
    choices: { ids: "negative" }
  },
  {
    id: "ids.beyond-doubles",
    differs: "Ids start above 2^53, where doubles lose digits: §2 says int64.",
    choices: { ids: "from 2^53 up" }
  },
  {
    id: "ids.from-the-top",
    differs: "Ids count down from 2^63-1, the largest int64 of §2.",
    choices: { ids: "from 2^63-1 down" }
  },
  {
    id: "order.newest-first",
    differs: "Lists begin with the newest animal: §4.1 states no order.",
    choices: { order: "newest first" }
  },
  {
    id: "order.by-name",
    differs: "Lists are sorted by name: §4.1 states no order.",
    choices: { order: "by name" }
  },
  {
    id: "order.by-hash",
    differs: "Lists have a lasting order without meaning, as hash tables have: §4.1 states none.",
    choices: { order: "by hash" }
  },
  {
    id: "order.shuffled",
    differs:
      "Each list is another draw from the animals: §4.1 states no order, and a limit bounds only how many.",
    choices: { order: "shuffled" }
  },
  {
    id: "status.pending-by-default",
    differs: "An animal created without status is pending: §2 does not show the value.",
    choices: { defaultStatus: "pending" }
  },
  {
    id: "status.none-by-default",
    differs: "An animal created without status has none: §2 does not require the field in a Pet either.",
    choices: { defaultStatus: "absent" }
  },
  {
    id: "status.null-is-absent",
    differs: "A status of null counts as left out: the contract does not speak of null.",
    choices: { nullStatus: "as absent", defaultStatus: "sold" }
  },
  {
    id: "names.narrow",
    differs: "Names are 1 to 64 characters of ASCII, others are 400: §2 does not show the constraints.",
    choices: { names: { minimum: 1, maximum: 64, onlyAscii: true } }
  },
  {
    id: "integers.digits-only",
    differs: "1.0 and 1e3 are no integers, by the letter: §2 says integer and not how it may be written.",
    choices: { integers: "digits only" }
  },
  {
    id: "bodies.strict",
    differs: "Fields that §2 does not know are invalid values, a client's id among them: 400.",
    choices: { unknownFields: 400, sentId: 400 }
  },
  {
    id: "bodies.no-id",
    differs:
      "An id sent by the client is an invalid value, since the service assigns it (§2); other fields pass.",
    choices: { sentId: 400 }
  },
  {
    id: "bodies.one-type-and-small",
    differs:
      "Other content types than §4.2 names are 415, and bodies above 4 KiB 413: no clause forbids either.",
    choices: { contentTypes: 415, largestBody: 4096 }
  },
  {
    id: "pets.extra-fields",
    differs: "A Pet has further fields: §2 names those that must be there, and closes the record nowhere.",
    choices: { petExtras: { createdAt: "2026-01-01T00:00:00Z", version: 1n, weight: 4.5 } }
  },

  // Parameters, pages and paths
  {
    id: "limit.clamped",
    differs:
      "A limit out of range is brought into it: §4.1 lists no 400, and more than 100 animals are never sent.",
    choices: { badLimit: "clamped" }
  },
  {
    id: "parameters.422",
    differs: "Invalid parameters of a list are 422: the contract states 400 for bodies only (§7).",
    choices: { badLimit: 422, unknownStatus: 422 }
  },
  {
    id: "parameters.strict",
    differs: "Query parameters that §4.1 does not list are refused with 400.",
    choices: { unknownParameters: 400 }
  },
  {
    id: "filter.unknown-matches-nothing",
    differs: "No animal has an unknown status, so the list is empty: §4.1 states no error for it.",
    choices: { unknownStatus: "matches nothing" }
  },
  {
    id: "pages.linked",
    differs: "A full page links to the next by offset: §4.1 does not show paging.",
    choices: { paging: "link" }
  },
  {
    id: "paths.pet-id-400",
    differs:
      "A petId that is no int64 is 400: §4.3 states 404 for what cannot be found, not for what is malformed.",
    choices: { badPetId: 400 }
  },
  {
    id: "paths.tolerant",
    differs: "A trailing slash makes no difference: §4 names the paths without it and refuses none with it.",
    choices: { trailingSlash: "tolerated" }
  },
  {
    id: "methods.few",
    differs:
      "Only the methods of §4 exist: HEAD and OPTIONS are 405, all others as unknown as the path, 404.",
    choices: { head: 405, options: 405, otherMethods: 404 }
  },

  // Removal of getPet
  {
    id: "removal.410-announced",
    differs: "getPet announces its end in headers and answers 410 after it: §4.3 states the day alone.",
    choices: { removed: 410, deprecationHeaders: true }
  },
  {
    id: "removal.at-first-dawn",
    differs:
      "getPet goes when 5 December 2030 begins east of all (UTC+14): §4.3 states a day without time zone.",
    choices: { removedAt: "2030-12-05T00:00:00+14:00" }
  },
  {
    id: "removal.at-last-dusk",
    differs:
      "getPet goes when 5 December 2030 ends west of all (UTC-12): §4.3 states a day without time zone.",
    choices: { removedAt: "2030-12-05T23:59:59-12:00" }
  },

  // Keys
  {
    id: "keys.exact-scheme",
    differs:
      "The scheme is Bearer, written so (§5.1), and a 401 carries no challenge: §5.3 wants the Error alone.",
    choices: { scheme: "exact", challenge: false }
  },
  {
    id: "keys.unknown-path-first",
    differs: "An unknown path is 404 even without a key: §5.2 binds operations, and there is none.",
    choices: { unknownPathWithoutKey: 404 }
  },
  {
    id: "keys.anonymous-not-counted",
    differs:
      "Failed keys are never limited and see Free's limit untouched: §8.2 has no plan for who has no key.",
    choices: { anonymous: "not counted" }
  },
  {
    id: "keys.anonymous-zeros",
    differs: "Who has no key has a limit of nothing, and sees zeros (§8.3); §5.3 still wants 401, not 429.",
    choices: { anonymous: "zeros" }
  },
  {
    id: "keys.one-account",
    differs:
      "All keys of a plan draw on one budget: §8.4 leaves open whether keys, accounts or addresses count.",
    choices: { counted: "per account" }
  },

  // Windows
  {
    id: "windows.bucket",
    differs: "The minute is a token bucket that resets when it is full again: §8.2 names no algorithm.",
    choices: { minute: "token bucket", reset: "all left again" }
  },
  {
    id: "windows.bucket-next",
    differs:
      "The minute is a token bucket that shows when one more request is left: §8.3 does not tell of what.",
    choices: { minute: "token bucket", reset: "one more left" }
  },
  {
    id: "windows.bucket-minute-ahead",
    differs:
      "The minute is a token bucket that shows a minute from now as its reset, by when it is surely full.",
    choices: { minute: "token bucket", reset: "window end" }
  },
  {
    id: "windows.first-use",
    differs: "Minute and day begin with the first request after the last: §8.2 binds neither to the clock.",
    choices: { minute: "window from first use", day: "window from first use" }
  },
  {
    id: "windows.log",
    differs: "Any 60 seconds and any 24 hours are counted, from a log: §8.2 names no algorithm.",
    choices: { minute: "sliding log", day: "sliding log", reset: "all left again" }
  },
  {
    id: "windows.log-next",
    differs:
      "A log whose reset is the moment when its oldest request is forgotten: §8.3 allows that reading.",
    choices: { minute: "sliding log", reset: "one more left" }
  },
  {
    id: "windows.log-unforgiving",
    differs:
      "A log in which refused requests count too, so that hammering puts off the retry: they are requests.",
    choices: { minute: "sliding log", day: "sliding log", refusalsCost: true }
  },
  {
    id: "windows.day-of-kiribati",
    differs: "The day begins at midnight 14 hours east of UTC: §8.2 does not say whose day.",
    choices: { dayZone: 14 * 60 }
  },
  {
    id: "windows.day-of-california",
    differs: "The day begins at midnight 8 hours west of UTC: §8.2 does not say whose day.",
    choices: { dayZone: -8 * 60 }
  },
  {
    id: "windows.rolling-day",
    differs: "The day is the last 24 hours: §8.2 does not say that it is a calendar's.",
    choices: { day: "sliding log" }
  },
  {
    id: "windows.errors-free",
    differs: "Requests that fail with 4xx cost nothing: §8.2 does not say which requests count.",
    choices: { errorsCost: false }
  },
  {
    id: "windows.minute-shown",
    differs:
      "The headers always show the minute, even while the day refuses: §8.3 does not choose the window.",
    choices: { shown: "minute" }
  },
  {
    id: "windows.day-shown",
    differs:
      "The headers always show the day, even while the minute refuses: §8.3 does not choose the window.",
    choices: { shown: "day" }
  },

  // Refusals
  {
    id: "retry.date",
    differs: "Retry-After is an HTTP-date, the other form of RFC 9110: §8.4 leaves its unit open.",
    choices: { retryAfter: "date" }
  },
  {
    id: "retry.with-slack",
    differs:
      "Retry-After asks for seven seconds more than needed: §8.4 promises nothing to who comes earlier.",
    choices: { slack: 7 }
  },
  {
    id: "ban.429",
    differs: "Ten refused requests that did not wait ban the key for ten minutes, with 429 (§8.4.3).",
    choices: { ban: { after: 10, seconds: 600, status: 429 } }
  },
  {
    id: "ban.403",
    differs:
      "Three refused requests that did not wait ban the key, with 403 once the limit allows it: §8.4.3.",
    choices: { ban: { after: 3, seconds: 90, status: 403 } }
  },

  // Writing
  {
    id: "errors.german",
    differs:
      "Errors are told in German, with codes in capitals and further fields: §7 leaves codes and words open.",
    choices: { language: "de", codes: "UPPER", errorExtras: { type: "about:blank", trace: "4f1c" } }
  },
  {
    id: "errors.numbered-problems",
    differs:
      "Errors are problem+json (RFC 9457) with numbered codes: JSON still, with the Error's fields (§7).",
    choices: {
      codes: "numbered",
      errorContentType: "application/problem+json",
      errorExtras: { title: "No." }
    }
  },
  {
    id: "json.other-writing",
    differs: "JSON with white space, reversed fields and all but ASCII escaped: the same values (RFC 8259).",
    choices: { json: { space: "\r\n\t ", reversed: true, escaped: true } }
  },
  {
    id: "headers.charset",
    differs: "Content types have a parameter and capitals, which RFC 9110 holds for the same type.",
    choices: {
      contentType: "Application/JSON; charset=UTF-8",
      errorContentType: "application/json;charset=utf-8"
    }
  },
  {
    id: "headers.lower-without-date",
    differs:
      "Header names are in lower case, as HTTP/2 has them all, and there is no Date: no clause wants one.",
    choices: { headerNames: "lower", date: false }
  },
  {
    id: "headers.upper",
    differs: "Header names are in capitals: RFC 9110 compares them without regard to case.",
    choices: { headerNames: "UPPER" }
  },

  // Mixed
  {
    id: "mixed.spartan",
    differs:
      "Refuses all that §2 and §4 do not name, tells nothing that no clause asks for, and forgives nothing.",
    choices: {
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
      refusalsCost: true,
      ban: { after: 3, seconds: 90, status: 403 }
    }
  },
  {
    id: "mixed.generous",
    differs:
      "Takes what it can make sense of, counts only successes, and says more than asked; each as above.",
    choices: {
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
    }
  },
  {
    id: "mixed.contrary",
    differs:
      "Takes the other way at every fork: ids from the top, shuffled lists, its own day and windows, dates.",
    choices: {
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
    }
  },
  {
    id: "mixed.gateway",
    differs:
      "What a gateway in front of a service makes of it: one budget for all keys, bucket, zeros, problems.",
    choices: {
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
    }
  }
]

export const disguised: ReadonlyArray<DisguisedDecoy> = [
  {
    id: "pages.foreign-cursors",
    differs:
      "400 animals on pages whose cursors hold +, /, =, % and spaces, at level design: a cursor is opaque.",
    disguise: ForeignCursors.disguise,
    animals: 400
  }
]

export const decoys: ReadonlyArray<Decoy> = [...plain, ...disguised]
