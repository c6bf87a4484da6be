/** Sends requests without a valid key, and looks whether they change what valid keys get (contract §5). */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Calls from "./Calls.ts"
import * as Credentials from "./Credentials.ts"
import * as Draw from "./Draw.ts"
import { type Program, program, type Sent } from "./Program.ts"
import { SECOND } from "./scenarios/Moments.ts"
import * as Spending from "./scenarios/Spending.ts"

const { calls, refused } = Calls
const { invalid, near, open } = Credentials
const operations = [calls.list, calls.creation, calls["the first"]]
const others = [
  ...[calls["list by status"], calls["an unknown id"]],
  ...[calls["HEAD of the list"], calls["HEAD of an animal"]]
]

/** Numbers of the usual invalid credentials, of spellings of the key in another case, and of the nearest credentials. */
const [USUAL, CASES, NEAREST] = [4, 3, 10]

export const programs: ReadonlyArray<Program> = [
  program("credentials", { profile: "auth", requests: 205, anonymous: 170 }, function* (tools) {
    yield* Calls.stock(tools, 3)
    yield* Calls.lookAtLists(tools)
    const sent: Array<Sent> = []
    const add = Effect.fnUntraced(function* (derive: Credentials.Derived, ...all: ReadonlyArray<Calls.Call>) {
      const credential = derive(tools.keys.main)
      const { key } = credential
      if ((key === "revoked" || key === "expired") && tools.keys[key] === undefined) return
      for (const call of all) sent.push(Credentials.withCredential(yield* call(tools), credential))
    })
    // Each credential once, before the limit of callers without a valid key is used up.
    for (const derive of [...invalid, ...near, ...open]) yield* add(derive, yield* Draw.one(operations))
    // The key is checked before everything else.
    const usual = [...invalid.slice(0, 2), ...near.slice(CASES, NEAREST)]
    for (const call of [...Calls.all, ...refused]) yield* add(yield* Draw.one(usual), call)
    for (const derive of [...invalid.slice(0, USUAL), ...near.slice(0, CASES)])
      yield* add(derive, ...operations, ...others)
    for (const derive of near.slice(CASES, NEAREST)) yield* add(derive, ...operations)
    yield* Calls.sendAll(tools, sent)
    if (tools.hasClock) yield* Spending.rest(tools)
  }),
  /** Reaches what this project decided on callers without a valid key: their limit, and that they are never banned. */
  program(
    "no valid key, beyond the limit",
    { profile: "limits", needs: ["clock"], isDesign: true, requests: 210 },
    function* (tools) {
      const credentials = [...invalid.slice(0, 2), ...near.slice(4, 6)]
      const mixed = yield* Random.shuffle(Calls.all)
      const send = Effect.fnUntraced(function* (index: number) {
        const sent = yield* (mixed[index] ?? calls.list)(tools)
        yield* tools.sendOnce({ ...sent, ...credentials[index % credentials.length]?.(tools.keys.main) })
      })
      yield* Spending.rest(tools)
      // A key that ignores as many denials is banned; a network never is.
      for (let sent = 0; sent < 205; sent++) {
        yield* send(sent)
        if (sent >= 130 && sent % 3 === 0) yield* tools.advance(SECOND)
        if (sent === 130) yield* tools.send(Spending.look)
      }
      yield* tools.advance(2 * Spending.MINUTE_PASSED)
      yield* send(0)
      yield* tools.send(Spending.look)
      yield* Spending.rest(tools)
    }
  )
]
