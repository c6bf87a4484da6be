/** Reaches what this project decided on bans: which denials count, how many lead to a ban, and how long it lasts. */
import * as Effect from "effect/Effect"
import type { Plan } from "../../../core/limits/Plan.ts"
import * as ErrorBody from "../../http/ErrorBody.ts"
import type { Exchange } from "../../model/Exchange.ts"
import type { Program, Stopped, Tools } from "../Program.ts"
import * as Spending from "./Spending.ts"
import * as Ways from "./Ways.ts"

const { DAY, HOUR, MINUTE, SECOND } = Spending

/** Number of strikes that lead to a ban. */
const STRIKES = 20

const isBan = ({ response }: Exchange): boolean =>
  response !== undefined && ErrorBody.codeOf(response) === "api_key_banned"

/** Sends requests at a regular interval, one or several, until the key is banned or was denied `denials` times. */
const hammer = Effect.fnUntraced(function* (
  tools: Tools,
  apart: number,
  denials: number = STRIKES + 2,
  together = 1
): Effect.fn.Return<Exchange, Stopped> {
  for (let denied = 0, sent = 1; ; sent++) {
    const exchange = yield* Spending.spend(tools, "victim")
    if (Spending.isDenied(exchange)) denied++
    if (isBan(exchange) || denied >= denials || sent >= 4 * denials) return exchange
    if (sent % together === 0) yield* tools.advance(apart)
  }
})

/** Defines a scenario that gets a key without strikes, and without bans that would make the next one longer. */
const withCleanSlate = (
  key: Spending.SmallKey,
  name: string,
  requests: number,
  run: (tools: Tools, plan: Plan) => Effect.Effect<void, Stopped>
): Program =>
  Spending.about({ key, name, profile: "ban", isDesign: true, requests }, (tools, plan) =>
    Effect.andThen(tools.advance(4 * DAY), run(tools, plan))
  )

const waitForEnd = (tools: Tools, ban: Exchange): Effect.Effect<void, Stopped> =>
  tools.advance(Spending.toldWait(ban) ?? HOUR)

export const programs: ReadonlyArray<Program> = [
  withCleanSlate(
    "victim",
    "bans that grow longer, and shorter again",
    240,
    Effect.fnUntraced(function* (tools) {
      for (const cleanTime of [0, 0, 0, 0, 0, DAY - MINUTE, DAY + MINUTE, 2 * DAY + MINUTE]) {
        yield* tools.advance(cleanTime)
        const ban = yield* hammer(tools, 1_500, 2 * STRIKES)
        yield* waitForEnd(tools, ban)
        yield* Spending.spend(tools, "victim")
      }
    })
  ),
  withCleanSlate(
    "victim",
    "requests during a ban",
    120,
    Effect.fnUntraced(function* (tools) {
      for (const apart of [2_500, 7_000]) {
        const ban = yield* hammer(tools, apart, 2 * STRIKES)
        const end = ban.to + (Spending.toldWait(ban) ?? 0)
        for (const way of yield* Ways.draw(Ways.ways, 12)) {
          yield* tools.advance(2 * SECOND)
          yield* Spending.spend(tools, "victim", way)
        }
        for (const moment of [end - SECOND - 200, end]) {
          yield* Spending.until(tools, moment)
          yield* Spending.spend(tools, "victim")
        }
      }
    })
  ),
  withCleanSlate(
    "victim",
    "strikes at intervals",
    220,
    Effect.fnUntraced(function* (tools, { perMinute }) {
      // A burst is at most one strike, and so are several denials within a second.
      const look = { ...Ways.list.sent(tools), key: "victim" } as const
      yield* tools.sendTogether(Array.from({ length: perMinute + 2 * STRIKES }, () => look))
      yield* tools.advance(6 * MINUTE)
      yield* hammer(tools, 400, 30)
      // A new count begins five minutes after the first strike; until then, all strikes count together.
      for (const pause of [5 * MINUTE + SECOND, 0]) {
        yield* tools.advance(5 * DAY)
        yield* hammer(tools, 1_500, STRIKES - 1)
        yield* tools.advance(Math.max(0, pause - (STRIKES - 1) * 1_500))
        yield* hammer(tools, 1_500)
      }
      yield* tools.advance(5 * DAY)
      yield* hammer(tools, 15_500, 4 * STRIKES, perMinute)
    })
  ),
  withCleanSlate(
    "tiny",
    "retries on a used day",
    130,
    Effect.fnUntraced(function* (tools, plan) {
      if (!Spending.hasSmallDay(plan)) return
      yield* Spending.useUpDay(tools, plan, [Ways.list])
      for (let wait = 0; wait < 30; wait++) {
        yield* tools.advance(30 * SECOND)
        yield* Spending.spend(tools, "tiny")
      }
      // Eight clients that retry every 30 seconds.
      for (let sent = 0; sent < 60; sent++) {
        yield* tools.advance(sent % 8 === 0 ? 30 * SECOND - 7 * 999 : 999)
        yield* Spending.spend(tools, "tiny")
      }
    })
  )
]
