/** Defines the observation options of a store: the log, the access log, metrics and traces. */
import * as Options from "../../core/options/Options.ts"
import * as Rule from "../../core/options/Rule.ts"
import type { Exchange } from "../../core/service/Exchange.ts"
import { type LogEvent, type LogThreshold, thresholds } from "../log/LogEvent.ts"
import { formats, type LogFormatName } from "../log/LogFormat.ts"

/** The collector that receives traces and metrics with OTLP over HTTP, encoded as JSON. */
export interface OtlpOptions {
  /**
   * Base URL of the collector, without credentials and query, such as `http://127.0.0.1:4318`; `/v1/traces` and
   * `/v1/metrics` are appended.
   */
  readonly url: string
  /** Headers that each export sends, such as `Authorization`. */
  readonly headers?: { readonly [name: string]: string } | undefined
  /**
   * Probability, from 0 to 1, with which a request without a `traceparent` header is traced; 0.1 by default. With the
   * header, its sampled flag decides.
   */
  readonly traceSample?: number | undefined
  /** Milliseconds between two exports, 100 or more; 10,000 by default. */
  readonly intervalMs?: number | undefined
}

export interface ObservationOptions {
  /**
   * Receives each log line and its event; by default, lines are written to standard error. The first line of a kind is
   * logged immediately, repetitions as one summary per second. If the function throws or its promise rejects, the lost
   * lines are counted, and the count precedes the next line. The function must not block.
   */
  readonly log?: ((line: string, event: LogEvent) => void) | undefined
  /** Format of the lines: `text` (logfmt, the default) or `json`. */
  readonly logFormat?: LogFormatName | undefined
  /** Minimum level to log; `info` by default. `none` also silences the access log. */
  readonly logLevel?: LogThreshold | undefined
  /** Whether each response is logged, except responses to probes (`Exchange.isProbe`); off by default. */
  readonly accessLog?: boolean | undefined
  /** Called after each response, or if the client disconnects before it. Must not block; its errors are ignored. */
  readonly onResponse?: ((exchange: Exchange) => void) | undefined
  /** Whether the store collects metrics, for `store.metrics()`; off by default. */
  readonly metrics?: boolean | undefined
  /** Pushes metrics and traces to a collector; off by default. */
  readonly otlp?: OtlpOptions | undefined
}

/** The OTLP options after defaults are applied. */
export type ResolvedOtlp = { readonly [name in keyof OtlpOptions]-?: Exclude<OtlpOptions[name], undefined> }

/** The options that have defaults, after the defaults are applied. */
export interface Resolved {
  readonly format: LogFormatName
  readonly threshold: LogThreshold
  readonly otlp: ResolvedOtlp | undefined
}

/** The default probability with which a request is traced. */
export const TRACE_SAMPLE = 0.1

const INTERVAL_MS = 10_000
const MIN_INTERVAL_MS = 100
const MAX_INTERVAL_MS = 3_600_000

/** Applies the defaults to the options. */
export const resolve = ({ logFormat = "text", logLevel = "info", otlp }: ObservationOptions): Resolved => ({
  format: logFormat,
  threshold: logLevel,
  otlp: otlp && {
    url: otlp.url,
    headers: otlp.headers ?? {},
    intervalMs: otlp.intervalMs ?? INTERVAL_MS,
    traceSample: otlp.traceSample ?? TRACE_SAMPLE
  }
})

/** The error message for an invalid collector URL. */
export const otlpUrlMessage =
  "must be an http(s) URL without credentials and query, such as http://127.0.0.1:4318"

/** Whether a URL is valid for a collector. Credentials belong in headers, which messages never contain. */
export const isCollector = (url: string): boolean => /^https?:\/\/[^@?#\s]+$/.test(url) && URL.canParse(url)

const isHeaders = (value: unknown): value is { readonly [name: string]: string } =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.entries(value).every(
    ([name, text]) =>
      /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && typeof text === "string" && isFieldValue(text)
  )

/** Whether a string is a valid header value (RFC 9110 §5.5). An error of `fetch` would contain an invalid token. */
const isFieldValue = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(text)

const otlpFields = Options.partial<OtlpOptions>({
  url: Rule.textWhere(isCollector, otlpUrlMessage),
  headers: Rule.make(isHeaders, "must be an object of valid header names and values"),
  traceSample: Rule.make(
    (value): value is number => typeof value === "number" && value >= 0 && value <= 1,
    "must be a number from 0 to 1"
  ),
  intervalMs: Rule.integer({ min: MIN_INTERVAL_MS, max: MAX_INTERVAL_MS })
})

const otlpRule: Rule.Rule<OtlpOptions> = {
  isValid: (value): value is OtlpOptions => otlpFields.isValid(value) && value.url !== undefined,
  reasonFor: (value) => (otlpFields.isValid(value) ? "must have the field url" : otlpFields.reasonFor(value))
}

/** The rule of each option. */
export const rules: Options.Rules<ObservationOptions> = {
  log: Rule.callback(),
  logFormat: Rule.oneOf(formats),
  logLevel: Rule.oneOf(thresholds),
  accessLog: Rule.boolean,
  onResponse: Rule.callback(),
  metrics: Rule.boolean,
  otlp: otlpRule
}
