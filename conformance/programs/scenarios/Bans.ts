/** Ignores denials until a key may be banned, looks what it and others get, and waits until the ban is over. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Exchange } from "../../model/Exchange.ts"
import type { Program, Stopped, Tools } from "../Program.ts"
import * as Spending from "./Spending.ts"
import * as Ways from "./Ways.ts"

const { MINUTE, SECOND } = Spending

/** A rhythm of requests that ignore denials. */
interface Rhythm {
  readonly apart: number
  readonly denials: number
}

const often: Rhythm = { apart: 1_100, denials: 45 }

const rhythms: ReadonlyArray<Rhythm> = [
  { apart: 0, denials: 25 },
  { apart: 400, denials: 30 },
  { apart: 5 * SECOND, denials: 30 },
  { apart: 15 * SECOND, denials: 30 }
]

/** Waits told by a denial that is more than one by the minute, in milliseconds. */
const LONG_WAIT = 70 * SECOND

/** Ignores denials until the key is probably banned; looks at other keys every few denials. */
export const offend = Effect.fnUntraced(function* (
  tools: Tools,
  { apart, denials }: Rhythm,
  ways: ReadonlyArray<Ways.Way>
): Effect.fn.Return<Exchange, Stopped> {
  let last = yield* Spending.spend(tools, "victim")
  for (let denied = 0, sent = 1; denied < denials && sent < 3 * denials; sent++) {
    last = yield* Spending.spend(tools, "victim", ways[sent % ways.length])
    if (!Spending.isDenied(last)) continue
    denied++
    const isBan = last.response?.status === 403 || (Spending.toldWait(last) ?? 0) > LONG_WAIT
    if (isBan) return last
    if (denied % 6 === 0) yield* lookAtOthers(tools)
    yield* tools.advance(apart)
  }
  return last
})

/** Sends one request with each other key; the small one is not used up by it. */
const lookAtOthers = Effect.fnUntraced(function* (tools: Tools): Effect.fn.Return<void, Stopped> {
  yield* tools.sendOnce(Spending.look("main"))
  if (tools.keys.has("tiny")) yield* tools.sendOnce(Spending.look("tiny"))
})

export const programs: ReadonlyArray<Program> = [
  Spending.about(
    { key: "victim", name: "bans", profile: "ban", requests: 160 },
    Effect.fnUntraced(function* (tools) {
      const [rhythm = often] = yield* Ways.draw(rhythms, 1)
      const mixed = yield* Random.shuffle(Ways.ways)
      for (const [each, ways] of [
        [often, [Ways.list]],
        [rhythm, mixed]
      ] as const) {
        let last = yield* offend(tools, each, ways)
        yield* lookAtOthers(tools)
        for (const way of yield* Ways.draw(Ways.ways, 10)) last = yield* Spending.spend(tools, "victim", way)
        yield* lookAtOthers(tools)
        yield* Spending.recover(tools, "victim", last)
        // The first list shows which animals exist for this key.
        for (const way of [Ways.longList, ...(yield* Random.shuffle(Ways.ofKinds("usual")))]) {
          yield* tools.advance(Spending.MINUTE_PASSED)
          yield* Spending.spend(tools, "victim", way)
        }
        yield* Spending.rest(tools)
      }
    })
  ),
  Spending.about(
    { key: "victim", name: "a polite client", profile: "ban", requests: 52 },
    Effect.fnUntraced(function* (tools, plan) {
      for (let waits = 0; waits < 25; waits++) {
        const denied = yield* Spending.useUp(tools, "victim", Ways.described, Spending.burst(plan))
        if (!Spending.isDenied(denied)) return
        yield* tools.advance(Spending.toldWait(denied) ?? MINUTE)
      }
    })
  )
]
