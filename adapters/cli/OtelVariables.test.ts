import * as fs from "node:fs"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { read } from "../../docs/Pages.fixture.ts"
import * as Receiver from "../embed/OtlpReceiver.fixture.ts"
import { run, serveJson } from "./CommandLine.fixture.ts"
import * as OtelVariables from "./OtelVariables.ts"

const flags = { url: undefined, headers: {}, traceSample: 0.1, intervalMs: 10_000 }
const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" }

const resolve = (given: Partial<typeof flags> | { readonly url: string }, env: Record<string, string>) =>
  Result.getOrThrow(OtelVariables.resolve({ ...flags, ...given }, env))

describe("the variables of OpenTelemetry", () => {
  it("set the collector, its headers and the name of the service where serve has no setting", () => {
    const env = {
      ...endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer%20a%2Cb, x-team = shop==,",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_SERVICE_NAME: "zoo"
    }
    const fromVariables = {
      ...flags,
      url: "http://collector:4318",
      headers: { Authorization: "Bearer a,b", "x-team": "shop==" },
      serviceName: "zoo"
    }
    expect(resolve({}, env)).toEqual({ otlp: fromVariables, warnings: [] })
    const own = { url: "http://own:1", headers: { a: "b" } }
    expect(resolve(own, env)).toEqual({ otlp: { ...fromVariables, ...own }, warnings: [] })
    expect(resolve({}, {})).toEqual({ otlp: undefined, warnings: [] })
    const empty = Object.fromEntries(Object.keys(env).map((name) => [name, ""]))
    expect(resolve({}, empty)).toEqual({ otlp: undefined, warnings: [] })
  })

  it("set the name of the service in OTEL_RESOURCE_ATTRIBUTES too, below OTEL_SERVICE_NAME", () => {
    const env = { ...endpoint, OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test,service.name=my%20zoo" }
    expect(resolve({}, env).otlp?.serviceName).toBe("my zoo")
    expect(resolve({}, { ...env, OTEL_SERVICE_NAME: "zoo" }).otlp?.serviceName).toBe("zoo")
    expect(resolve({}, { ...env, OTEL_RESOURCE_ATTRIBUTES: "a=b" }).otlp?.serviceName).toBeUndefined()
  })

  it("contain any headers in percent-encoding", () => {
    const name = fc.stringMatching(/^[a-z-]{1,9}$/)
    const value = fc.stringMatching(/^[!-~](?:[ -~]{0,20}[!-~])?$/)
    fc.assert(
      fc.property(fc.dictionary(name, value, { noNullPrototype: true }), (headers) => {
        const text = Object.entries(headers)
          .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
          .join(",")
        const { otlp, warnings } = resolve({}, { ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: text })
        expect([otlp?.headers, warnings]).toEqual([headers, []])
      })
    )
  })

  it.each([
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" },
      true,
      /^OTEL_EXPORTER_OTLP_PROTOCOL is http\/protobuf: .* as http\/json/
    ],
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
      false,
      /^OTEL_EXPORTER_OTLP_PROTOCOL is grpc, .*: no telemetry is pushed; set/
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" },
      false,
      /^OTEL_EXPORTER_OTLP_ENDPOINT must be .*: no telemetry is pushed$/
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: "key:secret" },
      true,
      /^OTEL_EXPORTER_OTLP_HEADERS must have .*: these headers are not sent$/
    ],
    [{ OTEL_EXPORTER_OTLP_HEADERS: "key=%zz" }, true, /^OTEL_EXPORTER_OTLP_HEADERS must have/],
    [
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://a" },
      true,
      /^OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is ignored/
    ],
    [{ OTEL_SDK_DISABLED: "TRUE" }, false, /^OTEL_SDK_DISABLED is true: no telemetry is pushed$/]
  ])("cause one warning without a secret for %j", (env, isPushed, warning) => {
    const { otlp, warnings } = resolve({}, { ...endpoint, ...env } as Record<string, string>)
    expect(otlp !== undefined).toBe(isPushed)
    expect(warnings).toEqual([expect.stringMatching(warning)])
    expect(warnings[0]).not.toContain("secret")
  })

  it("are those that the documentation lists", () => {
    const names = (text: string) => new Set(text.match(/OTEL_[A-Z_]+/g))
    const source = fs.readFileSync(new URL("./OtelVariables.ts", import.meta.url), "utf8")
    const [, table = ""] = read("docs/observability.md").split(/<!-- otel(?:: end)? -->/)
    // Effect's exporters read the attributes.
    expect(names(table)).toEqual(names(`${source} OTEL_RESOURCE_ATTRIBUTES`))
  })

  it("turn off a collector that is set by a flag only with OTEL_SDK_DISABLED", () => {
    const own = { url: "http://own:1" }
    expect(resolve(own, { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).toMatchObject({
      otlp: own,
      warnings: []
    })
    expect(resolve(own, { OTEL_SDK_DISABLED: "true" }).otlp).toBeUndefined()
    expect(resolve(own, { OTEL_SDK_DISABLED: "yes" }).otlp).toMatchObject(own)
  })
})

describe("serve", () => {
  it("pushes to the collector of OTEL_EXPORTER_OTLP_ENDPOINT and prints warnings once, in the log format", async () => {
    const receiver = await Receiver.start()
    const { stop } = await serveJson(["--log-format", "json"], {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/v1/traces`,
      OTEL_EXPORTER_OTLP_HEADERS: "x-team=shop%20a",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf"
    })
    const { stderr } = await stop()
    expect(receiver.paths).toContain("/v1/metrics")
    expect(receiver.headers[0]).toMatchObject({ "x-team": "shop a", "content-type": "application/json" })
    expect(stderr.split("\n").filter((line) => line.includes("http/protobuf"))).toEqual([
      expect.stringMatching(/^\{"time":.*"level":"warn","message":"OTEL_EXPORTER_OTLP_PROTOCOL is/)
    ])
  })

  it("fails if headers are given without a collector, instead of ignoring them", async () => {
    const header = ["serve", "--otlp-header", "Authorization: Bearer secret"]
    const { code, stderr } = await run(header, { ANIMAL_STORE_DATABASE: "memory:" })
    expect([code, stderr]).toEqual([
      1,
      "animal-store: --otlp-header (ANIMAL_STORE_OTLP_HEADER): requires --otlp, the collector that receives the header\n"
    ])
  })
})
