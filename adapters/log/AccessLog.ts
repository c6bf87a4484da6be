/** The access log: one event for each response, written at once and never summarized. */
import type { Exchange, ResponseObserver } from "../../core/service/Exchange.ts"
import type { FieldValue, LogEvent } from "./LogEvent.ts"
import type * as LogSink from "./LogSink.ts"

/** Creates an observer that writes the exchanges to `sink`; probes are omitted. */
export const observer =
  (sink: LogSink.LogSink): ResponseObserver =>
  (exchange) => {
    if (!exchange.isProbe) sink.write(() => eventOf(exchange))
  }

/** The event of an exchange; absent values are omitted. */
export const eventOf = (exchange: Exchange): LogEvent => {
  const { bodyBytes, durationMs, errorCode, keyId, method, plan, requestId, route, status } = exchange
  const fields: { [name: string]: FieldValue } = { request: requestId, method }
  if (route !== undefined) fields.route = route
  if (status !== undefined) fields.status = status
  if (errorCode !== undefined) fields.code = errorCode
  if (keyId !== undefined) fields.key = keyId
  if (plan !== undefined) fields.plan = plan
  fields.ms = Math.round(durationMs * 1000) / 1000
  fields.bytes = bodyBytes
  if (exchange.traceId !== undefined) fields.trace = exchange.traceId
  return {
    time: exchange.startedAt + durationMs,
    level: "info",
    message: status === undefined ? "client disconnected" : "response",
    fields
  }
}
