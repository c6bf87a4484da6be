/** Sends many requests without a valid key, and looks whether they change what valid keys get. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Calls from "../Calls.ts"
import * as Credentials from "../Credentials.ts"
import { type Program, program, type Tools } from "../Program.ts"
import { SECOND } from "./Moments.ts"
import * as Spending from "./Spending.ts"

/** Credentials that are no key; some resemble one. */
const credentials = [...Credentials.invalid.slice(0, 2), ...Credentials.near.slice(4, 6)]

const send = (tools: Tools, index: number, call: Calls.Call = Calls.calls.list) =>
  Effect.flatMap(call(tools), (sent) =>
    tools.sendOnce({ ...sent, ...credentials[index % credentials.length]?.(tools.keys.main) })
  )

export const programs: ReadonlyArray<Program> = [
  program(
    "no valid key, again and again",
    { profile: "auth", requests: 55, anonymous: 35 },
    function* (tools) {
      for (const [index, call] of (yield* Random.shuffle(Calls.all)).entries()) {
        yield* send(tools, index, call)
        if (index % 4 > 0) continue
        yield* tools.send(Spending.look)
        if (tools.hasClock && tools.keys.tiny !== undefined) {
          yield* tools.advance(Spending.MINUTE_PASSED)
          yield* tools.sendOnce({ ...Spending.look, key: "tiny" })
        }
      }
      if (tools.hasClock) yield* Spending.rest(tools)
    }
  ),
  program(
    "no valid key, beyond the limit",
    { profile: "limits", needs: ["clock"], isDesign: true, requests: 190 },
    function* (tools) {
      yield* Spending.rest(tools)
      const mixed = yield* Random.shuffle(Calls.all)
      for (let sent = 0; sent < 70; sent++)
        if (Spending.isDenied(yield* send(tools, sent, mixed[sent % mixed.length]))) break
      yield* tools.send(Spending.look)
      // A key that ignores as many denials is banned; a network never is.
      for (let sent = 0; sent < 126; sent++) {
        yield* send(tools, sent)
        if (sent >= 60 && sent % 3 === 0) yield* tools.advance(SECOND)
      }
      yield* tools.advance(2 * Spending.MINUTE_PASSED)
      yield* send(tools, 0)
      yield* tools.send(Spending.look)
      yield* Spending.rest(tools)
    }
  )
]
