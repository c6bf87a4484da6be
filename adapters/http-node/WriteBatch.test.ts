import { setImmediate as endOfTurn } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { WriteBatch } from "./WriteBatch.ts"

/** Adds sockets to a batch, and returns the number of those that have sent. */
const add = (batch: WriteBatch, count: number): (() => number) => {
  let sent = 0
  for (let index = 0; index < count; index++) batch.add({ cork: () => {}, uncork: () => void sent++ })
  return () => sent
}

describe("WriteBatch", () => {
  it("sends at the end of the turn", async () => {
    const batch = new WriteBatch()
    const first = add(batch, 3)
    expect(first()).toBe(0)
    await endOfTurn()
    expect(first()).toBe(3)
    const second = add(batch, 1)
    await endOfTurn()
    expect([first(), second()]).toEqual([3, 1])
  })

  it("sends without waiting after 64 reads and writes", async () => {
    const batch = new WriteBatch()
    const sent = add(batch, 63)
    expect(sent()).toBe(0)
    batch.count()
    expect(sent()).toBe(63)
    const last = add(batch, 1)
    await endOfTurn()
    expect(last()).toBe(1)
  })
})
