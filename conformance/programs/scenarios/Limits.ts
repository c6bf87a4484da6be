/** Uses up minutes and days of the small key, by each operation and each refused request, and looks when they are over. */
import * as Random from "effect/Random"
import type { Exchange } from "../../model/Exchange.ts"
import * as Bodies from "../Bodies.ts"
import * as Calls from "../Calls.ts"
import * as Draw from "../Draw.ts"
import type { Program } from "../Program.ts"
import * as Queries from "../Queries.ts"
import { boundaries, DAY, HOUR, MINUTE, margins, midnight, SECOND, zones } from "./Moments.ts"
import * as Spending from "./Spending.ts"

const { MAX_ONCE, MINUTE_PASSED } = Spending

const limits = { key: "tiny", profile: "limits" } as const
const days = { ...limits, maxPerDay: Spending.MAX_PER_DAY } as const

/** Reach what shows only at first: before a key was ever denied, and while the store is small. */
export const firstPrograms: ReadonlyArray<Program> = [
  ...(["tiny", "victim"] as const).map((key) =>
    Spending.about(
      `the ${key} key`,
      { ...limits, key, maxPerMinute: Infinity, requests: 24 },
      function* (tools, { plan }) {
        // What the first request of a key gets may differ, and is compared with what the second one gets.
        const { "list by status": list, creation, "the first": retrieval } = Calls.calls
        const first = yield* (key === "tiny" ? list : yield* Draw.one([creation, retrieval]))(tools)
        const sent = [first, first]
        for (const status of Queries.statuses) {
          const categoryId = yield* Draw.one(Bodies.categories)
          for (const values of [{ categoryId, status }, { status }])
            sent.push(yield* Calls.creating(values)(tools))
          for (const limit of [100, 1]) sent.push({ path: `/pets?status=${status}&limit=${limit}` })
        }
        for (const call of [...Calls.operations.slice(2), Calls.calls["creation without a name"]])
          sent.push(yield* call(tools))
        for (const each of sent) {
          // So rarely that the minute denies nothing.
          yield* tools.advance(Math.ceil((2 * MINUTE) / plan.perMinute) + 100)
          yield* Calls.createAndGet(tools, { ...each, key })
        }
      }
    )
  ),
  Spending.about(
    "the first denial",
    { ...limits, isTimeless: true, maxPerMinute: MAX_ONCE, requests: 13, waitsMs: 12_500 },
    function* (tools, tiny) {
      const { perMinute } = tiny.plan
      const mixed = yield* Random.shuffle([...Calls.operations, ...(yield* Draw.some(Calls.all, 2))])
      const inMinute = Array.from({ length: perMinute }).flatMap((_, at) => mixed[at % mixed.length] ?? [])
      // Creations with usual names are denied while lists show all animals of a status.
      const creation: Calls.Call = (tools) => Calls.creating({ name: tools.name() })(tools)
      const denied = yield* tiny.useUp([...inMinute, ...Array(perMinute + 1).fill(creation)])
      yield* Calls.lookAtLists(tools)
      yield* tiny.recover(denied, mixed)
    }
  )
]

