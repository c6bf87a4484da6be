import * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Snapshot from "./Snapshot.ts"

const attributes = fc.dictionary(fc.constantFrom("plan", "route"), fc.string(), { maxKeys: 2 })

const update = fc.record({
  type: fc.constantFrom("counter", "gauge", "histogram"),
  attributes,
  value: fc.double({ min: 0, max: 12, noNaN: true })
})

/** Returns the context of a process that has measured these values. */
const measured = (updates: ReadonlyArray<typeof update extends fc.Arbitrary<infer A> ? A : never>) => {
  const context = Context.make(Metric.MetricRegistry, new Map())
  for (const { attributes, type, value } of updates) {
    if (type === "counter") Metric.counter("c", { attributes }).updateUnsafe(value, context)
    else if (type === "gauge") Metric.gauge("g", { attributes }).updateUnsafe(value, context)
    else Metric.histogram("h", { attributes, boundaries: [1, 10] }).updateUnsafe(value, context)
  }
  return context
}

const all = () => true

/** Returns the values that count, by series; those of gauges differ by their order. */
const counts = (snapshot: Snapshot.Snapshot) =>
  new Map(
    snapshot
      .filter(({ type }) => type !== "Gauge")
      .map(({ attributes, buckets, id, value }) => [
        JSON.stringify([id, Object.entries(attributes).sort()]),
        [id === "h" ? value : value.toFixed(6), buckets]
      ])
  )

describe("Snapshot", () => {
  it("is formatted as its process formats its metrics, also after it was sent as JSON", () => {
    fc.assert(
      fc.property(fc.array(update), (updates) => {
        const context = measured(updates)
        const sent = JSON.parse(JSON.stringify(Snapshot.read(context, all)))
        expect(Snapshot.format(sent)).toBe(PrometheusMetrics.formatUnsafe(context))
      })
    )
  })

  it("has the counts of two processes after both were added, and of one after the other was subtracted", () => {
    fc.assert(
      fc.property(fc.array(update), fc.array(update), (first, second) => {
        const [one, other, both] = [first, second, [...first, ...second]].map((updates) =>
          Snapshot.read(measured(updates), all)
        )
        if (one === undefined || other === undefined || both === undefined) throw new Error("no snapshots")
        expect(counts(Snapshot.add(one, other))).toEqual(counts(both))
        const rest = counts(Snapshot.subtract(both, other))
        for (const [key, value] of counts(one)) expect(rest.get(key)).toEqual(value)
      })
    )
  })

  it("reads only the metrics that are wanted", () => {
    const context = measured([{ type: "counter", attributes: {}, value: 1 }])
    Metric.registerUnsafe(Metric.gauge("g"), context, {
      get: () => expect.unreachable(),
      update: () => undefined,
      modify: () => undefined
    })
    expect(Snapshot.read(context, (id) => id !== "g").map(({ id }) => id)).toEqual(["c"])
  })
})
