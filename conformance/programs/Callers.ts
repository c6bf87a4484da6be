/** Sends each credential with each operation (contract §5). */
import * as Calls from "./Calls.ts"
import * as Credentials from "./Credentials.ts"
import * as Draw from "./Draw.ts"
import { type Program, program } from "./Program.ts"

const operations = ["list", "creation", "the first"] as const
const others = ["list by status", "HEAD of the list", "HEAD of an animal", "an unknown id"] as const

/** Numbers of the usual invalid credentials, and of the nearest ones, that are sent with each operation. */
const [USUAL, NEAREST] = [4, 10]

export const programs: ReadonlyArray<Program> = [
  program("credentials", { profile: "auth", requests: 125, anonymous: 113 }, function* (tools) {
    yield* Calls.stock(tools, 3)
    yield* Calls.lookAtLists(tools)
    const { invalid, near, open } = Credentials
    const rows: Array<{ call: keyof typeof Calls.calls; derive: Credentials.Derived }> = []
    for (const derive of invalid.slice(0, USUAL))
      for (const call of [...operations, ...others]) rows.push({ call, derive })
    for (const derive of near.slice(0, NEAREST))
      for (const call of [...operations, yield* Draw.one(others)]) rows.push({ call, derive })
    for (const derive of [...invalid.slice(USUAL), ...near.slice(NEAREST), ...open])
      rows.push({ call: yield* Draw.one(operations), derive })
    // Each credential once, before the limit of callers without a valid key is used up.
    const isFirst = (row: (typeof rows)[number]) => rows.find(({ derive }) => derive === row.derive) === row
    for (const { call, derive } of rows.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)))) {
      const credential = derive(tools.keys.main)
      const { key } = credential
      if ((key === "revoked" || key === "expired") && tools.keys[key] === undefined) continue
      yield* tools.send(Credentials.withCredential(yield* Calls.calls[call](tools), credential))
    }
    yield* Calls.lookAtLists(tools)
  })
]
