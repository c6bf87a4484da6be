/** Backends with a fault in the end of getPet. */
import * as Effect from "effect/Effect"
import * as Deprecation from "../../../core/deprecation/Deprecation.ts"
import type { WireRequest, WireResponse } from "../../http/Wire.ts"
import type { Fault, Where } from "../Fault.ts"
import * as Rewrite from "../Rewrite.ts"

const HOUR = 3_600_000

/** Goes by another policy. */
const lives = (policy: Partial<Deprecation.Deprecation>): Where => ({
  at: "http",
  options: { getPetDeprecation: { ...Deprecation.getPet, ...policy } }
})

const says = (change: (response: WireResponse, request: WireRequest) => WireResponse): Where => ({
  at: "http",
  transport: Rewrite.answers(change)
})

const silent = (response: WireResponse): WireResponse =>
  ["deprecation", "sunset", "link"].reduce(Rewrite.withoutHeader, response)

/** Answers these requests with 410 once getPet is removed. */
const removesToo = (isRemoved: (request: WireRequest) => boolean): Where => ({
  at: "http",
  transport:
    (real, { now }) =>
    (request) =>
      Effect.map(real(request), (response) =>
        now() >= Deprecation.getPet.sunsetAt && isRemoved(request)
          ? Rewrite.withBody(
              Rewrite.withStatus(response, 410),
              '{"code":"operation_removed","message":"It is removed.","status":410}'
            )
          : response
      )
})

