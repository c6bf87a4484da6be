import * as fc from "fast-check"
import { expect, it } from "vitest"
import type { KeyStatus } from "../../core/access/KeyStatus.ts"
import * as KeyList from "./KeyList.ts"

it("lists what was stored at most five seconds ago, and never what was stored before an action", async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("wait" as const), ms: fc.nat(7_000) }),
    fc.record({ do: fc.constant("action" as const) }),
    fc.record({ do: fc.constant("list" as const) })
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.constantFrom(1, 500), async (steps, size) => {
      let now = 0
      let acted = 0
      let reads = 0
      const list = KeyList.make(async () => {
        reads++
        // Each key has the time at which the list was read.
        return Array.from({ length: size }, () => ({ createdAt: now }) as KeyStatus)
      })
      for (const { do: name, ...rest } of steps) {
        if ("ms" in rest) now += rest.ms
        else if (name === "action") {
          acted = now
          list.discard()
        } else {
          const before = reads
          const readAt = (await list.all(now))[0]?.createdAt ?? -1
          expect(readAt).toBeGreaterThanOrEqual(Math.max(acted, now - 5_000))
          if (size === 1) expect([readAt, reads]).toEqual([now, before + 1])
        }
      }
    })
  )
})

it("discards a list whose reading began before an action", async () => {
  const resolve: Array<() => void> = []
  let version = 0
  const list = KeyList.make(() => {
    const read = version
    return new Promise((done) =>
      resolve.push(() => done(Array.from({ length: 500 }, () => ({ createdAt: read }) as KeyStatus)))
    )
  })
  const first = list.all(0)
  version = 1
  list.discard()
  const second = list.all(1)
  for (const done of resolve) done()
  expect([(await first)[0]?.createdAt, (await second)[0]?.createdAt]).toEqual([0, 1])
  expect((await list.all(2))[0]?.createdAt).toBe(1)
})
