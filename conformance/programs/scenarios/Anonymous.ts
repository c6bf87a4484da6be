/** Sends many requests without a valid key, and looks whether they change what valid keys get. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Program, Sent, Stopped, Tools } from "../Program.ts"
import * as Spending from "./Spending.ts"
import * as Ways from "./Ways.ts"

/** Credentials that are no key; some resemble one. */
const credentials = ({ mainKey }: Tools): ReadonlyArray<Pick<Sent, "authorization" | "credential">> => [
  { authorization: [] },
  { authorization: ["Bearer no-such-key"] },
  { authorization: [`Bearer ${mainKey}0`], credential: "the key with another character" },
  { authorization: [`Bearer ${mainKey.slice(0, -1)}`], credential: "the key without its last character" }
]

const send = Effect.fnUntraced(function* (tools: Tools, way: Ways.Way, index: number) {
  const all = credentials(tools)
  return yield* tools.sendOnce({ ...way.sent(tools), ...all[index % all.length] })
})

/** Sends requests without a valid key until one gets 429, at most `max`. */
const useUp = Effect.fnUntraced(function* (tools: Tools, max: number): Effect.fn.Return<void, Stopped> {
  const mixed = yield* Random.shuffle(Ways.ways)
  for (let sent = 0; sent < max; sent++) {
    const exchange = yield* send(tools, mixed[sent % mixed.length] ?? Ways.list, sent)
    if (Spending.isDenied(exchange)) return
  }
})

export const programs: ReadonlyArray<Program> = [
  {
    name: "no valid key, again and again",
    profile: "auth",
    requests: 55,
    anonymous: 35,
    run: Effect.fnUntraced(function* (tools) {
      const mixed = yield* Random.shuffle(Ways.ways)
      for (const [index, way] of mixed.entries()) {
        yield* send(tools, way, index)
        if (index % 4 > 0) continue
        yield* tools.send(Spending.look("main"))
        if (tools.hasClock && tools.keys.has("tiny")) {
          yield* tools.advance(Spending.MINUTE_PASSED)
          yield* tools.sendOnce(Spending.look("tiny"))
        }
      }
      if (tools.hasClock) yield* Spending.rest(tools)
    })
  },
  {
    name: "no valid key, beyond the limit",
    profile: "limits",
    needs: ["clock"],
    isDesign: true,
    requests: 190,
    run: Effect.fnUntraced(function* (tools) {
      yield* Spending.rest(tools)
      yield* useUp(tools, 70)
      yield* tools.send(Spending.look("main"))
      // A key that ignores as many denials is banned; a network never is.
      for (let denied = 0; denied < 60; denied++) yield* send(tools, Ways.list, denied)
      for (let round = 0; round < 22; round++) {
        yield* tools.advance(Spending.SECOND)
        for (let each = 0; each < 3; each++) yield* send(tools, Ways.list, each)
      }
      yield* tools.advance(2 * Spending.MINUTE_PASSED)
      yield* send(tools, Ways.list, 0)
      yield* tools.send(Spending.look("main"))
      yield* Spending.rest(tools)
    })
  }
]
