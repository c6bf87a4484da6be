/** Reaches what this project decided on limits where the contract is silent: an exact bucket, a UTC day, waits, slots. */
import * as Random from "effect/Random"
import * as Calls from "../Calls.ts"
import * as Draw from "../Draw.ts"
import type { Program } from "../Program.ts"
import { MINUTE, midnight, SECOND } from "./Moments.ts"
import * as Spending from "./Spending.ts"

const fields = { profile: "limits", isDesign: true } as const

/** Pauses in milliseconds at which a bucket of five a minute, and one that is counted otherwise, differ. */
const pauses = [0, 0, 0, 0, 0, 5_999, 1, 6_000, 5_000, 1_000, 59_999, MINUTE, 60_001, 11_999, 12_000, 999]

export const programs: ReadonlyArray<Program> = [
  Spending.about(
    "a walk on the bucket",
    { key: "tiny", ...fields, requests: 100 },
    function* (tools, { plan, spend, useUpDay }) {
      for (const isShuffled of [false, true, true]) {
        for (const pause of isShuffled ? yield* Random.shuffle([...pauses, 0, 0, 0, 0]) : pauses) {
          yield* tools.advance(pause)
          yield* spend(yield* Draw.one(Calls.all))
        }
        yield* Spending.rest(tools)
      }
      // At midnight, the day with its last request and the bucket are shown in turn.
      if (!Spending.hasSmallDay(plan)) return
      yield* useUpDay(undefined, plan.perDay - 1)
      const end = midnight(0)(yield* tools.now)
      for (const ahead of [120, 120, 90, 2, 1, 0, 0]) {
        yield* Spending.until(tools, end - ahead * SECOND)
        yield* spend()
      }
    }
  ),
  Spending.about(
    "the shortest wait",
    { key: "tiny", ...fields, requests: 40 },
    function* (tools, { plan, spend, useUp }) {
      for (const late of [0, 1, 700, 3_001, yield* Random.nextIntBetween(0, 5_000)]) {
        yield* Spending.rest(tools)
        yield* useUp([Calls.calls.list], plan.perMinute)
        yield* tools.advance(late)
        const wait = Spending.toldWait(yield* useUp(Calls.described)) ?? 0
        const early = Math.max(0, wait - SECOND - 200)
        yield* tools.advance(early)
        if (early > 0) yield* spend()
        yield* tools.advance(wait - early)
        yield* spend()
      }
    }
  ),
  Spending.about(
    "waits of several clients",
    { key: "victim", ...fields, requests: 75 },
    function* (tools, { plan: { perMinute }, spend }) {
      const due: Array<number> = []
      for (let sent = 0; sent < 3 * perMinute; sent++) {
        const exchange = yield* spend()
        if (Spending.isDenied(exchange)) due.push(exchange.to + (Spending.toldWait(exchange) ?? MINUTE))
      }
      for (const moment of due.toSorted((a, b) => a - b)) {
        yield* Spending.until(tools, moment)
        yield* spend()
      }
      // As many clients as the bucket has requests, each of which waits as told, and is a little late.
      yield* Spending.rest(tools)
      const jitter = yield* Random.nextIntBetween(0, 500)
      const clients = Array.from({ length: perMinute }, () => 0)
      for (let sent = 0; sent < 60; sent++) {
        const next = Math.min(...clients)
        yield* Spending.until(tools, next)
        const exchange = yield* spend()
        const wait = Spending.isDenied(exchange)
          ? (Spending.toldWait(exchange) ?? MINUTE) + ((sent * 137) % (jitter + 1))
          : 1
        clients[clients.indexOf(next)] = exchange.to + wait
      }
    }
  )
]
