import * as fc from "fast-check"
import { expect, it } from "vitest"
import { EventQueue } from "./EventQueue.ts"

it("an event queue returns events in order of time, and events with equal times in the order in which they were added", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.nat(40), (times, firstCount) => {
      const queue = new EventQueue()
      const expected = times.map((at, index) => ({ at, index }))
      const order: Array<number> = []
      const add = ({ at, index }: (typeof expected)[number]) => queue.add(at, () => order.push(index))
      const takeAll = (limit = Number.POSITIVE_INFINITY) => {
        for (let count = 0; count < limit; count++) {
          const event = queue.take()
          if (event === undefined) return
          event.run?.()
        }
      }
      const first = expected.slice(0, firstCount)
      for (const event of first) add(event)
      takeAll(first.length)
      const byTime = (events: typeof expected) => events.toSorted((first, second) => first.at - second.at)
      expect(order).toEqual(byTime(first).map(({ index }) => index))
      const second = expected.slice(firstCount)
      for (const event of second) add(event)
      takeAll()
      expect(order).toEqual([...byTime(first), ...byTime(second)].map(({ index }) => index))
    })
  )
})
