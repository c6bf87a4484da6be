import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { instruments, requestBoundaries } from "../telemetry/Instruments.ts"
import * as Snapshot from "../telemetry/Snapshot.ts"
import * as History from "./History.ts"

/** Durations of requests in seconds by status, and the number of denied requests by plan. */
interface Events {
  readonly durations: { readonly [status: string]: ReadonlyArray<number> }
  readonly limited: { readonly [plan: string]: number }
}

const series = (
  { id }: { readonly id: string },
  attributes: Snapshot.SeriesValue["attributes"],
  value: number
): Snapshot.SeriesValue => ({
  ...{ id, description: undefined, type: "Counter", attributes, value },
  ...{ sum: 0, buckets: [] }
})

/** Returns what a server has that measured these events. */
const snapshotOf = ({ durations, limited }: Events): Snapshot.Snapshot => [
  ...Object.entries(durations).map(
    ([status, seconds]): Snapshot.SeriesValue => ({
      ...series(
        instruments.requestDuration,
        { "http.request.method": "GET", "http.response.status_code": status },
        seconds.length
      ),
      type: "Histogram",
      sum: 1,
      buckets: requestBoundaries.map((le) => [le, seconds.filter((second) => second <= le).length])
    })
  ),
  ...Object.entries(limited).flatMap(([plan, count]) => [
    series(instruments.admissions, { outcome: "admitted", plan }, 7),
    series(instruments.admissions, { outcome: "limited", plan }, count)
  ]),
  series(instruments.residentMemory, {}, 5)
]

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

const nonZero = (counts: History.Row["requests"]): History.Row["requests"] =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0))

describe("History", () => {
  it("has what happened between two readings, whatever happened before", () => {
    fc.assert(
      fc.property(events, events, (before, since) => {
        const row = History.rowOf(snapshotOf(both(before, since)), snapshotOf(before))
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
        const { p50Ms, p99Ms } = History.rowOf(snapshotOf({ durations: { 200: all }, limited: {} }))
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

  it("has a row for each two readings of the last hour, also if the clock is set back", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -60_000, max: 30 * 60_000 }), { maxLength: 20 }), (pauses) => {
        let at = 10 ** 12
        let history = History.empty
        const ends: Array<number> = []
        for (const pause of pauses) {
          at += pause
          if (pause > 0 && history.latest !== undefined) ends.push(at)
          history = History.record(history, at, [])
          expect(history.rows.map(({ to }) => to).filter((to) => to > at)).toEqual([])
          expect(history.rows.every(({ from, to }) => from < to && to > at - 3_600_000)).toBe(true)
        }
        const isSetBack = pauses.slice(1).some((pause) => pause <= 0)
        const expected = ends.filter((end) => end > at - 3_600_000)
        if (!isSetBack) expect(history.rows.map(({ to }) => to)).toEqual(expected)
      })
    )
  })

  it("counts plans whose names are those of properties of every object", () => {
    const page = snapshotOf({ durations: {}, limited: { constructor: 2 } })
    expect(History.rowOf(Snapshot.add(page, page), page).limited).toEqual({ constructor: 2 })
  })
})
