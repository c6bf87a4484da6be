/** Programs about credentials: each with each operation, and before every other error (contract §5). */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Bodies from "./Bodies.ts"
import * as Calls from "./Calls.ts"
import * as Credentials from "./Credentials.ts"
import * as Draw from "./Draw.ts"
import type { Program, Sent } from "./Program.ts"

const operations = ["list", "create", "get the first"] as const
const others = ["list by status", "HEAD of the list", "HEAD of an animal", "get none"] as const

const credentials: Program = {
  name: "credentials",
  profile: "auth",
  requests: 270,
  run: Effect.fnUntraced(function* (tools) {
    yield* Calls.stock(tools, 3)
    yield* Calls.lookAtLists(tools)
    const send = Calls.sender(tools)
    const dress = yield* Calls.dresser
    const { invalid, near, open } = Credentials
    const derived = (all: ReadonlyArray<Credentials.Derived>) =>
      all.map((derive) => derive(tools.mainKey)).filter(({ key }) => key === undefined || tools.keys.has(key))
    const [usual, nearest] = [Object.values(invalid).slice(0, 4), Object.values(near).slice(0, 10)]
    const all = [
      ...(yield* Draw.pairs({
        call: operations,
        credential: derived([invalid, near, open].flatMap((table) => Object.values(table)))
      })),
      ...(yield* Draw.pairs({ call: others, credential: derived([...usual, ...nearest]) }))
    ]
    for (const { call, credential } of all)
      yield* send(Credentials.withCredential(yield* dress(yield* Calls.calls[call](tools)), credential))
    yield* Calls.lookAtLists(tools)
  })
}

/** Sends requests with an error of their own and without a valid key, which is checked first. */
const first: Program = {
  name: "credentials before other errors",
  profile: "auth",
  requests: 80,
  run: Effect.fnUntraced(function* (tools) {
    const send = Calls.sender(tools)
    const valid = Calls.members(tools)
    const fields = Object.entries(Bodies.fieldValues).flatMap(([field, values]) =>
      values.map((json) => {
        const others = valid.filter(([name]) => name !== field)
        return Bodies.creation(json === undefined ? others : [...others, [field, json]])
      })
    )
    const forms = Object.values(Bodies.unusualForms).map((form) => Bodies.creation(valid, form))
    const types = Bodies.contentTypes.map((each) => Bodies.creation(valid, Bodies.plain, each))
    const queries = ["limit=0", "limit=101", "limit=x", "status=lost", "limit=1&limit=2", "zz=1"]
    const ids = ["abc", "-", "99999999999999999999", "%zz"]
    const paths = [...queries.map((query) => `/pets?${query}`), ...ids.map((id) => `/pets/${id}`)]
    const some = (sent: ReadonlyArray<Sent>, count: number) =>
      Effect.map(Random.shuffle(sent), (shuffled) => shuffled.slice(0, count))
    const all = [
      ...(yield* some(fields, 24)),
      ...(yield* some(forms, 24)),
      ...(yield* some(types, 8)),
      ...paths.map((path): Sent => ({ path })),
      ...paths.slice(0, 3).map((path): Sent => ({ method: "HEAD", path }))
    ]
    const credentialOf = yield* Draw.swarm(Object.values(Credentials.invalid).slice(0, 2))
    for (const sent of all)
      yield* send(Credentials.withCredential(sent, (yield* credentialOf)(tools.mainKey)))
  })
}

export const programs: ReadonlyArray<Program> = [credentials, first]
