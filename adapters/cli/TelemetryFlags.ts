/** Defines the metrics and tracing flags. */
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { ObservationOptions } from "../embed/index.ts"
import { isCollector, otlpUrlMessage, TRACE_SAMPLE } from "../embed/ObservationOptions.ts"
import * as Setting from "./Setting.ts"

const MAX_PORT = 65_535

const collector: Setting.Parse<string> = (text) =>
  isCollector(text) ? Result.succeed(text) : Result.fail(otlpUrlMessage)

const ratio: Setting.Parse<number> = (text) =>
  /^(?:0|1|0?\.[0-9]{1,9}|1\.0+)$/.test(text)
    ? Result.succeed(Number(text))
    : Result.fail("must be a number from 0 to 1")

/** `--admin-port`, `--admin-host`, `--otlp` and `--trace-sample`. */
export const flags = {
  adminPort: Setting.make(
    "admin-port",
    "PORT",
    "Serve /metrics, /livez and /readyz on this port, without a key; 0 chooses a free port. Default: off.",
    Setting.natural(MAX_PORT)
  ).pipe(Flag.optional),
  adminHost: Setting.withDefault(
    "admin-host",
    "HOST",
    "Address of the admin port.",
    Setting.text,
    "127.0.0.1"
  ),
  otlp: Setting.make(
    "otlp",
    "URL",
    "Push metrics and traces to this collector with OTLP over HTTP, such as http://127.0.0.1:4318. Default: off.",
    collector
  ).pipe(Flag.optional),
  traceSample: Setting.withDefault(
    "trace-sample",
    "RATIO",
    "Fraction of requests that are traced, from 0 to 1; if a request has a traceparent header, the header decides.",
    ratio,
    String(TRACE_SAMPLE)
  )
}

/** The parsed values of `flags`. */
export interface Values {
  readonly adminPort: Option.Option<number>
  readonly otlp: Option.Option<string>
  readonly traceSample: number
}

/** Returns the telemetry options of the store; metrics are counted only with an admin port. */
export const options = ({
  adminPort,
  otlp,
  traceSample
}: Values): Pick<ObservationOptions, "metrics" | "otlp"> => ({
  metrics: Option.isSome(adminPort),
  otlp: Option.getOrUndefined(Option.map(otlp, (url) => ({ url, traceSample })))
})
