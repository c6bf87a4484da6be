/** Reaches what this project decided on limits where the contract is silent: an exact bucket, a UTC day, waits, slots. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Program } from "../Program.ts"
import * as Spending from "./Spending.ts"
import * as Ways from "./Ways.ts"

const { DAY, MINUTE, SECOND } = Spending

const fields = { profile: "limits", isDesign: true } as const

/** Pauses in milliseconds at which a bucket of five a minute, and one that is counted otherwise, differ. */
const pauses = [0, 0, 0, 0, 0, 5_999, 1, 6_000, 5_000, 1_000, 59_999, MINUTE, 60_001, 11_999, 12_000, 999]

export const programs: ReadonlyArray<Program> = [
  Spending.about(
    { key: "tiny", ...fields, name: "a walk on the bucket", requests: 100 },
    Effect.fnUntraced(function* (tools, plan) {
      for (const isShuffled of [false, true, true]) {
        for (const pause of isShuffled ? yield* Random.shuffle([...pauses, 0, 0, 0, 0]) : pauses) {
          yield* tools.advance(pause)
          yield* Spending.spend(tools, "tiny", (yield* Ways.draw(Ways.ways, 1))[0])
        }
        yield* Spending.rest(tools)
      }
      // At midnight, the day with its last request and the bucket are shown in turn.
      if (!Spending.hasSmallDay(plan)) return
      yield* Spending.useUpDay(tools, plan, [Ways.list], plan.perDay - 1)
      const midnight = (Math.floor((yield* tools.now) / DAY) + 1) * DAY
      for (const moment of [0, 0, 30 * SECOND].map((ahead) => midnight - 2 * MINUTE + ahead)) {
        yield* Spending.until(tools, moment)
        yield* Spending.spend(tools, "tiny")
      }
      for (const moment of [-2 * SECOND, -SECOND, 0, 0]) {
        yield* Spending.until(tools, midnight + moment)
        yield* Spending.spend(tools, "tiny")
      }
    })
  ),
  Spending.about(
    { key: "tiny", ...fields, name: "the shortest wait", requests: 40 },
    Effect.fnUntraced(function* (tools, plan) {
      for (const late of [0, 1, 700, 3_001, yield* Random.nextIntBetween(0, 5_000)]) {
        yield* Spending.rest(tools)
        yield* Spending.useUp(tools, "tiny", [Ways.list], plan.perMinute)
        yield* tools.advance(late)
        const denied = yield* Spending.useUp(tools, "tiny", Ways.described, Spending.burst(plan))
        const wait = Spending.toldWait(denied) ?? 0
        const early = Math.max(0, wait - SECOND - 200)
        yield* tools.advance(early)
        if (early > 0) yield* Spending.spend(tools, "tiny")
        yield* tools.advance(wait - early)
        yield* Spending.spend(tools, "tiny")
      }
    })
  ),
  Spending.about(
    { key: "victim", ...fields, name: "waits of several clients", requests: 75 },
    Effect.fnUntraced(function* (tools, { perMinute }) {
      const due: Array<number> = []
      for (let sent = 0; sent < 3 * perMinute; sent++) {
        const exchange = yield* Spending.spend(tools, "victim")
        if (Spending.isDenied(exchange)) due.push(exchange.to + (Spending.toldWait(exchange) ?? MINUTE))
      }
      for (const moment of due.toSorted((a, b) => a - b)) {
        yield* Spending.until(tools, moment)
        yield* Spending.spend(tools, "victim")
      }
      // As many clients as the bucket has requests, each of which waits as told, and is a little late.
      yield* Spending.rest(tools)
      const jitter = yield* Random.nextIntBetween(0, 500)
      const clients = Array.from({ length: perMinute }, () => 0)
      for (let sent = 0; sent < 60; sent++) {
        const next = Math.min(...clients)
        yield* Spending.until(tools, next)
        const exchange = yield* Spending.spend(tools, "victim")
        const wait = Spending.isDenied(exchange)
          ? (Spending.toldWait(exchange) ?? MINUTE) + ((sent * 137) % (jitter + 1))
          : 1
        clients[clients.indexOf(next)] = exchange.to + wait
      }
    })
  )
]
