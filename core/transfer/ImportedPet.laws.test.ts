import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { jsonText, nearlyJsonText } from "../codec/Json.arbitrary.ts"
import * as NewPetBody from "../codec/NewPetBody.ts"
import * as PetJson from "../codec/PetJson.ts"
import * as Int64 from "../domain/Int64.ts"
import { newPet } from "../domain/NewPet.arbitrary.ts"
import { Pet } from "../domain/Pet.ts"
import * as ImportedPet from "./ImportedPet.ts"

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

const positive = fc.bigInt({ min: 1n, max: Int64.max })

const options = fc.record({ keepIds: fc.boolean(), ignoreUnknown: fc.boolean() })

const kept = { keepIds: true, ignoreUnknown: false }

describe("ImportedPet.decode", () => {
  it("decodes an exported animal to the same animal, with its id only if ids are kept", () => {
    fc.assert(
      fc.property(positive, newPet, options, (id, pet, given) => {
        fc.pre(id < Int64.max)
        expect(ImportedPet.decode(encode(PetJson.encode(new Pet(id, pet))), given)).toEqual(
          Result.succeed({ id: given.keepIds ? id : undefined, ...pet })
        )
      }),
      { numRuns: 1000 }
    )
  })

  it("rejects the largest id, after which no animal could be created", () => {
    const line = encode(PetJson.encode(new Pet(Int64.max, { name: "Rex", categoryId: 0n, status: "sold" })))
    expect(ImportedPet.decode(line, kept)).toEqual(
      Result.fail("id: must be less than 9223372036854775807, so that later animals get larger ids")
    )
  })

  it("accepts a line without an id if and only if POST /v1/pets accepts it as a body", () => {
    const petText = newPet.map((pet) => PetJson.encode(new Pet(1n, pet)).replace('"id":1,', ""))
    const damaged = fc
      .tuple(petText, fc.nat(), fc.constantFrom("", "1", '"', ",", "x", "\u0000", '"extra":1,'))
      .map(([text, place, insertion]) => {
        const index = place % text.length
        return text.slice(0, index) + insertion + text.slice(index + 1)
      })
    fc.assert(
      fc.property(fc.oneof(petText, damaged, jsonText, nearlyJsonText), fc.boolean(), (text, strict) => {
        fc.pre(!text.includes('"id"'))
        const line = ImportedPet.decode(encode(text), { keepIds: false, ignoreUnknown: !strict })
        const body = NewPetBody.decode(encode(text), strict)
        expect(Result.isSuccess(line)).toBe(Result.isSuccess(body))
        if (Result.isSuccess(line) && Result.isSuccess(body)) expect(line.success).toMatchObject(body.success)
      }),
      { numRuns: 1000 }
    )
  })

  it.each([
    ['{"name":"Rex","categoryId":1}', "id: is required"],
    ['{"id":0,"name":"Rex","categoryId":1}', "id: must be 1 or more"],
    ['{"id":-1,"name":"Rex","categoryId":1}', "id: must be 1 or more"],
    ['{"id":"1","name":"Rex","categoryId":1}', `id: ${Int64.message}`],
    ['{"id":9223372036854775808,"name":"Rex","categoryId":1}', `id: ${Int64.message}`],
    ['{"id":1.5,"name":""}', `id: ${Int64.message}; name: must not be empty; categoryId: is required`],
    ['{"id":1,"name":"Rex","categoryId":1,"color":"red"}', '"color": is not a known field'],
    ["[]", "must be a JSON object"],
    ['{"id":1,', "not valid JSON: expected a name in double quotes at position 8"]
  ])("rejects %s if ids are kept", (text, reason) => {
    expect(ImportedPet.decode(encode(text), kept)).toEqual(Result.fail(reason))
  })

  it("rejects bytes that are not UTF-8", () => {
    expect(ImportedPet.decode(Uint8Array.of(0x7b, 0xff), kept)).toEqual(
      Result.fail("not valid JSON: not valid UTF-8 at position 1")
    )
  })
})
