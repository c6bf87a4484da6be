/** Describes a history step by step, for reports. */
import * as Arr from "effect/Array"
import type { Step } from "../clauses/Finding.ts"
import * as Moment from "../http/Moment.ts"
import { excerpt, visible } from "../http/Printable.ts"
import * as RateHeaders from "../http/RateHeaders.ts"
import { header, type WireResponse } from "../http/Wire.ts"
import { type Exchange, isConcurrent } from "../model/Exchange.ts"
import * as Curl from "../subjects/Curl.ts"
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import * as SentRequest from "../subjects/SentRequest.ts"

/** Maximum number of equal consecutive steps that are listed one by one. */
const MAX_EQUAL = 3

/** Maximum length of the body of a response in a step, and of the beginning of a body that is read for it. */
const [MAX_BODY, MAX_READ] = [300, 20_000]

/** Returns the milliseconds between two exchanges, as exactly as they are known; 0 if they overlapped. */
export const waitBetween = (before: Exchange | undefined, after: Exchange): number => {
  if (before === undefined) return 0
  const middle = ({ from, to }: Exchange) => (from + to) / 2
  const wait = Math.round(middle(after) - middle(before))
  const isExact = before.from === before.to && after.from === after.to
  return wait >= (isExact ? 1 : 100) ? wait : 0
}

/**
 * Describes a history step by step, with the time that passes between them. Long lists show the animals that a message
 * names, such as `animal 7`.
 */
export const of = (
  exchanges: ReadonlyArray<Exchange>,
  { redact, secrets, target }: Pick<HttpSubject, "redact" | "secrets" | "target">,
  counts: boolean,
  message = ""
): ReadonlyArray<Step> => {
  const named = new Set([...message.matchAll(/animal (-?[0-9]+)/g)].map(([, id]) => id))
  const origin = target.baseUrl === undefined ? undefined : new URL(target.baseUrl).origin
  const steps = exchanges.flatMap((exchange, index): ReadonlyArray<Step> => {
    const wait = waitBetween(exchanges[index - 1], exchange)
    const curl = origin === undefined ? undefined : Curl.command(exchange.request, origin, secrets)
    return [
      ...(wait === 0 ? [] : [{ did: `${Moment.duration(wait)} pass`, got: "" }]),
      {
        did: didOf(exchange),
        got: gotOf(exchange, counts, redact, named),
        ...(curl === undefined ? {} : { curl })
      }
    ]
  })
  return collapsed(steps)
}

/** Minimum number of requests that are counted instead of being read one by one. */
const MIN_TALLY = 12

/** Counts the requests of a long history by operation and status, and by whether they lowered Remaining. */
export const tally = (
  exchanges: ReadonlyArray<Exchange>,
  operationOf: (exchange: Exchange) => string
): string | undefined => {
  const remainingOf = ({ response }: Exchange) => response && RateHeaders.of(response)?.remaining
  const all = exchanges.map((exchange, index) => {
    const [before, after] = [exchanges[index - 1], exchange].map((each) => each && remainingOf(each))
    const isLower = before === undefined || after === undefined || after !== before || after === 0
    const status = exchange.response?.status ?? "no response"
    return {
      operation: operationOf(exchange),
      result: isLower ? status : `${status} without lowering Remaining`
    }
  })
  return exchanges.length < MIN_TALLY
    ? undefined
    : Object.entries(Arr.groupBy(all, ({ operation }) => operation))
        .map(([operation, some]) => {
          const results = Object.entries(Arr.groupBy(some, ({ result }) => String(result)))
          return `${some.length} ${operation} (${results.map(([result, same]) => `${same.length} × ${result}`).join(", ")})`
        })
        .join(", ")
}

const TOGETHER = ", at the same time as others"

const didOf = (exchange: Exchange): string => exchange.did + (isConcurrent(exchange) ? TOGETHER : "")

