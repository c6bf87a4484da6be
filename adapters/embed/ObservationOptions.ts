/** Defines the observation options of a store: the log, the access log, metrics and traces. */
import * as Result from "effect/Result"
import * as Options from "../../core/options/Options.ts"
import * as OptionTable from "../../core/options/OptionTable.ts"
import * as Rule from "../../core/options/Rule.ts"
import type { Exchange } from "../../core/service/Exchange.ts"
import { type LogEvent, type LogThreshold, thresholds } from "../log/LogEvent.ts"
import { formats, type LogFormatName } from "../log/LogFormat.ts"

/** The collector that receives traces and metrics with OTLP over HTTP, encoded as JSON. */
export interface OtlpOptions {
  /**
   * Push metrics and traces to this collector with OTLP over HTTP, such as `http://127.0.0.1:4318`. The URL has no
   * credentials and no query; `/v1/traces` and `/v1/metrics` are appended, or replace either at the end of the URL.
   */
  readonly url: string
  /** Headers that each export sends, such as `Authorization: Bearer TOKEN`. */
  readonly headers?: { readonly [name: string]: string } | undefined
  /**
   * Fraction of requests that are traced, from 0 to 1; if a request has a `traceparent` header, the header decides. 0.1
   * by default.
   */
  readonly traceSample?: number | undefined
  /** The name of this service in metrics and traces (`service.name`); `animal-store` by default. */
  readonly serviceName?: string | undefined
  /** Time between two exports. In milliseconds, 100 or more; 10,000 by default. */
  readonly intervalMs?: number | undefined
}

export interface ObservationOptions {
  /**
   * Receives each log line and its event; by default, lines are written to standard error. The first line of a kind is
   * logged immediately, repetitions as one summary per second. If the function throws or its promise rejects, the lost
   * lines are counted, and the count precedes the next line. The function must not block.
   */
  readonly log?: ((line: string, event: LogEvent) => void) | undefined
  /** Format of log lines: `text` (logfmt) or `json`. */
  readonly logFormat?: LogFormatName | undefined
  /** Minimum level to log; `none` also silences the access log. */
  readonly logLevel?: LogThreshold | undefined
  /** Log a line for each response, except those to health checks and pages. `Exchange.isProbe` is true for these. */
  readonly accessLog?: boolean | undefined
  /** Called after each response, or if the client disconnects before it. Must not block; its errors are ignored. */
  readonly onResponse?: ((exchange: Exchange) => void) | undefined
  /** Collect metrics, for `store.metrics()`. */
  readonly metrics?: boolean | undefined
  /** Push metrics and traces to a collector. */
  readonly otlp?: OtlpOptions | undefined
}

/** Whether a URL is valid for a collector. Credentials belong in headers, which messages never contain. */
const isCollector = (url: string): boolean => /^https?:\/\/[^@?#\s]+$/.test(url) && URL.canParse(url)

const COLLECTOR = "must be an http(s) URL without credentials and query, such as http://127.0.0.1:4318"

// Checked as text too, because the store's error would not name the flag.
const collector = Rule.readable(Rule.textWhere(isCollector, COLLECTOR), "URL", (text) => text)

const isName = (text: string): boolean => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text)

/** Whether a string is a valid header value (RFC 9110 §5.5). An error of `fetch` would contain an invalid token. */
const isFieldValue = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(text)

const headersRule = Rule.make(
  (value): value is { readonly [name: string]: string } =>
    typeof value === "object" &&
    value !== null &&
    // The entries of a map or of `Headers` would not be checked.
    !(Symbol.iterator in value) &&
    Object.entries(value).every(
      ([name, text]) => isName(name) && typeof text === "string" && isFieldValue(text)
    ),
  "must be an object of valid header names and values"
)

const parseHeader: Rule.Parse<readonly [name: string, value: string]> = (text) => {
  const [, name = "", value = ""] = /^([^:]*):[ \t]*(.*)$/s.exec(text) ?? []
  return isName(name) && isFieldValue(value)
    ? Result.succeed([name, value])
    : Result.fail("must be the name of a header, a colon and a value, such as 'Authorization: Bearer TOKEN'")
}

const headers = {
  ...headersRule,
  ...Rule.listForm("'NAME: VALUE'", "line breaks", parseHeader, Object.fromEntries<string>)
}

const nonEmpty = Rule.textWhere((text) => text !== "", "must be a string that is not empty")

/** The rule, the default and the flag of each field of `otlp`. */
const otlpTable = {
  // Secret, because a rejected URL may contain credentials.
  url: OptionTable.flag("otlp", collector, undefined, { defaultText: "off", isSecret: true }),
  headers: OptionTable.flag("otlp-header", headers, {}, { isSecret: true }),
  traceSample: OptionTable.flag("trace-sample", Rule.fraction, 0.1),
  serviceName: OptionTable.programOnly(nonEmpty, "animal-store", "`serve` reads `OTEL_SERVICE_NAME`"),
  intervalMs: OptionTable.flag("otlp-interval", Rule.milliseconds({ min: 100, max: 3_600_000 }), 10_000)
} satisfies OptionTable.OptionTable<Partial<OtlpOptions>>

const otlpFields = Options.partial<OtlpOptions>(otlpTable)

const otlp: OptionTable.ObjectOption<OtlpOptions, typeof otlpTable> = {
  isValid: (value): value is OtlpOptions => otlpFields.isValid(value) && value.url !== undefined,
  reasonFor: (value) => (otlpFields.isValid(value) ? "must have the field url" : otlpFields.reasonFor(value)),
  default: undefined,
  fields: otlpTable
}

/** The rule, the default and the flag of each option. */
export const table = {
  log: OptionTable.programOnly(
    Rule.callback<NonNullable<ObservationOptions["log"]>>(),
    undefined,
    "`serve` logs to standard error"
  ),
  logFormat: OptionTable.flag("log-format", Rule.oneOf(formats), "text"),
  logLevel: OptionTable.flag("log-level", Rule.oneOf(thresholds), "info"),
  accessLog: OptionTable.flag("access-log", Rule.boolean, false),
  onResponse: OptionTable.programOnly(
    Rule.callback<NonNullable<ObservationOptions["onResponse"]>>(),
    undefined,
    "`serve` runs no code of its operator"
  ),
  metrics: OptionTable.programOnly(Rule.boolean, false, "on with `--admin-port`"),
  otlp
} satisfies OptionTable.OptionTable<ObservationOptions>

/** The OTLP options after defaults are applied. */
export type ResolvedOtlp = { readonly [name in keyof OtlpOptions]-?: Exclude<OtlpOptions[name], undefined> }

/** Applies the defaults to the fields of `otlp`. */
export const resolveOtlp = (given: OtlpOptions): ResolvedOtlp => ({
  ...OptionTable.defaults<OptionTable.Complete<typeof otlpTable>>(otlpTable),
  ...Options.pick<Partial<OtlpOptions>>(otlpTable, given),
  url: given.url
})
