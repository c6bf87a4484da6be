import * as fc from "fast-check"
import { expect, it } from "vitest"
import * as SharedReads from "./SharedReads.ts"

const sql = fc.constantFrom("page", "find")
const params = fc
  .constantFrom<ReadonlyArray<unknown>>([1n, 20], [2n, 20], ["sold", 20])
  .map((values) => [...values])

const act = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant("read" as const), sql, params }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("write" as const) }) }
)

it("a group finds what it would find by reading anew, and others read anew", () => {
  let shared = 0
  fc.assert(
    fc.property(
      fc.array(fc.record({ isGroup: fc.boolean(), acts: fc.array(act, { maxLength: 12, size: "max" }) }), {
        maxLength: 6
      }),
      (turns) => {
        const reads = SharedReads.make<string>()
        let version = 0
        for (const { acts, isGroup } of turns) {
          // Somebody else writes between the turns.
          version++
          let readIn = 0
          const carryOut = (): void => {
            for (const one of acts) {
              if (one.does === "write") {
                reads.clear()
                version++
                continue
              }
              const found = `${one.sql} ${one.params.map(String).join()} ${version}`
              const known = reads.get(one.sql, one.params)
              if (known === undefined) {
                readIn++
                reads.set(one.sql, one.params, found)
              } else {
                shared++
                expect(known).toBe(found)
              }
            }
          }
          if (isGroup) SharedReads.together(carryOut)
          else {
            carryOut()
            expect(readIn).toBe(acts.filter(({ does }) => does === "read").length)
          }
        }
      }
    ),
    { numRuns: 1000 }
  )
  expect(shared).toBeGreaterThan(500)
})

it("a group that breaks off shares nothing with what comes after", () => {
  const reads = SharedReads.make<number>()
  expect(() =>
    SharedReads.together(() => {
      reads.set("find", [1n], 1)
      throw new Error("a bug")
    })
  ).toThrow("a bug")
  expect(reads.get("find", [1n])).toBeUndefined()
  SharedReads.together(() => expect(reads.get("find", [1n])).toBeUndefined())
})
