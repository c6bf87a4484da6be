/** Ignores denials until a key may be banned, looks what it and others get, and waits until the ban is over. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as ErrorBody from "../../http/ErrorBody.ts"
import type { Exchange } from "../../model/Exchange.ts"
import * as Calls from "../Calls.ts"
import * as Draw from "../Draw.ts"
import type { Program, Stopped, Tools } from "../Program.ts"
import { DAY, HOUR, MINUTE, SECOND } from "./Moments.ts"
import * as Spending from "./Spending.ts"

/** Number of strikes that lead to a ban in our service. */
const STRIKES = 20

/** How a key ignores denials. */
interface Rhythm {
  /** Time between requests in milliseconds. */
  readonly apart: number
  /** The number of denials after which the key gives up. */
  readonly denials: number
  readonly calls?: ReadonlyArray<Calls.Call>
}

/** Sends requests in a rhythm until the key is banned or gives up; looks at other keys every few denials. */
const offend = Effect.fnUntraced(function* (
  tools: Tools,
  { spend }: Spending.Small,
  { apart, calls = Calls.looks, denials }: Rhythm
): Effect.fn.Return<Exchange, Stopped> {
  for (let denied = 0, sent = 1; ; sent++) {
    const exchange = yield* spend(calls[sent % calls.length])
    const { response } = exchange
    const isDenied = Spending.isDenied(exchange)
    if (isDenied) denied++
    const hasBanCode = response !== undefined && ErrorBody.codeOf(response) === "api_key_banned"
    // The wait for a minute is shorter than that of a ban.
    const isBan = response?.status === 403 || hasBanCode || (Spending.toldWait(exchange) ?? 0) > 70 * SECOND
    if (isBan || denied >= denials || sent >= 4 * denials) return exchange
    if (isDenied && denied % 6 === 0) yield* lookAtOthers(tools)
    yield* tools.advance(apart)
  }
})

/** Sends a request with each other key; the small one is not used up by it. */
const lookAtOthers = Effect.fnUntraced(function* (
  tools: Tools,
  call: Calls.Call = Calls.lists["whole list"]
) {
  for (const key of ["main", "tiny"] as const)
    if (tools.keys[key] !== undefined) yield* tools.sendOnce({ ...(yield* call(tools)), key })
})

const fields = { key: "victim", profile: "ban" } as const
const ours = { ...fields, isDesign: true } as const

export const programs: ReadonlyArray<Program> = [
  Spending.about("bans", { ...fields, requests: 175 }, function* (tools, victim) {
    const often = { apart: 1_100, denials: 45 }
    const apart = yield* Draw.one([0, 400, 5 * SECOND, 15 * SECOND])
    const other = { apart, denials: 30, calls: yield* Random.shuffle(Calls.all) }
    for (const rhythm of [often, other]) {
      let last = yield* offend(tools, victim, rhythm)
      for (const own of yield* Random.shuffle(Calls.operations)) {
        yield* lookAtOthers(tools, own)
        for (const call of yield* Draw.some(Calls.all, 2)) last = yield* victim.spend(call)
      }
      yield* victim.recover(last)
      for (const call of yield* Random.shuffle(Calls.usual)) {
        yield* tools.advance(Spending.MINUTE_PASSED)
        yield* Calls.createAndGet(tools, { ...(yield* call(tools)), key: "victim" })
      }
      yield* Spending.rest(tools)
    }
  }),
  Spending.about("a polite client", { ...fields, requests: 45 }, function* (tools, victim) {
    for (let waits = 0; waits < 20; waits++) {
      const denied = yield* victim.useUp(Calls.described)
      if (!Spending.isDenied(denied)) return
      yield* tools.advance(Spending.toldWait(denied) ?? MINUTE)
    }
  }),
  // What this project decided on bans: which denials count, how many lead to a ban, and how long it lasts.
  Spending.about("bans that grow and shrink", { ...ours, requests: 350 }, function* (tools, victim) {
    const cleanTimes = [0, 0, 0, 0, 0, DAY - MINUTE, DAY + MINUTE, 2 * DAY + MINUTE]
    for (const [round, cleanTime] of cleanTimes.entries()) {
      yield* tools.advance(cleanTime)
      const apart = [1_500, 2_500, 7_000][round % 3] ?? 0
      const ban = yield* offend(tools, victim, { apart, denials: 2 * STRIKES })
      const end = Spending.toldTime(ban) ?? ban.to + HOUR
      for (const call of yield* Draw.some(Calls.all, 4)) {
        yield* tools.advance(2 * SECOND)
        yield* victim.spend(call)
      }
      for (const moment of [end - SECOND - 200, end]) {
        yield* Spending.until(tools, moment)
        yield* victim.spend()
      }
    }
  })
]
