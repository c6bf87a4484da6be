import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Snapshot from "../../telemetry/Snapshot.ts"
import * as MetricsSum from "./MetricsSum.ts"

const snapshotOf = (counted: number, seconds: number, active: number, cpu: number): Snapshot.Snapshot => {
  const none = { description: undefined, attributes: {}, sum: 0, buckets: [] }
  return [
    { ...none, id: "requests", description: "Requests, by plan.", type: "Counter", value: counted },
    {
      ...{ id: "seconds", description: undefined, type: "Histogram", attributes: { route: "a b" } },
      ...{ value: counted, sum: seconds, buckets: [[1, counted]] }
    },
    { ...none, id: "active", type: "Gauge", value: active },
    { ...none, id: "process.cpu.time", type: "Counter", value: cpu }
  ]
}

const seriesIn = (snapshot: Snapshot.Snapshot, id: string) => snapshot.filter((series) => series.id === id)

const places = 3

const event = fc.oneof(
  fc.record({
    place: fc.integer({ min: 1, max: places }),
    kind: fc.constant("counted" as const),
    increment: fc.nat(100),
    seconds: fc.double({ min: 0, max: 10, noNaN: true })
  }),
  fc.record({ place: fc.integer({ min: 1, max: places }), kind: fc.constant("exited" as const) })
)

describe("MetricsSum", () => {
  it("sums the counters of all workers; no sum decreases when a worker exits", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        let sum = MetricsSum.empty
        const present = new Map<number, { counted: number; seconds: number }>()
        let total = 0
        let previous = { counted: 0, seconds: 0 }
        for (const step of events) {
          const worker = present.get(step.place) ?? { counted: 0, seconds: 0 }
          if (step.kind === "exited") {
            sum = MetricsSum.recordExit(sum, step.place)
            present.delete(step.place)
          } else {
            const counted = worker.counted + step.increment
            const seconds = worker.seconds + step.seconds
            present.set(step.place, { counted, seconds })
            total += step.increment
            sum = MetricsSum.recordPage(sum, step.place, snapshotOf(counted, seconds, 1, 2))
          }
          const page = MetricsSum.page(sum)
          const counted = seriesIn(page, "requests")[0]?.value ?? 0
          const seconds = seriesIn(page, "seconds")[0]?.sum ?? 0
          expect(counted).toBe(total)
          expect(seconds).toBeGreaterThanOrEqual(previous.seconds)
          previous = { counted, seconds }
          // Gauges and process metrics include running workers only.
          expect(seriesIn(page, "active")[0]?.value ?? 0).toBe(present.size)
          expect(seriesIn(page, "process.cpu.time").map(({ attributes }) => attributes)).toEqual(
            [...present.keys()].sort().map((place) => ({ worker: String(place) }))
          )
        }
      })
    )
  })

  it("adds the buckets, sums and counts of histograms", () => {
    const first = MetricsSum.recordPage(MetricsSum.empty, 1, snapshotOf(3, 0.5, 2, 1))
    const both = MetricsSum.recordPage(first, 2, snapshotOf(4, 0.25, 1, 7))
    expect(Snapshot.format(MetricsSum.page(both))).toBe(
      [
        "# HELP requests Requests, by plan.",
        "# TYPE requests counter",
        "requests 7",
        "# TYPE seconds histogram",
        'seconds_bucket{route="a b",le="1"} 7',
        'seconds_bucket{route="a b",le="+Inf"} 7',
        'seconds_sum{route="a b"} 0.75',
        'seconds_count{route="a b"} 7',
        "# TYPE active gauge",
        "active 3",
        "# TYPE process_cpu_seconds_total counter",
        'process_cpu_seconds_total{worker="1"} 1',
        'process_cpu_seconds_total{worker="2"} 7',
        ""
      ].join("\n")
    )
  })
})
