/** Programs about credentials: each with each operation, and before every other error (contract §5). */
import * as Bodies from "./Bodies.ts"
import * as Calls from "./Calls.ts"
import * as Credentials from "./Credentials.ts"
import * as Draw from "./Draw.ts"
import { type Program, program, type Sent } from "./Program.ts"
import { words } from "./Words.ts"

const operations = ["list", "creation", "the first"] as const
const others = ["list by status", "HEAD of the list", "HEAD of an animal", "an unknown id"] as const

/** Numbers of the usual invalid credentials, and of the nearest ones, that are sent with each operation. */
const [USUAL, NEAREST] = [4, 10]

export const programs: ReadonlyArray<Program> = [
  program("credentials", { profile: "auth", requests: 190, anonymous: 170 }, function* (tools) {
    yield* Calls.stock(tools, 3)
    yield* Calls.lookAtLists(tools)
    const dress = yield* Calls.dresser
    const derived = (derive: ReadonlyArray<Credentials.Derived>) =>
      derive
        .map((each) => each(tools.keys.main))
        .filter(({ key }) => (key !== "revoked" && key !== "expired") || tools.keys[key] !== undefined)
    const { invalid, near } = Credentials
    const usual = derived([...invalid.slice(0, USUAL), ...near.slice(0, NEAREST)])
    const rows = usual.flatMap((credential) =>
      [...operations, ...others].map((call) => ({ call, credential }))
    )
    for (const credential of derived([...invalid.slice(USUAL), ...near.slice(NEAREST)]))
      for (const call of yield* Draw.some(operations, 2)) rows.push({ call, credential })
    for (const credential of derived(Credentials.open))
      rows.push({ call: yield* Draw.one(operations), credential })
    // Each credential once, before the limit of callers without a valid key is used up.
    const first = rows.filter(
      ({ credential }, index) => rows.findIndex((row) => row.credential === credential) === index
    )
    for (const { call, credential } of [...first, ...rows.filter((row) => !first.includes(row))])
      yield* tools.send(Credentials.withCredential(yield* dress(yield* Calls.calls[call](tools)), credential))
    yield* Calls.lookAtLists(tools)
  }),
  /** Sends requests with an error of their own and without a valid key, which is checked first. */
  program("credentials first", { profile: "auth", requests: 40, anonymous: 55 }, function* (tools) {
    const valid = Calls.members(tools)
    const bodies = [
      ...Object.entries(Bodies.fieldValues).flatMap(([field, values]) =>
        values.map((json) => Bodies.creation(Calls.withValue(valid, field, json)))
      ),
      ...Bodies.unusualForms.map((form) => Bodies.creation(valid, form)),
      ...Bodies.contentTypes.map((types) => Bodies.creation(valid, Bodies.plain, types))
    ]
    const queries = words("?limit=0 ?limit=101 ?limit=x ?status=lost ?limit=1&limit=2 ?zz=1")
    const paths = [...queries, ...words("/abc /- /99999999999999999999 /%zz")].map((tail) => `/pets${tail}`)
    const all: ReadonlyArray<Sent> = [
      ...(yield* Draw.some(bodies, 26)),
      ...paths.map((path) => ({ path })),
      ...paths.slice(0, 3).map((path) => ({ method: "HEAD", path }))
    ]
    const credentialOf = yield* Draw.swarm(Credentials.invalid.slice(0, 2))
    for (const sent of all)
      yield* tools.send(Credentials.withCredential(sent, (yield* credentialOf)(tools.keys.main)))
  })
]
