/**
 * Applies the environment variables of the OpenTelemetry specification to the collector of `serve`. A setting of
 * `serve` has precedence over a variable; as the specification requires, an invalid variable is ignored with a warning.
 */
import * as Result from "effect/Result"
import { percentDecode } from "../../core/codec/QueryString.ts"
import type { OtlpOptions } from "../embed/ObservationOptions.ts"
import type { Host } from "./Host.ts"
import { printable } from "./Printable.ts"
import type * as ServeFlags from "./ServeFlags.ts"
import * as Setting from "./Setting.ts"
import { storeTable } from "./StoreFlags.ts"

/** The collector, `undefined` if telemetry is not pushed, and what the operator should know, a sentence each. */
export interface Resolved {
  readonly otlp: OtlpOptions | undefined
  readonly warnings: ReadonlyArray<string>
}

/** Combines the flags with the variables; fails with a message if headers were given, but no collector. */
export const resolve = (
  { headers, url, ...flags }: ServeFlags.Values["store"]["otlp"],
  env: Host["env"]
): Result.Result<Resolved, string> => {
  const warnings: Array<string> = []
  const collector = url ?? endpointOf(env, warnings)
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === "true") {
    return Result.succeed({
      otlp: undefined,
      warnings: collector === undefined ? [] : ["OTEL_SDK_DISABLED is true: no telemetry is pushed"]
    })
  }
  const hasOwnHeaders = Object.keys(headers).length > 0
  if (collector === undefined) {
    return hasOwnHeaders
      ? Result.fail(
          `${Setting.title("otlp-header")}: requires --otlp, the collector that receives the header`
        )
      : Result.succeed({ otlp: undefined, warnings })
  }
  const otlp = {
    ...flags,
    url: collector,
    headers: hasOwnHeaders ? headers : headersOf(env, warnings),
    serviceName: env.OTEL_SERVICE_NAME || pairsIn(env.OTEL_RESOURCE_ATTRIBUTES)["service.name"] || undefined
  }
  return Result.succeed({ otlp, warnings })
}

/** Variables for one kind of telemetry, which is always pushed to the same collector as the other. */
const unsupported = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"]

const endpointOf = (env: Host["env"], warnings: Array<string>): string | undefined => {
  for (const name of unsupported.filter((name) => env[name])) {
    warnings.push(`${name} is ignored: set OTEL_EXPORTER_OTLP_ENDPOINT, for both metrics and traces`)
  }
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: protocol } = env
  if (!endpoint) return undefined
  if (protocol === "http/protobuf") {
    warnings.push(
      "OTEL_EXPORTER_OTLP_PROTOCOL is http/protobuf: telemetry is pushed as http/json, which collectors accept at the same address"
    )
  } else if (protocol && protocol !== "http/json") {
    warnings.push(
      `OTEL_EXPORTER_OTLP_PROTOCOL is ${printable(protocol)}, which is not supported: no telemetry is pushed; ` +
        "set it to http/json, and OTEL_EXPORTER_OTLP_ENDPOINT to the HTTP port of the collector, usually 4318"
    )
    return undefined
  }
  const { url } = storeTable.otlp.fields
  if (url.isValid(endpoint)) return endpoint
  warnings.push(`OTEL_EXPORTER_OTLP_ENDPOINT ${url.reasonFor(endpoint)}: no telemetry is pushed`)
  return undefined
}

/** Reads the form NAME=VALUE,NAME=VALUE, with percent-encoding. What cannot be read gets the name "", or no value. */
const pairsIn = (text = ""): Readonly<Record<string, string | undefined>> => {
  const pairs = text.split(",").filter((pair) => pair.trim() !== "")
  return Object.fromEntries(
    pairs.map((pair): [name: string, value: string | undefined] => {
      const [, name = "", value = ""] = /^([^=]*)=(.*)$/s.exec(pair) ?? []
      return [percentDecode(name.trim()) ?? "", percentDecode(value.trim())]
    })
  )
}

const headersOf = (env: Host["env"], warnings: Array<string>): OtlpOptions["headers"] => {
  const headers = pairsIn(env.OTEL_EXPORTER_OTLP_HEADERS)
  if (storeTable.otlp.fields.headers.isValid(headers)) return headers
  warnings.push(
    "OTEL_EXPORTER_OTLP_HEADERS must have the form NAME=VALUE,NAME=VALUE with percent-encoded values: these headers are not sent"
  )
  return {}
}
