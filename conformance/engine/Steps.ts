/** Describes a history step by step, for reports. */
import type { Step } from "../evaluation/Finding.ts"
import * as Moment from "../http/Moment.ts"
import { visible } from "../http/Printable.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import { header, type WireResponse } from "../http/Wire.ts"
import type { Exchange } from "../model/Exchange.ts"
import * as Curl from "../subjects/Curl.ts"
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import * as SentText from "../subjects/SentText.ts"

/** Maximum number of equal consecutive steps that are listed one by one. */
const MAX_EQUAL = 3

/** Maximum length of the body of a response in a step. */
const MAX_BODY = 300

/** Returns the milliseconds between two exchanges, as exactly as they are known; 0 if they overlapped. */
export const waitBetween = (before: Exchange | undefined, after: Exchange): number => {
  if (before === undefined) return 0
  const middle = ({ from, to }: Exchange) => (from + to) / 2
  const wait = Math.round(middle(after) - middle(before))
  const isExact = before.from === before.to && after.from === after.to
  return wait >= (isExact ? 1 : 100) ? wait : 0
}

/** Describes a history step by step, with the time that passes between them. */
export const of = (
  exchanges: ReadonlyArray<Exchange>,
  { secrets, target }: Pick<HttpSubject, "secrets" | "target">,
  counts: boolean
): ReadonlyArray<Step> => {
  const origin = target.baseUrl === undefined ? undefined : new URL(target.baseUrl).origin
  const steps = exchanges.flatMap((exchange, index): ReadonlyArray<Step> => {
    const wait = waitBetween(exchanges[index - 1], exchange)
    const curl = origin === undefined ? undefined : Curl.command(exchange.request, origin, secrets)
    return [
      ...(wait === 0 ? [] : [{ did: `${Moment.duration(wait)} pass`, got: "" }]),
      { did: exchange.did, got: gotOf(exchange, counts), ...(curl === undefined ? {} : { curl }) }
    ]
  })
  return collapsed(steps)
}

const gotOf = ({ missing, response, to }: Exchange, counts: boolean): string => {
  if (response === undefined) return `no response: ${visible(missing ?? "")}`
  const body = visible(SentText.shortened(SentText.bodyText(response.body), MAX_BODY))
  const limits = counts ? limitsOf(response, to) : ""
  return `${response.status}${limits}${body === "" ? "" : ` ${body}`}`
}

const limitsOf = (response: WireResponse, to: number): string => {
  const rate = RateHeaders.of(response)
  const wait = header(response, "retry-after")
  const shown = [
    ...(wait === undefined ? [] : [`Retry-After ${visible(wait)}`]),
    ...(rate === undefined
      ? []
      : [`${rate.remaining} of ${rate.limit} left, Reset in ${(rate.resetAt * 1_000 - to) / 1_000} s`])
  ]
  return shown.length === 0 ? "" : `, ${shown.join(", ")}`
}

/** Replaces the middle of a series of equal steps with their number. */
const collapsed = (steps: ReadonlyArray<Step>): ReadonlyArray<Step> => {
  const shown: Array<Step> = []
  for (let at = 0; at < steps.length; ) {
    const first = steps[at]
    if (first === undefined) break
    let end = at + 1
    while (steps[end]?.did === first.did) end++
    const last = steps[end - 1]
    if (end - at <= MAX_EQUAL || last === undefined) shown.push(...steps.slice(at, end))
    else {
      const again = `the same ${end - at - 2} more times`
      const curl = first.curl && `for i in $(seq ${end - at - 2}); do ${first.curl}; done`
      shown.push(first, { did: again, got: "", curl }, last)
    }
    at = end
  }
  return shown
}
