/** Defines faults in the headers `RateLimit` and `RateLimit-Policy`. */
import { header } from "../../http/Wire.ts"
import { type Fault, fault } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as RateLimits from "../spoilers/RateLimits.ts"

const LIMIT = "RateLimit"
/** Changes the value of a header; a missing header counts as an empty value. */
const rewritesHeader =
  (name: string, change: (value: string) => string): Edit.Edit =>
  (response) =>
    Edit.header(name, change(header(response, name) ?? ""))(response)

export const faults: ReadonlyArray<Fault> = [
  fault("limits.standard-old-draft", "Sends RateLimit in the form of an earlier draft.")
    .breaks("limits.standard-syntax")
    .by(AtHttp.responses({}, Edit.header(LIMIT, "limit=60, remaining=59, reset=1"))),
  fault("limits.standard-before", "Shows the requests that remained before the current one in RateLimit.")
    .breaks("limits.standard-remaining")
    .by(
      AtHttp.responses(
        { status: (status) => status < 300 },
        rewritesHeader(LIMIT, (value) => value.replace(/r=([0-9]+)/g, (_, left) => `r=${Number(left) + 1}`))
      )
    ),
  fault(
    "limits.standard-day-stuck",
    "Always shows the full daily quota as remaining in RateLimit for large plans."
  )
    .breaks("limits.standard-more")
    .by(
      RateLimits.shows(({ day }) => ({
        day: day.limit < 1_000 ? day : { ...day, remaining: day.limit }
      }))
    ),
  fault("limits.standard-late", "Sends a longer wait in RateLimit than in Retry-After.")
    .breaks("limits.standard-wait")
    .by(
      AtHttp.responses(
        { status: 429 },
        rewritesHeader(LIMIT, (value) => value.replace(/r=0;t=[0-9]+/, "r=0;t=3000000"))
      )
    )
]
