/** Clauses about rate limits: headers, plans, counting and waiting. */
import { design, spec, unchecked, unlessFull } from "./Clause.ts"

export const clauses = [
  ...spec({
    "limits.headers-present":
      "§8.3: Every response has X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset once each.",
    "limits.header-types": "§8.3: The three headers are non-negative decimal integers.",
    "limits.remaining-within": "§8.3: Remaining is at most Limit.",
    "limits.plan-in-force": "§8.3: For a valid key, Limit is the per-minute or the daily limit of its plan.",
    "limits.reset-unix-seconds": "§8.3: Reset is a Unix time in seconds by the service's clock.",
    "limits.reset-ahead": "§8.3: For a valid key that is not banned, Reset is at most a day ahead.",
    "limits.reset-not-past": "§8.3: For a valid key, Reset is not in the past.",
    "limits.reset-truth":
      "§8.3: A caller denied only by the window shown is admitted at that window's Reset, if it has sent nothing in between.",
    "limits.reset-forward":
      "§8.3: While the requests left in a window become fewer, its Reset does not move back.",
    "limits.remaining-truth":
      "§8.3: The window shown admits at least as many further requests as Remaining says.",
    "limits.remaining-bound":
      "§8.3: At most Remaining counted requests are admitted before the window refills.",
    "limits.plan.numbers": unchecked(
      "§8.2: The plans Free, Pro and Business allow 60, 300 and 1,000 requests per minute, " +
        "and 1,000, 10,000 and 100,000 per day; those of Enterprise are agreed individually.",
      "A key does not show the name of its plan; the suite checks the numbers it was declared with."
    ),
    "limits.per-minute":
      "§8.2: A caller that sends without a pause is denied once the per-minute limit is reached.",
    "limits.per-day": "§8.2: A caller is denied once the daily limit is reached.",
    "limits.refused-count": "§8.2: A request that gets 400 or 404 counts like one that succeeds.",
    "limits.plan.upgrade": unchecked(
      "§8.4.4: Higher limits come from a plan upgrade.",
      "Plans are not changed over HTTP."
    ),
    "limits.no-early-429":
      "§8.4.1: A caller that stays within both limits of its plan and is not banned never gets 429.",
    "limits.exceeded-429": "§8.4.1: A request over the limit gets 429.",
    "limits.refused-unstored": unlessFull("§8.4.1: A creation denied with 429 adds no animal."),
    "limits.atomic":
      "§8.4.1: Concurrent requests do not exceed the limit: no more are admitted than in sequence.",
    "limits.every-operation":
      "§7: Each of the three operations responds with 429 to a request over the limit.",
    "limits.retry-after-present": "§8.4.2: A 429 response has `Retry-After`.",
    "limits.retry-after-promise":
      "§8.4.2: A caller that waits for the time in `Retry-After` and is not banned is admitted."
  }),
  ...design({
    "limits.retry-after-seconds": "§8.4.2: `Retry-After` is a whole number of seconds from 1 to 2,147,483.",
    "limits.retry-after-exact":
      "§8.4.2: Each denied request gets its own slot, one token after the previous one, up to a full bucket; `Retry-After` is the time until then, rounded up.",
    "limits.counted-per-key":
      "§8: Each key has its own budget, and so has each network; requests with other keys, with wrong ones and without one do not affect it.",
    "limits.every-request-costs":
      "§8.2: Every request with a valid key costs one, whatever the status of the response, unless it gets 429.",
    "limits.denied-costs-nothing": "§8.2: A request that gets 429 is counted in neither window.",
    "limits.bucket":
      "§8.2: The per-minute limit is a token bucket of that size, which starts full, and refills evenly in 60 seconds, exact to the millisecond; Remaining is its whole requests.",
    "limits.day-utc":
      "§8.2: The day is the calendar day in UTC, and the whole quota is available again at midnight.",
    "limits.window-shown":
      "§8.3: Limit, Remaining and Reset describe one window: the one with fewer requests remaining, of a denied request the one with the longest wait.",
    "limits.reset-full": "§8.3: Reset is the second, rounded up, at which the window shown is full again.",
    "limits.anonymous":
      "§8.3: A request without a valid key counts against the bucket of its network, " +
      "which has the limits of the Free plan; the response shows that bucket.",
    "limits.anonymous-exhausted":
      "§8.3: A request without a valid key gets 429 when the bucket of its network is empty."
  })
]
