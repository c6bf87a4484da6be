/** Programs about credentials: each with each operation, and before every other error (contract §5). */
import * as Bodies from "./Bodies.ts"
import * as Calls from "./Calls.ts"
import * as Credentials from "./Credentials.ts"
import * as Draw from "./Draw.ts"
import { type Program, program, type Sent } from "./Program.ts"

const operations = ["list", "creation", "the first"] as const
const all = [
  ...operations,
  "list by status",
  "HEAD of the list",
  "HEAD of an animal",
  "an unknown id"
] as const

/** Numbers of the usual invalid credentials, and of the nearest ones, that are sent with each operation. */
const [USUAL, NEAREST] = [4, 10]

const credentials = program(
  "credentials",
  { profile: "auth", requests: 190, anonymous: 170 },
  function* (tools) {
    yield* Calls.stock(tools, 3)
    yield* Calls.lookAtLists(tools)
    const dress = yield* Calls.dresser
    const { expired, main, revoked } = tools.keys
    const derived = (derive: ReadonlyArray<Credentials.Derived>) =>
      derive
        .map((each) => each(main))
        .filter(
          ({ key }) =>
            (key !== "revoked" || revoked !== undefined) && (key !== "expired" || expired !== undefined)
        )
    const { invalid, near } = Credentials
    const usual = derived([...invalid.slice(0, USUAL), ...near.slice(0, NEAREST)])
    const others = [...invalid.slice(USUAL), ...near.slice(NEAREST)]
    const rows = [...(yield* Draw.pairs({ call: all, credential: usual }))]
    for (const credential of derived(others))
      for (const call of yield* Draw.some(operations, 2)) rows.push({ call, credential })
    for (const credential of derived(Credentials.open))
      rows.push({ call: yield* Draw.one(operations), credential })
    for (const { call, credential } of rows)
      yield* tools.send(Credentials.withCredential(yield* dress(yield* Calls.calls[call](tools)), credential))
    yield* Calls.lookAtLists(tools)
  }
)

/** Sends requests with an error of their own and without a valid key, which is checked first. */
const first = program(
  "credentials before other errors",
  { profile: "auth", requests: 40, anonymous: 55 },
  function* (tools) {
    const valid = Calls.members(tools)
    const fields = Object.entries(Bodies.fieldValues).flatMap(([field, values]) =>
      values.map((json) => Bodies.creation(Calls.withValue(valid, field, json)))
    )
    const forms = Bodies.unusualForms.map((form) => Bodies.creation(valid, form))
    const types = Bodies.contentTypes.map((each) => Bodies.creation(valid, Bodies.plain, each))
    const queries = ["limit=0", "limit=101", "limit=x", "status=lost", "limit=1&limit=2", "zz=1"]
    const ids = ["abc", "-", "99999999999999999999", "%zz"]
    const paths = [...queries.map((query) => `/pets?${query}`), ...ids.map((id) => `/pets/${id}`)]
    const all = [
      ...(yield* Draw.some(fields, 10)),
      ...(yield* Draw.some(forms, 10)),
      ...(yield* Draw.some(types, 6)),
      ...paths.map((path): Sent => ({ path })),
      ...paths.slice(0, 3).map((path): Sent => ({ method: "HEAD", path }))
    ]
    const credentialOf = yield* Draw.swarm(Credentials.invalid.slice(0, 2))
    for (const sent of all)
      yield* tools.send(Credentials.withCredential(sent, (yield* credentialOf)(tools.keys.main)))
  }
)

export const programs: ReadonlyArray<Program> = [credentials, first]
