import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Exposition from "../../embed/Exposition.ts"
import * as MetricsSum from "./MetricsSum.ts"

const pageOf = (counted: number, seconds: number, active: number, cpu: number): string =>
  [
    "# HELP requests_total Requests, by plan.",
    "# TYPE requests_total counter",
    `requests_total{plan="Free"} ${counted}`,
    "# TYPE seconds histogram",
    `seconds_bucket{route="a b",le="1"} ${counted}`,
    `seconds_bucket{route="a b",le="+Inf"} ${counted}`,
    `seconds_sum{route="a b"} ${seconds}`,
    `seconds_count{route="a b"} ${counted}`,
    "# TYPE active gauge",
    `active ${active}`,
    "# TYPE process_cpu_seconds_total counter",
    `process_cpu_seconds_total ${cpu}`,
    ""
  ].join("\n")

const valueIn = (page: Exposition.Exposition, name: string, series: string): number =>
  page.get(name)?.samples.get(series) ?? 0

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
            const page = Exposition.parse(pageOf(counted, seconds, 1, 2))
            sum = MetricsSum.recordPage(sum, step.place, page)
          }
          const page = MetricsSum.page(sum)
          const counted = valueIn(page, "requests_total", 'requests_total{plan="Free"}')
          const seconds = valueIn(page, "seconds", 'seconds_sum{route="a b"}')
          expect(counted).toBe(total)
          expect(seconds).toBeGreaterThanOrEqual(previous.seconds)
          previous = { counted, seconds }
          // Gauges and process metrics include running workers only.
          expect(valueIn(page, "active", "active")).toBe(present.size)
          expect([...(page.get("process_cpu_seconds_total")?.samples.keys() ?? [])].sort()).toEqual(
            [...present.keys()].sort().map((place) => `process_cpu_seconds_total{worker="${place}"}`)
          )
        }
      })
    )
  })

  it("adds the buckets, sums and counts of histograms", () => {
    const first = MetricsSum.recordPage(MetricsSum.empty, 1, Exposition.parse(pageOf(3, 0.5, 2, 1)))
    const both = MetricsSum.recordPage(first, 2, Exposition.parse(pageOf(4, 0.25, 1, 7)))
    expect(Exposition.format(MetricsSum.page(both))).toBe(
      pageOf(7, 0.75, 3, 0).replace(
        "process_cpu_seconds_total 0",
        'process_cpu_seconds_total{worker="1"} 1\nprocess_cpu_seconds_total{worker="2"} 7'
      )
    )
  })
})

describe("Exposition.format", () => {
  it("returns the text that was parsed", () => {
    fc.assert(
      fc.property(fc.nat(), fc.double({ min: 0, noNaN: true }), fc.nat(), (counted, seconds, active) => {
        const text = pageOf(counted, seconds === 0 ? 0 : seconds, active, 1).replaceAll("Infinity", "+Inf")
        expect(Exposition.format(Exposition.parse(text))).toBe(text)
      })
    )
  })
})
