/** Sends each credential with each operation (contract §5). */
import * as Calls from "./Calls.ts"
import * as Credentials from "./Credentials.ts"
import * as Draw from "./Draw.ts"
import { type Program, program } from "./Program.ts"

const { calls, refused } = Calls
const operations = [calls.list, calls.creation, calls["the first"]]
const others = [
  ...[calls["list by status"], calls["an unknown id"]],
  ...[calls["HEAD of the list"], calls["HEAD of an animal"]]
]

/** Numbers of the usual invalid credentials, of spellings of the key in another case, and of the nearest credentials. */
const [USUAL, CASES, NEAREST] = [4, 3, 10]

export const programs: ReadonlyArray<Program> = [
  program("credentials", { profile: "auth", requests: 153, anonymous: 141 }, function* (tools) {
    yield* Calls.stock(tools, 3)
    yield* Calls.lookAtLists(tools)
    const { invalid, near, open } = Credentials
    const rows: Array<{ call: Calls.Call; derive: Credentials.Derived }> = []
    // The key is checked before everything else.
    for (const derive of invalid.slice(0, 2)) for (const call of refused) rows.push({ call, derive })
    for (const derive of [...invalid.slice(0, USUAL), ...near.slice(0, CASES)])
      for (const call of [...operations, ...others]) rows.push({ call, derive })
    for (const derive of near.slice(CASES, NEAREST))
      for (const call of [...operations, yield* Draw.one(others)]) rows.push({ call, derive })
    for (const derive of [...invalid.slice(USUAL), ...near.slice(NEAREST), ...open])
      rows.push({ call: yield* Draw.one(operations), derive })
    // Each credential once, before the limit of callers without a valid key is used up.
    const isFirst = (row: (typeof rows)[number]) => rows.find(({ derive }) => derive === row.derive) === row
    for (const { call, derive } of rows.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)))) {
      const credential = derive(tools.keys.main)
      const { key } = credential
      if ((key === "revoked" || key === "expired") && tools.keys[key] === undefined) continue
      yield* tools.send(Credentials.withCredential(yield* call(tools), credential))
    }
    yield* Calls.lookAtLists(tools)
  })
]