export const programs: ReadonlyArray<Program> = [
  ...(["tiny", "victim"] as const).map((key, at) =>
    Spending.about(`minutes of the ${key} key`, { ...limits, key, requests: 100 }, function* (tools, small) {
      // When a minute is over: as one of its responses tells, or at a boundary of the clock before which it begins.
      const told = [({ from }: Exchange) => from + MINUTE, Spending.resetOf, Spending.toldTime]
      const nexts = [...Object.values(boundaries), midnight(yield* Draw.one(zones))]
      const ends = [
        ...told.map((after) => ({ after, next: (now: number) => now })),
        ...nexts.map((next) => ({ after: ({ from }: Exchange) => next(from), next }))
      ]
      // Two of a kind take turns, since requests that the contract does not describe may be free.
      const half = (calls: ReadonlyArray<Calls.Call>) =>
        Random.shuffle(calls.filter((_, index) => index % 2 === at))
      const mixed = [...(yield* half(Calls.described)), ...(yield* half(Calls.undescribed))]
      for (let index = 0; 2 * index < mixed.length; index++) {
        const [calls, isUsedUp] = [mixed.slice(2 * index, 2 * index + 2), index % 2 === 0]
        const { after, next } = ends[index % ends.length] ?? (yield* Draw.one(ends))
        yield* Spending.rest(tools)
        const [before, between] = [Random.nextIntBetween(0, MINUTE), Random.nextIntBetween(0, 20 * SECOND)]
        const begin = next((yield* tools.now) + MINUTE) - (yield* Draw.one([...margins, yield* before]))
        yield* Spending.until(tools, begin)
        const first = yield* small.spend(calls[0])
        // At once, or so that a bucket refills between the requests.
        yield* tools.advance(yield* Draw.one([0, yield* between]))
        const last = yield* small.useUp(calls, isUsedUp ? undefined : Math.max(1, small.plan.perMinute - 2))
        yield* tools.send(Spending.look)
        const end = after(isUsedUp ? last : first)
        if (end === undefined || end - (yield* tools.now) > DAY) continue
        // Who was denied does not come early.
        if (!Spending.isDenied(last)) {
          yield* Spending.until(tools, end - (yield* Draw.one(margins)))
          yield* small.spend()
        }
        yield* Spending.until(tools, end)
        yield* small.recover(yield* small.useUp(calls), yield* Random.shuffle(Calls.operations))
      }
    })
  ),
  Spending.about("used minute", { ...limits, maxPerMinute: MAX_ONCE, requests: 50 }, function* (_, tiny) {
    let denied = yield* tiny.useUp(Calls.described)
    for (const call of yield* Random.shuffle(Calls.all)) denied = yield* tiny.spend(call)
    yield* tiny.recover(denied)
  }),
  Spending.about("day by each way", { ...days, requests: 130 }, function* (tools, tiny) {
    for (const isFirst of [true, false]) {
      const refused = yield* Draw.some(Calls.refused, 1)
      let denied = yield* isFirst
        ? tiny.useUpDay(yield* Random.shuffle(Calls.described))
        : tiny.useUpDay(refused, undefined, tiny.plan.perMinute + 1)
      yield* tools.send(Spending.look)
      for (const [index, call] of isFirst ? (yield* Random.shuffle(Calls.all)).entries() : []) {
        // So rarely that the minute denies nothing, and few services ban the key; near the end of a minute.
        yield* Spending.until(
          tools,
          boundaries.minute((yield* tools.now) + MINUTE) - (yield* Draw.one(margins))
        )
        if (index % 2 === 0) yield* tools.send(Spending.look)
        denied = yield* tiny.spend(call)
      }
      // Waits until Reset instead of as told by Retry-After.
      if (!isFirst) {
        yield* Spending.until(tools, Spending.resetOf(denied) ?? 0)
        denied = yield* tiny.spend()
      }
      yield* tiny.recover(denied, yield* Random.shuffle(Calls.operations))
      yield* Spending.rest(tools)
    }
  }),
  Spending.about("day at midnight", { ...days, requests: 160 }, function* (tools, tiny) {
    const { perDay, perMinute } = tiny.plan
    // A day that is used up before its end, and one that is not.
    for (const [next, max] of [
      [boundaries.month, perDay + 1],
      [midnight(yield* Draw.one(zones)), perDay - perMinute]
    ] as const) {
      const end = next((yield* tools.now) + 2 * HOUR)
      yield* Spending.until(tools, end - HOUR)
      yield* tiny.useUpDay(undefined, max)
      for (const moment of [end - MINUTE, end - 1, end, end + SECOND]) {
        yield* Spending.until(tools, moment)
        yield* tools.send(Spending.look)
        yield* tiny.spend(yield* Draw.one(Calls.described))
      }
      yield* tools.advance(MINUTE_PASSED)
      yield* tiny.useUpDay()
      yield* Spending.rest(tools)
    }
  })
]

/** What does not need getPet, and is sent when it has been removed. */
export const lastPrograms: ReadonlyArray<Program> = [
  Spending.about("day again and again", { ...days, requests: 125 }, function* (tools, tiny) {
    yield* tiny.recover(yield* tiny.useUp(Calls.described), Calls.operations)
    yield* Spending.until(tools, boundaries.day(yield* tools.now))
    // Half a day later, no day may have begun twice; a day after the latest request, every one has begun.
    for (const wait of [12 * HOUR, 12 * HOUR, DAY + SECOND]) {
      yield* tiny.useUpDay()
      yield* tools.advance(wait)
    }
    yield* tiny.recover(yield* tiny.useUpDay(), Calls.operations)
  })
]
