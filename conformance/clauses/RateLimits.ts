/** Clauses about rate limits: headers, plans, counting and waiting. */
import { section, unchecked, unlessFull } from "./Clause.ts"

export const clauses = [
  ...section("§8.3", "spec", "http", {
    "limits.headers-present":
      "Every response has X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset once each.",
    "limits.header-types": "The three headers are non-negative decimal integers.",
    "limits.remaining-within": "Remaining is at most Limit.",
    "limits.plan-in-force": "For a valid key, Limit is the per-minute or the daily limit of its plan.",
    "limits.reset-unix-seconds": "Reset is a Unix time in seconds by the service's clock.",
    "limits.reset-ahead": "For a valid key that is not banned, Reset is at most a day ahead.",
    "limits.reset-not-past": "For a valid key, Reset is not in the past.",
    "limits.reset-truth":
      "A caller denied only by the window shown is admitted at that window's Reset, if it has sent nothing in between.",
    "limits.reset-forward": "While the requests left in a window become fewer, its Reset does not move back.",
    "limits.remaining-truth": "The window shown admits at least as many further requests as Remaining says.",
    "limits.remaining-bound": "At most Remaining counted requests are admitted before the window refills."
  }),
  ...section("§8.2", "spec", "http", {
    "limits.plan.numbers": unchecked(
      "The plans Free, Pro and Business allow 60, 300 and 1,000 requests per minute, " +
        "and 1,000, 10,000 and 100,000 per day; those of Enterprise are agreed individually.",
      "A key does not show the name of its plan; the suite checks the numbers it was declared with."
    ),
    "limits.per-minute":
      "A caller that sends without a pause is denied once the per-minute limit is reached.",
    "limits.per-day": "A caller is denied once the daily limit is reached.",
    "limits.refused-count": "A request that gets 400 or 404 counts like one that succeeds."
  }),
  ...section("§8.4.4", "spec", "http", {
    "limits.plan.upgrade": unchecked(
      "Higher limits come from a plan upgrade.",
      "Plans are not changed over HTTP."
    )
  }),
  ...section("§8.4.1", "spec", "http", {
    "limits.no-early-429":
      "A caller that stays within both limits of its plan and is not banned never gets 429.",
    "limits.exceeded-429": "A request over the limit gets 429.",
    "limits.refused-unstored": unlessFull("A creation denied with 429 adds no animal."),
    "limits.atomic": "Concurrent requests do not exceed the limit: no more are admitted than in sequence."
  }),
  ...section("§7", "spec", "http", {
    "limits.every-operation": "Each of the three operations responds with 429 to a request over the limit."
  }),
  ...section("§8.4.2", "spec", "http", {
    "limits.retry-after-present": "A 429 response has `Retry-After`.",
    "limits.retry-after-promise":
      "A caller that waits for the time in `Retry-After` and is not banned is admitted."
  }),
  ...section("§8.4.2", "design", "http", {
    "limits.retry-after-seconds": "`Retry-After` is a whole number of seconds from 1 to 2,147,483.",
    "limits.retry-after-exact":
      "`Retry-After` is the time, rounded up, until the slot of the denied request; the first slot is at the next token.",
    "limits.slots":
      "Each denied request gets its own slot, one token after the previous one, up to a full bucket."
  }),
  ...section("§8", "design", "http", {
    "limits.counted-per-key": "Each key has its own budget, which requests with other keys do not affect.",
    "limits.anonymous-network": unchecked(
      "The network is an IPv4 address, or the /64 and the /48 of an IPv6 address, of the socket or a trusted proxy.",
      "The suite sends from one address."
    )
  }),
  ...section("§8.4.4", "design", "http", {
    "limits.plan-change": unchecked(
      "A plan change keeps the usage and caps the remaining requests.",
      "Plans are not changed over HTTP."
    )
  }),
  ...section("§8.2", "design", "http", {
    "limits.every-request-costs":
      "Every request with a valid key costs one, whatever the status of the response, unless it gets 429.",
    "limits.denied-costs-nothing": "A request that gets 429 is counted in neither window.",
    "limits.bucket": "The per-minute limit is a token bucket of that size, which starts full.",
    "limits.bucket-refill":
      "The bucket refills evenly, from empty to full in 60 seconds, exact to the millisecond.",
    "limits.day-utc":
      "The day is the calendar day in UTC, and the whole quota is available again at midnight."
  }),
  ...section("§8.2", "design", "port", {
    "limits.clock-back": "A clock that steps back by up to a minute does not grant requests twice.",
    "limits.clock-lead": "A clock that steps back delays an admission by at most a minute."
  }),
  ...section("§8.3", "design", "http", {
    "limits.window-shown":
      "An admitted request shows the window with fewer requests remaining, " +
      "or, if both have the same number, the one with the later Reset.",
    "limits.window-shown-denied":
      "A denied request shows the denying window with the longest wait, and Remaining 0.",
    "limits.window-single": "Limit, Remaining and Reset of one response describe the same window.",
    "limits.remaining-floor": "Remaining is the number of whole requests left after this one.",
    "limits.reset-full": "Reset is the second, rounded up, at which the window shown is full again.",
    "limits.standard-syntax":
      "`RateLimit` and `RateLimit-Policy`, if sent, are lists of policies with whole numbers.",
    "limits.standard-remaining": "`RateLimit` agrees with the X-RateLimit headers.",
    "limits.standard-wait":
      "In `RateLimit`, `t` of an exhausted window is at most `Retry-After`; " +
      "without `Retry-After`, `t` of any window is at most the length of the window.",
    "limits.standard-more":
      "In `RateLimit`, `t` is the time after which a window has one more request; until then, each request lowers `r` by one.",
    "limits.anonymous":
      "A request without a valid key counts against the bucket of its network, " +
      "which has the limits of the Free plan; the response shows that bucket.",
    "limits.anonymous-exhausted":
      "A request without a valid key gets 429 when the bucket of its network is empty.",
    "limits.anonymous-apart": "A request with a valid key does not affect the bucket of its network.",
    "limits.guesses-apart": "A request with a wrong key affects no key's budget.",
    "limits.transport-errors": unchecked(
      "A 400, 408 or 431 to a connection without a complete request shows the bucket of its network.",
      "Responses on broken connections need tests with raw sockets; those of the Node adapter cover them."
    )
  }),
  ...section("§7", "design", "http", {
    "limits.exceeded-code": "A 429 response for an exceeded limit has the code `rate_limit_exceeded`."
  }),
  ...section("§4", "design", "http", {
    "limits.before-routing": "Limits and bans are checked before path, method, query and body."
  })
]
