/** Programs about credentials: each with each operation, and before every other error (contract §5). */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Bodies from "./Bodies.ts"
import * as Calls from "./Calls.ts"
import * as Credentials from "./Credentials.ts"
import * as Draw from "./Draw.ts"
import type { Program, Sent } from "./Program.ts"

const credentials: Program = {
  name: "credentials",
  profile: "auth",
  requests: 280,
  run: Effect.fnUntraced(function* (tools) {
    yield* Calls.stock(tools, 3)
    const send = Calls.sender(tools)
    const near = Object.values(Credentials.near)
    const all = [...Object.values(Credentials.invalid), ...near, ...Object.values(Credentials.open)]
    const calls = [
      "list",
      "create",
      "get the first",
      "HEAD of the list",
      "get none",
      "list by status"
    ] as const
    for (const { call, derive } of yield* Draw.pairs({ call: calls.slice(0, 3), derive: all })) {
      const credential = derive(tools.mainKey)
      if (credential.key !== undefined && !tools.keys.has(credential.key)) continue
      yield* send(Credentials.withCredential(yield* Calls.calls[call](tools), credential))
    }
    const callOf = yield* Draw.swarm(calls.slice(3))
    for (const derive of yield* Random.shuffle(all)) {
      const credential = derive(tools.mainKey)
      if (credential.key !== undefined && !tools.keys.has(credential.key)) continue
      yield* send(Credentials.withCredential(yield* Calls.calls[yield* callOf](tools), credential))
    }
    yield* Calls.lookAtLists(tools)
  })
}

/** Sends requests with an error of their own, without a valid key: the key is checked first. */
const before: Program = {
  name: "credentials before other errors",
  profile: "auth",
  requests: 120,
  run: Effect.fnUntraced(function* (tools) {
    const send = Calls.sender(tools)
    const invalid = Object.values(Credentials.invalid)
    const credentialOf = yield* Draw.swarm(invalid.slice(0, 2))
    const valid = Calls.members(tools)
    const fields = Object.entries(Bodies.fieldValues).flatMap(([field, values]) =>
      values.map((json) => {
        const others = valid.filter(([name]) => name !== field)
        return Bodies.creation(json === undefined ? others : [...others, [field, json]])
      })
    )
    const forms = Object.values(Bodies.unusualForms).map((form) => Bodies.creation(valid, form))
    const types = Bodies.contentTypes.map((each) => Bodies.creation(valid, Bodies.plain, each))
    const paths = [
      "/pets?limit=0",
      "/pets?limit=101",
      "/pets?limit=x",
      "/pets?status=lost",
      "/pets?limit=1&limit=2"
    ]
    const others = [...paths, "/pets/abc", "/pets/-", "/pets/99999999999999999999", "/pets/%zz", "/pets?zz=1"]
    const some = (sent: ReadonlyArray<Sent>, count: number) =>
      Effect.map(Random.shuffle(sent), (shuffled) => shuffled.slice(0, count))
    const all = [
      ...(yield* some(fields, 24)),
      ...(yield* some(forms, 24)),
      ...(yield* some(types, 8)),
      ...others.map((path): Sent => ({ path })),
      ...others.slice(0, 3).map((path): Sent => ({ method: "HEAD", path }))
    ]
    for (const sent of all) {
      const derive = yield* credentialOf
      yield* send(Credentials.withCredential(sent, derive(tools.mainKey)))
    }
  })
}

export const programs: ReadonlyArray<Program> = [credentials, before]
