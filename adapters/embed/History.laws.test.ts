import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { requestBoundaries } from "../telemetry/Instruments.ts"
import * as Exposition from "./Exposition.ts"
import * as History from "./History.ts"

/** Durations of requests in seconds by status, and the number of denied requests by plan. */
interface Events {
  readonly durations: { readonly [status: string]: ReadonlyArray<number> }
  readonly limited: { readonly [plan: string]: number }
}

const NAME = "http_server_request_duration_seconds"

/** Writes what happened as the server does. */
const pageOf = ({ durations, limited }: Events): Exposition.Exposition => {
  const lines = [`# TYPE ${NAME} histogram`]
  for (const [status, seconds] of Object.entries(durations)) {
    const labels = `http_request_method="GET",http_response_status_code="${status}",http_route="/v1/a{le}"`
    for (const le of [...requestBoundaries, Number.POSITIVE_INFINITY]) {
      const text = le === Number.POSITIVE_INFINITY ? "+Inf" : String(le)
      lines.push(`${NAME}_bucket{${labels},le="${text}"} ${seconds.filter((second) => second <= le).length}`)
    }
    lines.push(`${NAME}_sum{${labels}} 1`, `${NAME}_count{${labels}} ${seconds.length}`)
  }
  lines.push("# TYPE animal_store_admissions_total counter")
  for (const [plan, count] of Object.entries(limited)) {
    lines.push(`animal_store_admissions_total{outcome="admitted",plan="${plan}"} 7`)
    lines.push(`animal_store_admissions_total{outcome="limited",plan="${plan}"} ${count}`)
  }
  lines.push("# TYPE process_resident_memory_bytes gauge", "process_resident_memory_bytes 5")
  return Exposition.parse(lines.join("\n"))
}

const seconds = fc.double({ min: 0, max: 12, noNaN: true })
const events: fc.Arbitrary<Events> = fc.record({
  durations: fc.dictionary(fc.constantFrom("200", "404", "429"), fc.array(seconds, { maxLength: 20 })),
  limited: fc.dictionary(fc.constantFrom("Free", "Pro"), fc.nat(9))
})

const both = (first: Events, second: Events): Events => ({
  durations: Object.fromEntries(
    ["200", "404", "429"].map((status) => [
      status,
      [...(first.durations[status] ?? []), ...(second.durations[status] ?? [])]
    ])
  ),
  limited: Object.fromEntries(
    ["Free", "Pro"].map((plan) => [plan, (first.limited[plan] ?? 0) + (second.limited[plan] ?? 0)])
  )
})

const nonZero = (counts: History.Counts): History.Counts =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0))

describe("History", () => {
  it("has what happened between two readings, whatever happened before", () => {
    fc.assert(
      fc.property(events, events, (before, since) => {
        const row = History.rowOf(
          History.sampleOf(pageOf(both(before, since))),
          History.sampleOf(pageOf(before))
        )
        const counted = Object.entries(since.durations).map(([status, all]) => [status, all.length] as const)
        expect(nonZero(row.requests)).toEqual(nonZero(Object.fromEntries(counted)))
        expect(nonZero(row.limited)).toEqual(nonZero(since.limited))
        expect(row.memoryBytes).toBe(5)
      })
    )
  })

  it("has quantiles within the bucket of the exact quantile", () => {
    fc.assert(
      fc.property(fc.array(seconds, { minLength: 1, maxLength: 50 }), (all) => {
        const { p50Ms, p99Ms } = History.rowOf(
          History.sampleOf(pageOf({ durations: { 200: all }, limited: {} }))
        )
        const sorted = all.toSorted((a, b) => a - b)
        for (const [fraction, ms] of [
          [0.5, p50Ms],
          [0.99, p99Ms]
        ] as const) {
          const exact = sorted[Math.ceil(fraction * sorted.length) - 1] ?? 0
          const index = requestBoundaries.findIndex((boundary) => exact <= boundary)
          const lower = index < 0 ? 10 : (requestBoundaries[index - 1] ?? 0)
          const upper = index < 0 ? 10 : (requestBoundaries[index] ?? 0)
          expect(ms).toBeGreaterThanOrEqual(lower * 1000)
          expect(ms).toBeLessThanOrEqual(upper * 1000 + 1e-9)
        }
      })
    )
  })

  it("sums all processes", () => {
    fc.assert(
      fc.property(events, events, (first, second) => {
        const samples = new Map(
          [first, second].map((one, index) => [index + 1, History.sampleOf(pageOf(one))])
        )
        const { databaseMs: _, ...sum } = History.rowOf(History.sumOf(samples))
        const { databaseMs: __, ...expected } = History.rowOf(History.sampleOf(pageOf(both(first, second))))
        expect(nonZero(sum.requests)).toEqual(nonZero(expected.requests))
        expect([sum.p50Ms, sum.p99Ms, sum.memoryBytes]).toEqual([expected.p50Ms, expected.p99Ms, 10])
      })
    )
  })

  it("keeps the readings of one hour", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 * 60_000 }), { maxLength: 20 }), (pauses) => {
        let at = 0
        let history: History.History = []
        for (const pause of pauses) {
          at += pause
          history = History.record(history, { at, samples: new Map() })
        }
        expect(history.every((reading) => reading.at > at - 3_600_000)).toBe(true)
        expect(History.rowsOf(history, 0)).toHaveLength(Math.max(history.length - 1, 0))
        expect(History.rowsOf(history, at)).toEqual([])
      })
    )
  })

  it("counts plans whose names are those of properties of every object", () => {
    const sample = History.sampleOf(pageOf({ durations: {}, limited: { constructor: 2 } }))
    const sum = History.sumOf(
      new Map([
        [1, sample],
        [2, sample]
      ])
    )
    expect(History.rowOf(sum, sample).limited).toEqual({ constructor: 2 })
  })
})
