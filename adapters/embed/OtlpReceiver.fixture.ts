/** Runs a small OTLP collector, which decodes the JSON that a store pushes over HTTP. */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { json } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import * as Schema from "effect/Schema"
import { onTestFinished } from "vitest"

const Value = Schema.Struct({
  stringValue: Schema.optional(Schema.String),
  intValue: Schema.optional(Schema.Unknown),
  doubleValue: Schema.optional(Schema.Number)
})
const Attributes = Schema.Array(Schema.Struct({ key: Schema.String, value: Value }))

const Span = Schema.Struct({
  traceId: Schema.String,
  spanId: Schema.String,
  parentSpanId: Schema.optional(Schema.String),
  name: Schema.String,
  kind: Schema.Number,
  startTimeUnixNano: Schema.String,
  endTimeUnixNano: Schema.String,
  attributes: Attributes,
  status: Schema.Struct({ code: Schema.Number })
})
const Traces = Schema.Struct({
  resourceSpans: Schema.Array(
    Schema.Struct({
      resource: Schema.Struct({ attributes: Attributes }),
      scopeSpans: Schema.Array(Schema.Struct({ spans: Schema.Array(Span) }))
    })
  )
})

const Point = Schema.Struct({
  attributes: Attributes,
  count: Schema.optional(Schema.Number),
  asDouble: Schema.optional(Schema.Number),
  bucketCounts: Schema.optional(Schema.Array(Schema.Number)),
  explicitBounds: Schema.optional(Schema.Array(Schema.Number))
})
const Points = Schema.optional(Schema.Struct({ dataPoints: Schema.Array(Point) }))
const Metrics = Schema.Struct({
  resourceMetrics: Schema.Array(
    Schema.Struct({
      scopeMetrics: Schema.Array(
        Schema.Struct({
          metrics: Schema.Array(
            Schema.Struct({
              name: Schema.String,
              unit: Schema.String,
              description: Schema.String,
              sum: Points,
              gauge: Points,
              histogram: Points
            })
          )
        })
      )
    })
  )
})

export type Span = typeof Span.Type
export type Metric =
  (typeof Metrics.Type)["resourceMetrics"][number]["scopeMetrics"][number]["metrics"][number]

const decodeTraces = Schema.decodeUnknownSync(Traces)
const decodeMetrics = Schema.decodeUnknownSync(Metrics)

/** Returns attributes by name, as strings or numbers. */
export const attributesOf = ({ attributes }: { readonly attributes: typeof Attributes.Type }) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.doubleValue ?? Number(value.intValue)
    ])
  )

export interface Receiver {
  readonly url: string
  readonly spans: Array<Span>
  /** The metrics of the latest export. */
  readonly metrics: () => ReadonlyArray<Metric>
  readonly headers: Array<Http.IncomingHttpHeaders>
  /** The path of each export. */
  readonly paths: Array<string>
  /** Resource attributes of the latest traces. */
  readonly resource: () => { readonly [name: string]: unknown }
  /** Resource attributes of all traces. */
  readonly resources: Array<{ readonly [name: string]: unknown }>
  readonly waitUntil: (condition: () => boolean) => Promise<void>
}

/** Starts a collector that stops at the end of the test. */
export const start = async (): Promise<Receiver> => {
  const spans: Array<Span> = []
  const headers: Array<Http.IncomingHttpHeaders> = []
  const paths: Array<string> = []
  let metrics: ReadonlyArray<Metric> = []
  const resources: Array<{ readonly [name: string]: unknown }> = []
  const server = Http.createServer(async (request, response) => {
    const body: unknown = await json(request)
    headers.push(request.headers)
    paths.push(request.url ?? "")
    if (request.url?.endsWith("/v1/traces")) {
      for (const { resource: from, scopeSpans } of decodeTraces(body).resourceSpans) {
        resources.push(attributesOf(from))
        spans.push(...scopeSpans.flatMap((scope) => scope.spans))
      }
    } else if (request.url?.endsWith("/v1/metrics")) {
      metrics = decodeMetrics(body).resourceMetrics.flatMap(({ scopeMetrics }) =>
        scopeMetrics.flatMap((scope) => scope.metrics)
      )
    }
    response.writeHead(200, { "Content-Type": "application/json" }).end("{}")
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    headers,
    paths,
    metrics: () => metrics,
    resource: () => resources.at(-1) ?? {},
    resources,
    waitUntil: async (condition) => {
      const deadline = performance.now() + 60_000
      while (!condition()) {
        if (performance.now() > deadline) throw new Error("the store has not pushed what was expected")
        await sleep(20)
      }
    }
  }
}

/** Listens on a free port until the test ends, and returns the port. */
export const listen = async (server: Http.Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port // the address of a TCP server
}