export const faults: ReadonlyArray<Fault> = [
  {
    id: "removal.never",
    does: "Announces the removal of getPet and does not remove it.",
    breaks: "get.removed",
    killedBy: "removal.done",
    words: "404 or 410 with an Error body 200",
    where: lives({ afterSunset: "announce-only" })
  },
  {
    id: "removal.a-year-late",
    does: "Removes getPet a year late.",
    breaks: "get.removed",
    killedBy: "removal.done",
    words: "404 or 410 with an Error body 200",
    where: lives({ sunsetAt: Date.UTC(2031, 11, 5) })
  },
  {
    id: "removal.as-error",
    does: "Fails within instead of saying that getPet is removed.",
    breaks: "get.removed",
    killedBy: "removal.done",
    words: "404 or 410 with an Error body 500",
    where: says((response) =>
      response.status === 410
        ? Rewrite.withBody(
            Rewrite.withStatus(response, 500),
            '{"code":"internal_error","message":"It failed.","status":500}'
          )
        : response
    )
  },
  {
    id: "removal.months-mixed-up",
    does: "Removes getPet on 12 May 2030.",
    breaks: "get.available-until-removal",
    killedBy: "removal.not-before",
    words: "nowhere has 5 December 2030 begun 410",
    where: lives({ sunsetAt: Date.UTC(2030, 4, 12) })
  },
  {
    id: "removal.a-day-early",
    does: "Removes getPet on 4 December 2030.",
    breaks: "get.available-until-removal",
    killedBy: "removal.not-before",
    words: "nowhere has 5 December 2030 begun 410",
    where: lives({ sunsetAt: Date.UTC(2030, 11, 4) })
  },
  {
    id: "removal.list-too",
    does: "Removes the list together with getPet.",
    breaks: "get.removed-alone",
    killedBy: "removal.alone",
    words: "200 410, remaining",
    where: removesToo(Rewrite.isList)
  },
  {
    id: "removal.create-too",
    does: "Removes creations together with getPet.",
    breaks: "get.removed-alone",
    killedBy: "removal.alone",
    words: "created Pet 410",
    where: removesToo(Rewrite.isCreation)
  },

  // Against our own answers to the contract's gaps.

  {
    id: "removal.at-dawn-in-the-west",
    does: "Removes getPet when the 5th begins 8 hours west of UTC.",
    breaks: "get.gone",
    killedBy: "removal.exact",
    words: "410 with an Error body of code operation_removed 200",
    where: lives({ sunsetAt: Deprecation.getPet.sunsetAt + 8 * HOUR })
  },
  {
    id: "removal.at-dawn-in-the-east",
    does: "Removes getPet when the 5th begins 13 hours east of UTC.",
    breaks: "get.gone",
    killedBy: "removal.exact",
    words: "before the removal 410",
    where: lives({ sunsetAt: Deprecation.getPet.sunsetAt - 13 * HOUR })
  },
  {
    id: "removal.a-second-late",
    does: "Removes getPet when the first second of the 5th is over.",
    breaks: "get.gone",
    killedBy: "removal.exact",
    words: "410 with an Error body of code operation_removed 200",
    where: lives({ sunsetAt: Deprecation.getPet.sunsetAt + 1_000 })
  },
  {
    id: "removal.with-404",
    does: "Answers 404 once getPet is removed.",
    breaks: "get.gone",
    killedBy: "removal.exact",
    words: "410 with an Error body of code operation_removed 404",
    where: lives({ afterSunset: "not-found" })
  },
  {
    id: "removal.silent",
    does: "Does not say why getPet is gone.",
    breaks: "get.deprecation-headers",
    killedBy: "removal.exact",
    words: "on the 410 of getPet none",
    where: says((response) => (response.status === 410 ? silent(response) : response))
  },
  {
    id: "deprecation.silent",
    does: "Does not announce the end of getPet.",
    breaks: "get.deprecation-headers",
    killedBy: "deprecation.announced",
    words: "on the 200 of getPet none",
    where: says((response, request) => (Rewrite.isGet(request) ? silent(response) : response))
  },
  {
    id: "deprecation.only-on-success",
    does: "Announces the end of getPet only with an animal.",
    breaks: "get.deprecation-headers",
    killedBy: "deprecation.announced",
    words: "on the 404 of getPet none",
    where: says((response, request) =>
      Rewrite.isGet(request) && response.status !== 200 ? silent(response) : response
    )
  },
  {
    id: "deprecation.only-to-callers-with-key",
    does: "Does not announce the end of getPet with a 401.",
    breaks: "get.deprecation-headers",
    killedBy: "deprecation.announced",
    words: "on the 401 of getPet none",
    where: says((response) => (response.status === 401 ? silent(response) : response))
  },
  {
    id: "deprecation.true",
    does: "Writes Deprecation: true, as drafts of RFC 9745 had it.",
    breaks: "deprecation.date",
    killedBy: "deprecation.announced",
    words: "on the 200 of getPet true",
    where: says((response, request) =>
      Rewrite.isGet(request) ? Rewrite.withHeader(response, "Deprecation", "true") : response
    )
  },
  {
    id: "deprecation.other-sunset",
    does: "Announces the end of getPet for the end of that day.",
    breaks: "deprecation.sunset",
    killedBy: "deprecation.announced",
    words: "23:59:59 GMT",
    where: says((response, request) =>
      Rewrite.isGet(request)
        ? Rewrite.withHeader(response, "Sunset", "Thu, 05 Dec 2030 23:59:59 GMT")
        : response
    )
  },
  {
    id: "deprecation.no-successor",
    does: "Does not say what to use instead of getPet.",
    breaks: "deprecation.successor",
    killedBy: "deprecation.announced",
    words: 'successor-version" on the 200 of getPet none',
    where: says((response, request) =>
      Rewrite.isGet(request) ? Rewrite.withoutHeader(response, "link") : response
    )
  },
  {
    id: "deprecation.everywhere",
    does: "Marks every operation as deprecated.",
    breaks: "deprecation.getpet-only",
    killedBy: "deprecation.only-get",
    words: "on GET /pets Deprecation: @",
    where: says((response) => Rewrite.withHeader(response, "Deprecation", "@1795132800"))
  },
  {
    id: "deprecation.create-too",
    does: "Announces an end for creations.",
    breaks: "deprecation.getpet-only",
    killedBy: "deprecation.only-get",
    words: "on POST /pets Sunset:",
    where: says((response, request) =>
      Rewrite.isCreation(request)
        ? Rewrite.withHeader(response, "Sunset", "Thu, 05 Dec 2030 00:00:00 GMT")
        : response
    )
  }
]
