import { setImmediate } from "node:timers/promises"
import { expect, it } from "vitest"
import { Turns, type Waiting } from "./Turns.ts"

const waiting = (goOn: () => void): Waiting => ({ goOn, isUnderWay: false })

it("everybody goes on once, in order, and only a few in each turn of the event loop", async () => {
  const turns = new Turns()
  const gone: Array<number> = []
  for (let index = 0; index < 100; index++) turns.add(waiting(() => gone.push(index)))
  expect(gone).toEqual([])
  while (gone.length < 100) {
    const before = gone.length
    await setImmediate()
    expect(gone.length - before).toBeLessThanOrEqual(2)
  }
  expect(gone).toEqual(Array.from({ length: 100 }, (_, index) => index))
  await setImmediate()
  expect(gone).toHaveLength(100)
})

it("who asks again when it goes on waits behind the others", async () => {
  const turns = new Turns()
  const gone: Array<string> = []
  for (const name of ["a", "b", "c"]) {
    const one = waiting(() => {
      gone.push(name)
      if (gone.length < 60) turns.add(one)
    })
    turns.add(one)
  }
  while (gone.length < 60) await setImmediate()
  expect(gone.slice(0, 60)).toEqual(Array.from({ length: 60 }, (_, index) => "abc"[index % 3]))
})

it("nobody goes on while the service works on sixteen of their requests", async () => {
  const turns = new Turns()
  const gone: Array<{ isUnderWay: boolean }> = []
  for (let index = 0; index < 40; index++) {
    const one = { isUnderWay: true, goOn: () => gone.push(one) }
    turns.add(one)
  }
  for (let turn = 0; turn < 50; turn++) await setImmediate()
  expect(gone).toHaveLength(16)
  for (const [index, one] of gone.entries()) one.isUnderWay = index % 2 === 0
  while (gone.length < 24) await setImmediate()
  for (let turn = 0; turn < 50; turn++) await setImmediate()
  expect(gone).toHaveLength(24)
})