/** Matches an animal in a list, and captures its id. */
const object = /\{[^{}]*"id":\s*(-?[0-9]+)[^{}]*\}/g

const gotOf = (
  { missing, response, to }: Exchange,
  counts: boolean,
  redact: (text: string) => string,
  named: ReadonlySet<string | undefined>
): string => {
  if (response === undefined) return `no response: ${visible(missing ?? "")}`
  const isLong = response.body.length > MAX_READ
  const text = isLong ? excerpt(response.body, MAX_READ) : SentRequest.bodyText(response.body)
  const content = SentRequest.condensed(redact(text))
  const animals = content.length > MAX_BODY ? [...content.matchAll(object)] : []
  const shown = animals.flatMap(([animal, id]) => (named.has(id) ? [animal] : []))
  const count = `${isLong ? "at least " : ""}${animals.length} animals`
  const relevant = shown.length === 0 ? content : `[… ${shown.join(" … ")} …] (${count})`
  const body = visible(SentRequest.shortened(relevant, MAX_BODY))
  const limits = counts ? limitsOf(response, to) : ""
  return `${response.status}${limits}${body === "" ? "" : ` ${body}`}`
}

const limitsOf = (response: WireResponse, to: number): string => {
  const rate = RateHeaders.of(response)
  const wait = header(response, "retry-after")
  const shown = [
    ...(wait === undefined ? [] : [`Retry-After ${visible(wait)}${untilRetry(wait, to)}`]),
    ...(rate === undefined ? [] : [`${rate.remaining} of ${rate.limit} left, ${resetOf(rate.resetAt, to)}`])
  ]
  return shown.length === 0 ? "" : `, ${shown.join(", ")}`
}

const DAY_MS = 86_400_000

/** A Reset that is further away, in milliseconds, probably has another unit. */
const MAX_RESET_MS = 2 * DAY_MS

/** Returns how far away the time of a Retry-After is, unless it is a small number of seconds. */
const untilRetry = (wait: string, now: number): string => {
  if (/^\d{3,6}$/.test(wait)) return ` (${Moment.duration(Number(wait) * 1_000)})`
  const ms = Date.parse(wait) - now
  if (!/^[A-Z]/i.test(wait) || Number.isNaN(ms)) return ""
  const unit = Math.abs(ms) < MAX_RESET_MS ? 1_000 : DAY_MS
  const distance = Moment.duration(Math.round(Math.abs(ms) / unit) * unit)
  return ms < 0 ? ` (${distance} ago)` : ` (in ${distance})`
}

const resetOf = (resetAt: number, now: number): string => {
  const ms = resetAt * 1_000 - now
  if (Math.abs(ms) > MAX_RESET_MS) return `Reset ${resetAt}, at the time ${Math.floor(now / 1_000)}`
  return ms < 0 ? `Reset ${Moment.duration(-ms)} ago` : `Reset in ${Moment.duration(ms)}`
}

/** Whether two steps sent the same and got the same status; what is left of a limit differs after each request. */
const isAlike = (a: Step, b: Step): boolean => a.did === b.did && a.got.slice(0, 3) === b.got.slice(0, 3)

/** Replaces the middle of a series of steps that are alike with their number. */
const collapsed = (steps: ReadonlyArray<Step>): ReadonlyArray<Step> =>
  Arr.isReadonlyArrayNonEmpty(steps)
    ? Arr.groupWith(steps, isAlike).flatMap((series): ReadonlyArray<Step> => {
        const { curl, did } = Arr.headNonEmpty(series)
        const hidden = series.length - 2
        if (series.length <= MAX_EQUAL) return series
        const [next, finish] = did.endsWith(TOGETHER) ? [" &", "; wait"] : [";", ""]
        const loop = curl && `for i in $(seq ${hidden}); do ${curl}${next} done${finish}`
        const middle = { did: `the same ${hidden} more times`, got: "", curl: loop }
        return [Arr.headNonEmpty(series), middle, Arr.lastNonEmpty(series)]
      })
    : []
