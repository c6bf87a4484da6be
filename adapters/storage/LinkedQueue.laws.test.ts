import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { LinkedQueue, type Place } from "./LinkedQueue.ts"

type Action =
  | { readonly kind: "add" }
  | { readonly kind: "shift" }
  | { readonly kind: "remove"; readonly nth: number }

const actions: fc.Arbitrary<ReadonlyArray<Action>> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("add" as const) }),
    fc.record({ kind: fc.constant("shift" as const) }),
    fc.record({ kind: fc.constant("remove" as const), nth: fc.nat(20) })
  ),
  { maxLength: 80 }
)

describe("LinkedQueue", () => {
  it("returns and removes the same elements as an array, in the same order", () => {
    fc.assert(
      fc.property(actions, (history) => {
        const queue = new LinkedQueue<number>()
        const places: Array<Place<number>> = []
        let model: ReadonlyArray<number> = []
        for (const action of history) {
          if (action.kind === "add") {
            const element = places.length
            places.push(queue.add(element))
            model = [...model, element]
          } else if (action.kind === "shift") {
            expect(queue.shift()).toBe(model[0])
            model = model.slice(1)
          } else {
            const place = places[action.nth % Math.max(places.length, 1)]
            if (place === undefined) continue
            expect(queue.remove(place)).toBe(model.includes(place.element))
            model = model.filter((element) => element !== place.element)
          }
          expect([queue.size, queue.first]).toEqual([model.length, model[0]])
        }
      })
    )
  })

  it("leaves no reference from a removed place to another place", () => {
    const queue = new LinkedQueue<number>()
    const places = [1, 2, 3].map((element) => queue.add(element))
    for (const nth of [1, 0, 2]) {
      const place = places[nth]
      if (place !== undefined) queue.remove(place)
      expect([place?.previous, place?.next]).toEqual([undefined, undefined])
    }
  })
})
