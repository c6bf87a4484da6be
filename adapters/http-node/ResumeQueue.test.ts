import { setImmediate } from "node:timers/promises"
import { expect, it } from "vitest"
import { type Resumable, ResumeQueue } from "./ResumeQueue.ts"

const idle = (resume: () => void): Resumable => ({ resume, isInFlight: false })

it("ResumeQueue resumes each connection once, in order, at most two per turn of the event loop", async () => {
  const queue = new ResumeQueue()
  const resumed: Array<number> = []
  for (let index = 0; index < 100; index++) queue.add(idle(() => resumed.push(index)))
  expect(resumed).toEqual([])
  while (resumed.length < 100) {
    const before = resumed.length
    await setImmediate()
    expect(resumed.length - before).toBeLessThanOrEqual(2)
  }
  expect(resumed).toEqual(Array.from({ length: 100 }, (_, index) => index))
  await setImmediate()
  expect(resumed).toHaveLength(100)
})

it("ResumeQueue moves a connection that is added again while it resumes to the end of the queue", async () => {
  const queue = new ResumeQueue()
  const resumed: Array<string> = []
  for (const name of ["a", "b", "c"]) {
    const connection = idle(() => {
      resumed.push(name)
      if (resumed.length < 60) queue.add(connection)
    })
    queue.add(connection)
  }
  while (resumed.length < 60) await setImmediate()
  expect(resumed.slice(0, 60)).toEqual(Array.from({ length: 60 }, (_, index) => "abc"[index % 3]))
})

it("ResumeQueue resumes no further connection while sixteen resumed connections have a request in flight", async () => {
  const queue = new ResumeQueue()
  const resumed: Array<{ isInFlight: boolean }> = []
  for (let index = 0; index < 40; index++) {
    const connection = { isInFlight: true, resume: () => resumed.push(connection) }
    queue.add(connection)
  }
  for (let turn = 0; turn < 50; turn++) await setImmediate()
  expect(resumed).toHaveLength(16)
  for (const [index, connection] of resumed.entries()) connection.isInFlight = index % 2 === 0
  while (resumed.length < 24) await setImmediate()
  for (let turn = 0; turn < 50; turn++) await setImmediate()
  expect(resumed).toHaveLength(24)
})
