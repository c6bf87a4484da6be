/** Writes the access log: one event for each response or disconnected client, never summarized. */
import type { Exchange, ResponseObserver } from "../../core/service/Exchange.ts"
import type { FieldValue, LogEvent } from "./LogEvent.ts"
import type * as LogSink from "./LogSink.ts"

/** Creates an observer that writes each exchange to `sink`, except probes (`Exchange.isProbe`). */
export const observer =
  (sink: LogSink.LogSink): ResponseObserver =>
  (exchange) => {
    if (!exchange.isProbe) sink.write(() => eventOf(exchange))
  }

/** Converts an exchange to an event; absent values are omitted. */
const eventOf = (exchange: Exchange): LogEvent => {
  const { bodyBytes, clientRequestId, durationMs, errorCode, keyId, method } = exchange
  const { network, plan, requestId, route, status, unknownPath } = exchange
  const fields: { [name: string]: FieldValue } = { request: requestId }
  if (clientRequestId !== undefined) fields.clientRequest = clientRequestId
  if (network !== undefined) fields.network = network
  fields.method = method
  if (route !== undefined) fields.route = route
  if (unknownPath !== undefined) fields.path = unknownPath
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
