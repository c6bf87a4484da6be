/** Encodes OTLP in JSON, and corrects the output of Effect's exporters where the semantic conventions differ. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { MetricsData } from "effect/observability/OtlpMetrics"
import type { KeyValue } from "effect/observability/OtlpResource"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"
import type { TraceData } from "effect/observability/OtlpTracer"

/** The codes of a span's status. */
const UNSET = 0
const ERROR = 2

/** Encodes traces and metrics in JSON, with the corrections below. */
export const layer: Layer.Layer<OtlpSerialization.OtlpSerialization> = Layer.effect(
  OtlpSerialization.OtlpSerialization,
  Effect.map(OtlpSerialization.OtlpSerialization, (json) => ({
    ...json,
    traces: (data) => json.traces(withStatus(data)),
    metrics: (data) => json.metrics(withTypes(data))
  }))
).pipe(Layer.provide(OtlpSerialization.layerJson))

/** Sets the status of spans: "error" with an `error.type`, otherwise unset. Effect would set "ok", even for a 404. */
const withStatus = ({ resourceSpans }: TraceData): TraceData => ({
  resourceSpans: resourceSpans.map((resource) => ({
    ...resource,
    scopeSpans: resource.scopeSpans.map(({ spans }) => ({
      scope: { name: "animal-store" },
      spans: spans.map((span) => ({
        ...span,
        status: { code: span.attributes.some(({ key }) => key === "error.type") ? ERROR : UNSET }
      }))
    }))
  }))
})

interface Point {
  readonly attributes?: Array<KeyValue>
}

/** Corrects the attributes of each data point. */
const withTypes = ({ resourceMetrics }: MetricsData): MetricsData => ({
  resourceMetrics: resourceMetrics.map((resource) => ({
    ...resource,
    scopeMetrics: resource.scopeMetrics.map((scoped) => ({
      ...scoped,
      metrics: scoped.metrics.map(({ gauge, histogram, sum, ...metric }) => ({
        ...metric,
        ...(gauge && { gauge: { ...gauge, dataPoints: gauge.dataPoints.map(corrected) } }),
        ...(histogram && { histogram: { ...histogram, dataPoints: histogram.dataPoints.map(corrected) } }),
        ...(sum && { sum: { ...sum, dataPoints: sum.dataPoints.map(corrected) } })
      }))
    }))
  }))
})

/** The attributes that the conventions define as integers. */
const integers = new Set(["http.response.status_code"])

/**
 * Removes the attribute `unit`, which Effect has used as the unit of the metric. Converts integers back from text, because
 * the attributes of Effect's metrics are text.
 */
const corrected = <A extends Point>(point: A): A => ({
  ...point,
  attributes: point.attributes
    ?.filter(({ key }) => key !== "unit")
    .map(({ key, value }) => ({
      key,
      value: integers.has(key) ? { intValue: Number(value.stringValue) } : value
    }))
})
