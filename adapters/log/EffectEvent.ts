/** Converts events of Effect's logging functions to `LogEvent`s. */
import * as Cause from "effect/Cause"
import * as Formatter from "effect/Formatter"
import type * as Logger from "effect/Logger"
import * as References from "effect/References"
import type { FieldValue, LogEvent, LogLevel } from "./LogEvent.ts"
import type * as Repetition from "./Repetition.ts"

/**
 * The input of an Effect logger. `annotations` are captured with the event, because the annotations of the fiber
 * can change before the event is written.
 */
export interface EffectEvent
  extends Pick<Logger.Options<unknown>, "message" | "logLevel" | "cause" | "date"> {
  readonly annotations: { readonly [name: string]: unknown }
}

/** Captures an event with its annotations. */
export const capture = ({ cause, date, fiber, logLevel, message }: Logger.Options<unknown>): EffectEvent => ({
  cause,
  date,
  logLevel,
  message,
  annotations: fiber.getRef(References.CurrentLogAnnotations)
})

/**
 * Converts an event, or a summary such as `503 service_unavailable × 1,700 in 1 s`. A summary has the request
 * id of the latest event.
 */
export const toLogEvent = ({
  count,
  event,
  isMixed,
  withinMs
}: Repetition.Emission<EffectEvent>): LogEvent => {
  const [first, ...rest] = partsOf(event)
  const isSummary = count !== 1 || withinMs !== 0
  const fields: { [name: string]: FieldValue } = {}
  if (rest.length > 0) fields.error = rest.map(textOf).join(" ")
  if (event.cause.reasons.length > 0) fields.cause = Cause.pretty(event.cause)
  for (const [name, value] of Object.entries(event.annotations)) fields[name] = fieldOf(value)
  return {
    time: event.date.getTime(),
    level: levelOf(event.logLevel),
    message: isSummary ? summary(textOf(first), count, withinMs, isMixed) : textOf(first),
    fields
  }
}

/** Creates the event that reports how many log lines were lost; `time` is in epoch milliseconds. */
export const lost = (count: number, time: number): LogEvent => ({
  time,
  level: "warn",
  message: `log lines lost: ${formatCount(count)}`,
  fields: {}
})

/**
 * Returns the kind of an event. Events of the same kind differ only in annotations, such as the request id,
 * or in the numbers of an error message, such as ports.
 */
export const kindOf = (event: EffectEvent): string =>
  [event.logLevel, ...partsOf(event), ...event.cause.reasons.map(reasonOf)].map(describe).join("\n")

/**
 * Whether an event is about a key: a ban, or an administrator's action. Such events are never summarized.
 */
export const isAboutKey = (event: EffectEvent): boolean => event.annotations.key !== undefined

const partsOf = ({ message }: EffectEvent): ReadonlyArray<unknown> =>
  Array.isArray(message) ? message : [message]

const textOf = (value: unknown): string => (typeof value === "string" ? value : Formatter.format(value))

const fieldOf = (value: unknown): FieldValue =>
  typeof value === "number" || typeof value === "boolean" ? value : textOf(value)

const levelOf = (level: EffectEvent["logLevel"]): LogLevel => {
  switch (level) {
    case "Fatal":
      return "fatal"
    case "Error":
      return "error"
    case "Warn":
      return "warn"
    case "Debug":
      return "debug"
    case "Trace":
      return "trace"
    default:
      return "info"
  }
}

const reasonOf = (reason: Cause.Reason<unknown>): unknown => {
  if (Cause.isFailReason(reason)) return reason.error
  return Cause.isDieReason(reason) ? reason.defect : "interrupted"
}

/** Maximum number of nested causes, and of characters per text, that `kindOf` compares. */
const MAX_DEPTH = 4
const MAX_LENGTH = 500

const describe = (value: unknown): string => {
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

const summary = (first: string, count: number, withinMs: number, isMixed: boolean): string => {
  const total = `${formatCount(count)} in ${seconds(withinMs)}`
  return isMixed ? `events of many kinds × ${total}, the latest: ${first}` : `${first} × ${total}`
}

const formatCount = (count: number): string => count.toLocaleString("en-US")

const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`
