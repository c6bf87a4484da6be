/** Checks on every store that programs read and create the same animals as clients, under the same rules. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Json from "../../core/codec/Json.ts"
import { int64 } from "../../core/domain/Int64.arbitrary.ts"
import { newPet, petStatus } from "../../core/domain/NewPet.arbitrary.ts"
import type { Pet } from "../../core/domain/Pet.ts"
import * as PetStatus from "../../core/domain/PetStatus.ts"
import type { Pets } from "./Pets.ts"
import * as Stores from "./Stores.fixture.ts"

const encode = (pets: ReadonlyArray<Pet>): string =>
  `[${pets.map(({ categoryId, id, name, status }) => Json.stringify({ id, name, categoryId, status })).join()}]`

const collect = async (pets: Pets): Promise<ReadonlyArray<Pet>> => {
  const all: Array<Pet> = []
  for await (const pet of pets.all()) all.push(pet)
  return all
}

/** Generates animals in which fields may be absent or invalid. */
const given = fc
  .tuple(
    newPet,
    fc.record(
      {
        name: fc.constantFrom<Json.Encodable>("", " ", "\0", "\ud800", "a".repeat(256), null),
        categoryId: fc.constantFrom<Json.Encodable>(2n ** 63n, -(2n ** 63n) - 1n, null, "1"),
        status: fc.constantFrom<Json.Encodable>("SOLD", "", null),
        colour: fc.constant("red")
      },
      { requiredKeys: [] }
    ),
    fc.subarray(["name", "categoryId", "status"]),
    fc.boolean()
  )
  .map(([valid, invalid, omitted, isValid]) => {
    const fields: { [name: string]: Json.Encodable } = { ...valid, ...(isValid ? {} : invalid) }
    for (const name of isValid ? omitted.filter((each) => each === "status") : omitted) delete fields[name]
    return fields
  })

for (const kind of Stores.kinds) {
  const { address, missing } = kind
  describe.skipIf(missing !== undefined)(`store.pets ${Stores.titleEnd(kind)}`, () => {
    it("creates an animal if and only if a strict POST with the same fields does, without a count", async () => {
      const store = await Stores.open({ database: await address(), strict: true })
      const { id, key } = await store.keys.issue({
        plan: "Enterprise",
        limits: { perMinute: 9_999, perDay: 9_999 }
      })
      let posts = 0
      await fc.assert(
        fc.asyncProperty(given, async (fields) => {
          const response = await store.fetch(
            new Request("http://store.test/v1/pets", {
              method: "POST",
              headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
              body: Json.stringify(fields)
            })
          )
          posts++
          const text = await response.text()
          const created: Promise<Pet> = Reflect.apply(store.pets.create, undefined, [fields])
          if (response.status === 201) {
            const pet = await created
            expect(text).toBe(encode([{ ...pet, id: pet.id - 1n }]).slice(1, -1))
          } else {
            const reason = await created.then(String, (error: unknown) => error)
            expect(reason).toMatchObject({ _tag: "InvalidOption" })
            const { option } = reason as { readonly option: string } // an InvalidOption
            expect(JSON.parse(text)).toMatchObject({ code: "invalid_body" })
            expect(text).toContain(option)
          }
        }),
        { numRuns: 60 }
      )
      expect((await store.keys.show(id)).usage.day.used).toBe(posts)
    })

    it("gets and lists the animals that GET returns, and all of them page by page", async () => {
      const store = await Stores.open({ database: await address() })
      const { key } = await store.keys.issue({
        plan: "Enterprise",
        limits: { perMinute: 9_999, perDay: 9_999 }
      })
      const get = async (path: string) =>
        store.fetch(
          new Request(`http://store.test/v1/pets${path}`, { headers: { Authorization: `Bearer ${key}` } })
        )
      expect([await collect(store.pets), await store.pets.list()]).toEqual([[], []])
      const created: Array<Pet> = []
      for (const pet of fc.sample(newPet, 100)) created.push(await store.pets.create(pet))
      // Exactly one page, and then one animal more.
      expect(await collect(store.pets)).toEqual(created)
      created.push(await store.pets.create({ name: "Rex", categoryId: -1n, status: undefined }))
      expect(created.at(-1)).toMatchObject({ status: PetStatus.initial })
      expect(await collect(store.pets)).toEqual(created)
      expect(await (await get("")).text()).toBe(encode(await store.pets.list()))
      const last = created.at(-1)?.id ?? 0n
      const after = fc.oneof(fc.bigInt({ min: 0n, max: last + 1n }), int64, fc.constant(undefined))
      const limit = fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined })
      const status = fc.option(petStatus, { nil: undefined })
      await fc.assert(
        fc.asyncProperty(fc.record({ after, limit, status }), async (options) => {
          const listed = await store.pets.list(options)
          const expected = created
            .filter((pet) => pet.id > (options.after ?? 0n))
            .filter((pet) => options.status === undefined || pet.status === options.status)
          expect(listed).toEqual(expected.slice(0, options.limit ?? 20))
          const { after: id = 0n } = options
          const response = await get(`/${id}`)
          const pet = await store.pets.get(id)
          expect(response.status).toBe(pet === undefined ? 404 : 200)
          if (pet !== undefined) expect(`[${await response.text()}]`).toBe(encode([pet]))
        }),
        { numRuns: 60 }
      )
    })
  })
}
