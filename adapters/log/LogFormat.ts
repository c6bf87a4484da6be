/** Formats log events as lines in logfmt. */
import * as Cause from "effect/Cause"
import * as Logger from "effect/Logger"
import type * as Repetition from "./Repetition.ts"

/** The input of an Effect logger. */
export type LogEvent = Logger.Options<unknown>

/** Formats an event, or a summary such as `503 service_unavailable × 1,700 in 1 s`. */
export const line = ({ count, event, isMixed, withinMs }: Repetition.Emission<LogEvent>): string => {
  if (count === 1 && withinMs === 0) return Logger.formatLogFmt.log(event)
  const [first, ...rest] = partsOf(event)
  const total = `${formatCount(count)} in ${seconds(withinMs)}`
  const message = isMixed ? `events of many kinds × ${total}, the latest: ${first}` : `${first} × ${total}`
  return Logger.formatLogFmt.log({ ...event, message: [message, ...rest] })
}

/** Formats the line that reports the number of lost lines. */
export const lost = (count: number, date: Date): string =>
  `timestamp=${date.toISOString()} level=WARN message="log lines lost: ${formatCount(count)}"`

/**
 * Returns the kind of an event. Events of the same kind differ only in annotations, such as the request id, or in the
 * numbers of an error, such as ports.
 */
export const kindOf = (event: LogEvent): string =>
  [event.logLevel, ...partsOf(event), ...event.cause.reasons.map(reasonOf)].map(described).join("\n")

const partsOf = ({ message }: LogEvent): ReadonlyArray<unknown> =>
  Array.isArray(message) ? message : [message]

const reasonOf = (reason: Cause.Reason<unknown>): unknown => {
  if (Cause.isFailReason(reason)) return reason.error
  return Cause.isDieReason(reason) ? reason.defect : "interrupted"
}

/** Maximum depth of causes and maximum length of text that distinguish kinds. */
const MAX_DEPTH = 4
const MAX_LENGTH = 500

const described = (value: unknown): string => {
  if (typeof value === "string") return value.slice(0, MAX_LENGTH)
  if (!(value instanceof Error)) return typeof value
  const texts: Array<string> = []
  let next: unknown = value
  for (; next instanceof Error && texts.length < MAX_DEPTH; next = next.cause) {
    texts.push(`${next.name}: ${next.message}`)
  }
  if (typeof next === "string") texts.push(next)
  return texts.join(" < ").slice(0, MAX_LENGTH).replace(/\d+/g, "0")
}

const formatCount = (count: number): string => count.toLocaleString("en-US")

const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`
