/** Defines the observation options of a store: the log, the access log, metrics and traces. */
import * as Result from "effect/Result"
import * as Options from "../../core/options/Options.ts"
import * as OptionTable from "../../core/options/OptionTable.ts"
import type * as Parse from "../../core/options/Parse.ts"
import * as Rule from "../../core/options/Rule.ts"
import * as TextForm from "../../core/options/TextForm.ts"
import type { Exchange } from "../../core/service/Exchange.ts"
import { type LogEvent, type LogThreshold, thresholds } from "../log/LogEvent.ts"
import { formats, type LogFormatName } from "../log/LogFormat.ts"

/** The collector that receives traces and metrics with OTLP over HTTP, encoded as JSON. */
export interface OtlpOptions {
  /** `/v1/traces` and `/v1/metrics` are appended. */
  readonly url: string
  readonly headers?: { readonly [name: string]: string } | undefined
  readonly traceSample?: number | undefined
  readonly intervalMs?: number | undefined
}

export interface ObservationOptions {
  /**
   * The first line of a kind is logged immediately, repetitions as one summary per second. If the function throws or its
   * promise rejects, the lost lines are counted, and the count precedes the next line. The function must not block.
   */
  readonly log?: ((line: string, event: LogEvent) => void) | undefined
  readonly logFormat?: LogFormatName | undefined
  readonly logLevel?: LogThreshold | undefined
  readonly accessLog?: boolean | undefined
  /** The function must not block; its errors are ignored. */
  readonly onResponse?: ((exchange: Exchange) => void) | undefined
  readonly metrics?: boolean | undefined
  readonly otlp?: OtlpOptions | undefined
}

/** Whether a URL is valid for a collector. Credentials belong in headers, which messages never contain. */
const isCollector = (url: string): boolean => /^https?:\/\/[^@?#\s]+$/.test(url) && URL.canParse(url)

const COLLECTOR = "must be an http(s) URL without credentials and query, such as http://127.0.0.1:4318"

const collector = Rule.written(
  Rule.textWhere(isCollector, COLLECTOR),
  TextForm.one("URL", (text) => (isCollector(text) ? Result.succeed(text) : Result.fail(COLLECTOR)))
)

const isName = (text: string): boolean => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text)

/** Whether a string is a valid header value (RFC 9110 §5.5). An error of `fetch` would contain an invalid token. */
const isFieldValue = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(text)

const headers = Rule.make(
  (value): value is { readonly [name: string]: string } =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(value).every(
      ([name, text]) => isName(name) && typeof text === "string" && isFieldValue(text)
    ),
  "must be an object of valid header names and values"
)

const header: Parse.Parse<readonly [name: string, value: string]> = (text) => {
  const [, name = "", value = ""] = /^([^:]*):[ \t]*(.*)$/s.exec(text) ?? []
  return isName(name) && isFieldValue(value)
    ? Result.succeed([name, value])
    : Result.fail("must be the name of a header, a colon and a value, such as 'Authorization: Bearer TOKEN'")
}

/** Each field of `otlp` with its rule, default, flag and meaning. */
const otlpTable = {
  url: OptionTable.flag(collector, {
    summary:
      "Push metrics and traces to this collector with OTLP over HTTP, such as `http://127.0.0.1:4318`.",
    default: undefined,
    defaultText: "off",
    flag: "otlp"
  }),
  headers: OptionTable.flag(
    Rule.written(headers, TextForm.list("'NAME: VALUE'", "line breaks", header, Object.fromEntries)),
    {
      summary: "Headers that each export sends, such as `Authorization`.",
      default: {},
      defaultText: "none",
      flag: "otlp-header",
      variable: "ANIMAL_STORE_OTLP_HEADERS",
      isSecret: true
    }
  ),
  traceSample: OptionTable.flag(Rule.fraction, {
    summary:
      "Fraction of requests that are traced, from 0 to 1; if a request has a `traceparent` header, the header decides.",
    default: 0.1,
    flag: "trace-sample"
  }),
  intervalMs: OptionTable.flag(Rule.milliseconds({ min: 100, max: 3_600_000 }), {
    summary: "Time between two exports.",
    default: 10_000,
    flag: "otlp-interval"
  })
} satisfies OptionTable.OptionTable<Partial<OtlpOptions>>

const otlpFields = Options.partial<OtlpOptions>(otlpTable)

const otlpRule: Rule.Rule<OtlpOptions> = {
  isValid: (value): value is OtlpOptions => otlpFields.isValid(value) && value.url !== undefined,
  reasonFor: (value) => (otlpFields.isValid(value) ? "must have the field url" : otlpFields.reasonFor(value))
}

/** Each option with its rule, default, flag and meaning. */
export const table = {
  log: OptionTable.programOnly(Rule.callback<NonNullable<ObservationOptions["log"]>>(), {
    summary: "Receives each log line and its event.",
    default: undefined,
    defaultText: "standard error",
    noFlag: "a function; `serve` logs to standard error"
  }),
  logFormat: OptionTable.flag(Rule.oneOf(formats), {
    summary: "Format of log lines: `text` (logfmt) or `json`.",
    default: "text",
    flag: "log-format"
  }),
  logLevel: OptionTable.flag(Rule.oneOf(thresholds), {
    summary: "Minimum level to log; `none` also silences the access log.",
    default: "info",
    flag: "log-level"
  }),
  accessLog: OptionTable.flag(Rule.boolean, {
    summary: "Log a line for each response, except those to health checks.",
    default: false,
    flag: "access-log"
  }),
  onResponse: OptionTable.programOnly(Rule.callback<NonNullable<ObservationOptions["onResponse"]>>(), {
    summary: "Called after each response, or if the client disconnects before it.",
    default: undefined,
    defaultText: "none",
    noFlag: "a function"
  }),
  metrics: OptionTable.programOnly(Rule.boolean, {
    summary: "Collect metrics, for `store.metrics()`.",
    default: false,
    noFlag: "on with `--admin-port`"
  }),
  otlp: OptionTable.group(otlpRule, otlpTable, {
    summary: "Push metrics and traces to a collector.",
    default: undefined,
    defaultText: "off"
  })
} satisfies OptionTable.OptionTable<ObservationOptions>

/** The OTLP options after defaults are applied. */
export type ResolvedOtlp = { readonly [name in keyof OtlpOptions]-?: Exclude<OtlpOptions[name], undefined> }

/** Applies the defaults to the fields of `otlp`. */
export const resolveOtlp = (given: OtlpOptions): ResolvedOtlp => ({
  ...OptionTable.defaults<OptionTable.Complete<typeof otlpTable>>(otlpTable),
  ...Options.pick<Partial<OtlpOptions>>(otlpTable, given),
  url: given.url
})
