import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Repetition from "./Repetition.ts"

interface Emitted extends Repetition.Emission<number> {
  readonly at: number
}

/** Generates histories of events of several kinds, with pauses. */
const historiesOf = (kinds: number) =>
  fc.array(
    fc.oneof(
      fc.record({ kind: fc.nat(Math.min(4, kinds - 1)) }),
      fc.record({ kind: fc.nat(kinds - 1) }),
      fc.record({ passMs: fc.oneof(fc.nat(300), fc.nat(3_000)) })
    ),
    { maxLength: 400, size: "max" }
  )

/** Histories with more kinds than are tracked separately. */
const histories = historiesOf(Repetition.MAX_KINDS * 2)

/** Histories in which all kinds are tracked separately. */
const trackedHistories = historiesOf(Repetition.MAX_KINDS)

/** Runs a history with an exact timer and flushes at the end; each event is its number in the history. */
const run = (history: ReadonlyArray<{ readonly kind: number } | { readonly passMs: number }>) => {
  let state: Repetition.State<number> = Repetition.empty
  let now = 0
  const emitted: Array<Emitted> = []
  const kinds: Array<number> = []
  let maxSize = 0
  const record = ([emissions, next]: ReturnType<typeof Repetition.tick<number>>): void => {
    for (const emission of emissions) emitted.push({ ...emission, at: now })
    state = next
    maxSize = Math.max(maxSize, state.size)
  }
  for (const moment of history) {
    if ("kind" in moment) {
      record(Repetition.step(state, now, String(moment.kind), kinds.length))
      kinds.push(moment.kind)
      continue
    }
    const end = now + moment.passMs
    for (let due = Repetition.dueIn(state, now); due !== undefined && now + due <= end; ) {
      now += due
      record(Repetition.tick(state, now))
      due = Repetition.dueIn(state, now)
    }
    now = end
  }
  record(Repetition.flush(state, now))
  return { emitted, kinds, maxSize, isFlushed: state.size === 0 }
}

describe("repeated events", () => {
  it("are each counted exactly once", () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { emitted, kinds } = run(history)
        expect(emitted.reduce((sum, { count }) => sum + count, 0)).toBe(kinds.length)
      })
    )
  })

  it("are counted separately for each kind, and each kind is emitted at most once per second before the flush", () => {
    fc.assert(
      fc.property(trackedHistories, (history) => {
        const { emitted, kinds } = run(history)
        const end = Math.max(0, ...emitted.map(({ at }) => at))
        for (const kind of new Set(kinds)) {
          const ofKind = emitted.filter(({ event }) => kinds[event] === kind)
          expect(ofKind.reduce((sum, { count }) => sum + count, 0)).toBe(
            kinds.filter((candidate) => candidate === kind).length
          )
          for (const [index, { at }] of ofKind.entries()) {
            const previous = ofKind[index - 1]
            if (previous !== undefined && at < end) {
              expect(at - previous.at).toBeGreaterThanOrEqual(Repetition.INTERVAL_MS)
            }
          }
        }
      })
    )
  })

  it("are not delayed by more than a second", () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { emitted } = run(history)
        for (const { withinMs } of emitted) expect(withinMs).toBeLessThanOrEqual(Repetition.INTERVAL_MS)
      })
    )
  })

  it("need a state of bounded size, which is empty after a flush", () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { isFlushed, maxSize } = run(history)
        expect(maxSize).toBeLessThanOrEqual(Repetition.MAX_KINDS + 1)
        expect(isFlushed).toBe(true)
      })
    )
  })

  it("are emitted immediately if they are the first of a tracked kind", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { minLength: 1, maxLength: Repetition.MAX_KINDS }), (kinds) => {
        let state: Repetition.State<string> = Repetition.empty
        for (const kind of kinds) {
          const [emissions, next] = Repetition.step(state, 0, kind, kind)
          expect(emissions).toEqual([{ event: kind, count: 1, withinMs: 0, isMixed: false }])
          state = next
        }
      })
    )
  })
})

describe("one kind of event", () => {
  const emit = (...moments: ReadonlyArray<readonly [now: number, event?: string]>) => {
    let state: Repetition.State<string> = Repetition.empty
    return moments.map(([now, event]) => {
      const [emissions, next] =
        event === undefined ? Repetition.tick(state, now) : Repetition.step(state, now, "kind", event)
      state = next
      return emissions.map(({ count, event: latest, withinMs }) => [latest, count, withinMs])
    })
  }

  it("is summarized after a second, and emitted immediately after a second without events", () => {
    expect(
      emit([0, "a"], [10, "b"], [999, "c"], [999], [1_000], [1_001, "d"], [2_000], [3_000], [3_001, "e"])
    ).toEqual([[["a", 1, 0]], [], [], [], [["c", 2, 1_000]], [], [["d", 1, 1_000]], [], [["e", 1, 0]]])
  })

  it("is summarized when its next event arrives, even when the timer is late", () => {
    expect(emit([0, "a"], [10, "b"], [5_000, "c"], [6_000])).toEqual([
      [["a", 1, 0]],
      [],
      [["b", 1, 5_000]],
      [["c", 1, 1_000]]
    ])
  })
})

it("events of kinds above the maximum number of kinds share one summary", () => {
  let state: Repetition.State<number> = Repetition.empty
  const emitted: Array<Repetition.Emission<number>> = []
  for (let event = 0; event < Repetition.MAX_KINDS + 10; event++) {
    const [emissions, next] = Repetition.step(state, 0, String(event), event)
    emitted.push(...emissions)
    state = next
  }
  expect(emitted).toHaveLength(Repetition.MAX_KINDS + 1)
  expect(Repetition.tick(state, Repetition.INTERVAL_MS)[0]).toEqual([
    { event: Repetition.MAX_KINDS + 9, count: 9, withinMs: Repetition.INTERVAL_MS, isMixed: true }
  ])
})
