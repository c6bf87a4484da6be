/** Defines faults in the headers `RateLimit` and `RateLimit-Policy`. */
import { header } from "../../http/Wire.ts"
import { type Fault, fault } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as RateLimits from "../spoilers/RateLimits.ts"

const LIMIT = "RateLimit"
const POLICY = "RateLimit-Policy"

/** Changes the value of a header; a missing header counts as an empty value. */
const rewritesHeader =
  (name: string, change: (value: string) => string): Edit.Edit =>
  (response) =>
    Edit.header(name, change(header(response, name) ?? ""))(response)

export const faults: ReadonlyArray<Fault> = [
  fault("limits.standard-old-draft", "Sends RateLimit in the form of an earlier draft.")
    .breaks(
      "limits.standard-syntax",
      "every.ratelimit-syntax",
      "RateLimit as a list of policies with whole numbers"
    )
    .by(AtHttp.responses({}, Edit.header(LIMIT, "limit=60, remaining=59, reset=1"))),
  fault("limits.standard-unquoted", "Sends the names of policies as tokens instead of strings.")
    .breaks("limits.standard-syntax", "every.ratelimit-syntax", "RateLimit-Policy as a list of policies")
    .by(
      AtHttp.responses(
        {},
        rewritesHeader(POLICY, (value) => value.replaceAll('"', ""))
      )
    ),
  fault(
    "limits.standard-other-name",
    "Uses a policy name in RateLimit that RateLimit-Policy does not define."
  )
    .breaks("limits.standard-syntax", "every.ratelimit-syntax", 'none for "default"')
    .by(
      AtHttp.responses(
        {},
        rewritesHeader(LIMIT, (value) => value.replace('"minute"', '"default"'))
      )
    ),
  fault("limits.standard-before", "Shows the requests that remained before the current one in RateLimit.")
    .breaks("limits.standard-remaining", "every.ratelimit-remaining", "as X-RateLimit-Remaining")
    .by(
      AtHttp.responses(
        { status: (status) => status < 300 },
        rewritesHeader(LIMIT, (value) => value.replace(/r=([0-9]+)/g, (_, left) => `r=${Number(left) + 1}`))
      )
    ),
  fault("limits.standard-other-quota", "Shows the quota of another plan in RateLimit-Policy.")
    .breaks("limits.standard-remaining", "every.ratelimit-remaining", "as in the X-RateLimit headers")
    .by(
      AtHttp.responses(
        {},
        rewritesHeader(POLICY, (value) => value.replace(/q=[0-9]+/g, "q=61"))
      )
    ),
  fault("limits.standard-day-twice", "Counts each request twice in the daily quota of RateLimit.")
    .breaks("limits.standard-remaining", "every.ratelimit-falls-by-one", 'at least "day";r=')
    .by(
      RateLimits.shows(({ day }) => ({
        day: { ...day, remaining: Math.max(2 * day.remaining - day.limit, 0) }
      }))
    ),
  fault(
    "limits.standard-day-stuck",
    "Always shows the full daily quota as remaining in RateLimit for large plans."
  )
    .breaks("limits.standard-more", "every.ratelimit-costs-one", "one less than before")
    .by(
      RateLimits.shows(({ day }) => ({
        day: day.limit < 1_000 ? day : { ...day, remaining: day.limit }
      }))
    ),
  fault(
    "limits.standard-early",
    "Sends t=1 in RateLimit, as if more requests were available after one second."
  )
    .breaks("limits.standard-more", "every.ratelimit-more", "at least")
    .by(
      AtHttp.responses(
        {},
        rewritesHeader(LIMIT, (value) => value.replaceAll(/t=[0-9]+/g, "t=1"))
      )
    ),
  fault("limits.standard-late", "Sends a longer wait in RateLimit than in Retry-After.")
    .breaks("limits.standard-wait", "every.ratelimit-wait", "at most")
    .by(
      AtHttp.responses(
        { status: 429 },
        rewritesHeader(LIMIT, (value) => value.replace(/r=0;t=[0-9]+/, "r=0;t=3000000"))
      )
    )
]
