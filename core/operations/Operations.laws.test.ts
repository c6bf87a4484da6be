import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { type PetStatus, all as statuses } from "../domain/PetStatus.ts"
import { open, run, type TestResponse, unlimited } from "../service/Service.fixture.ts"

const animals = (maxLength: number) =>
  fc.array(fc.constantFrom<PetStatus | undefined>(...statuses, undefined), { maxLength, size: "max" })

const limit = fc.oneof(
  fc.integer({ min: 1, max: 100 }),
  fc.integer({ min: 1, max: 5 }),
  fc.constant<undefined>(undefined)
)

describe("listPets", () => {
  it("returns every matching animal exactly once, by ascending id, through `next` links, while animals are added", async () => {
    await fc.assert(
      fc.asyncProperty(
        animals(120),
        fc.constantFrom<PetStatus | undefined>(...statuses, undefined),
        limit,
        fc.array(fc.tuple(animals(4), limit), { maxLength: 20 }),
        (before, filter, firstLimit, between) =>
          run(
            Effect.gen(function* () {
              const store = yield* open()
              const { secret: key } = yield* store.issue(unlimited)
              const model: Array<{ readonly id: number; readonly status: PetStatus }> = []
              const add = Effect.fnUntraced(function* (status: PetStatus | undefined) {
                const response = yield* store.send({
                  key,
                  method: "POST",
                  json: { name: "x", categoryId: 1, status }
                })
                const id = model.length + 1
                model.push({ id, status: status ?? "available" })
                expect(response.json).toEqual({ id, name: "x", categoryId: 1, status: status ?? "available" })
              })
              for (const status of before) yield* add(status)

              const query = [
                ...(firstLimit === undefined ? [] : [`limit=${firstLimit}`]),
                ...(filter === undefined ? [] : [`status=${filter}`])
              ]
              const returned: Array<unknown> = []
              const pauses = between.values()
              let pageLimit = firstLimit ?? 20
              let target: string | undefined = `/v1/pets?${query.join("&")}`
              while (target !== undefined) {
                const page: TestResponse = yield* store.send({ key, target })
                expect(page.status).toBe(200)
                const received: unknown = page.json
                const matching = model.filter(({ status }) => filter === undefined || status === filter)
                // Compares the page with the model: the next animals after the received ones, at most `limit`.
                const expected = matching.slice(returned.length, returned.length + pageLimit)
                expect(received).toEqual(expected.map((pet) => ({ name: "x", categoryId: 1, ...pet })))
                returned.push(...expected)
                expect(page.next !== undefined).toBe(returned.length < matching.length)
                target = page.next
                const [added, nextLimit] = pauses.next().value ?? [[], undefined]
                for (const status of target === undefined ? [] : added) yield* add(status)
                if (target !== undefined && nextLimit !== undefined) {
                  target = target.replace(/limit=\d+/, `limit=${nextLimit}`)
                  pageLimit = nextLimit
                }
              }
              expect(returned).toEqual(
                model.filter(({ status }) => filter === undefined || status === filter)
              )
            })
          )
      ),
      { numRuns: 100 }
    )
  })
})
