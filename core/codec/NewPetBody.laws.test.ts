import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { beyondInt64, int64 } from "../domain/Int64.arbitrary.ts"
import * as Int64 from "../domain/Int64.ts"
import { newPet, petName, petStatus } from "../domain/NewPet.arbitrary.ts"
import { NewPet } from "../domain/NewPet.ts"
import { Pet } from "../domain/Pet.ts"
import * as PetFields from "../domain/PetFields.ts"
import { jsonText, nearlyJsonText } from "./Json.arbitrary.ts"
import * as Json from "./Json.ts"
import * as NewPetBody from "./NewPetBody.ts"
import * as PetJson from "./PetJson.ts"

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

const messageOf = (decoded: ReturnType<typeof NewPetBody.decode>): string =>
  Result.isFailure(decoded) ? decoded.failure.message : ""

describe("NewPetBody.decode", () => {
  it("decodes every encoded valid animal to the same animal", () => {
    fc.assert(
      fc.property(newPet, fc.boolean(), (pet, strict) => {
        expect(NewPetBody.decode(encode(Json.stringify(pet)), strict)).toEqual(Result.succeed(pet))
      }),
      { numRuns: 1000 }
    )
  })

  it("decodes a response body to the animal in it, without its id", () => {
    fc.assert(
      fc.property(int64, newPet, (id, pet) => {
        expect(NewPetBody.decode(encode(PetJson.encode(new Pet(id, pet))), false)).toEqual(
          Result.succeed(pet)
        )
      }),
      { numRuns: 1000 }
    )
  })

  it("keeps every int64 exact, from the request body to the response body", () => {
    fc.assert(
      fc.property(int64, int64, (categoryId, id) => {
        const sent = Result.getOrThrow(
          NewPetBody.decode(encode(`{"name":"Rex","categoryId":${categoryId}}`), true)
        )
        const encoded = Result.getOrThrow(Json.parse(PetJson.encode(new Pet(id, sent))))
        expect(encoded).toEqual({
          id: new Json.JsonNumber(id.toString()),
          name: "Rex",
          categoryId: new Json.JsonNumber(categoryId.toString()),
          status: "available"
        })
        expect(Int64.fromJsonNumber(categoryId.toString())).toBe(sent.categoryId)
      }),
      { numRuns: 1000 }
    )
  })

  it("ignores the order of fields, white space and escapes", () => {
    const blank = fc.string({ unit: fc.constantFrom(" ", "\n", "\r", "\t"), maxLength: 3 })
    const { names } = PetFields
    const shuffledNames = fc.shuffledSubarray([...names], { minLength: names.length })
    const escaped = (text: string): string =>
      Array.from(
        { length: text.length },
        (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`
      ).join("")
    fc.assert(
      fc.property(newPet, shuffledNames, blank, (pet, order, space) => {
        const members = order.flatMap((name) => {
          const value = pet[name]
          if (value === undefined) return []
          const json = typeof value === "string" ? `"${escaped(value)}"` : Json.stringify(value)
          return [`"${escaped(name)}"${space}:${space}${json}`]
        })
        const text = `${space}{${space}${members.join(`${space},${space}`)}${space}}${space}`
        expect(NewPetBody.decode(encode(text), true)).toEqual(Result.succeed(pet))
      })
    )
  })

  it("accepts the same bodies as the published schema, and decodes the same animals", () => {
    const decodeSchema = Schema.decodeUnknownResult(NewPet)
    const anything = fc.oneof(
      petName,
      petStatus,
      int64,
      beyondInt64,
      fc.jsonValue({ maxDepth: 1 }).map((value) => value as Json.Encodable),
      fc.constantFrom<Json.Encodable>("", " ", "\0", "\ud800", "a".repeat(256), 1.5, null)
    )
    const member = <A extends Json.Encodable>(valid: fc.Arbitrary<A>): fc.Arbitrary<Json.Encodable> =>
      fc.oneof({ weight: 4, arbitrary: valid }, anything)
    const body = fc.record(
      { name: member(petName), categoryId: member(int64), status: member(petStatus) },
      { requiredKeys: [] }
    )
    let acceptedCount = 0
    fc.assert(
      fc.property(body, (sent) => {
        const decoded = NewPetBody.decode(encode(Json.stringify(sent)), false)
        const { categoryId } = sent
        const isInteger = typeof categoryId === "number" && Number.isSafeInteger(categoryId)
        const expected = decodeSchema(isInteger ? { ...sent, categoryId: BigInt(categoryId) } : sent)
        expect(Result.isSuccess(decoded)).toBe(Result.isSuccess(expected))
        if (Result.isSuccess(expected)) {
          expect(decoded).toEqual(expected)
          acceptedCount++
        }
      }),
      { numRuns: 2000 }
    )
    expect(acceptedCount).toBeGreaterThan(100)
  })

  it("names every invalid field with its reason, and no other field", () => {
    const field = <A>(valid: fc.Arbitrary<A>, invalid: fc.Arbitrary<Json.Encodable>, isOptional: boolean) =>
      fc.oneof(
        valid.map((value) => ({ value, isInvalid: false })),
        invalid.map((value) => ({ value, isInvalid: true })),
        fc.constant({ value: undefined, isInvalid: !isOptional })
      )
    const body = fc.record({
      name: field(
        petName,
        fc.constantFrom<Json.Encodable>(1, null, "", " ", "\0", "\ud800", [], "a".repeat(256)),
        false
      ),
      categoryId: field(
        int64,
        fc.oneof(beyondInt64, fc.constantFrom<Json.Encodable>(0.5, "1", null, true, {})),
        false
      ),
      status: field(petStatus, fc.constantFrom<Json.Encodable>(null, "SOLD", "", 0, ["sold"]), true)
    })
    fc.assert(
      fc.property(body, ({ categoryId, name, status }) => {
        const text = Json.stringify({ name: name.value, categoryId: categoryId.value, status: status.value })
        const message = messageOf(NewPetBody.decode(encode(text), false))
        const named = [...message.matchAll(/(?:: |; )(\w+): (?:must|is required)/g)].map((match) => match[1])
        const invalid = Object.entries({ name, categoryId, status }).filter(([, field]) => field.isInvalid)
        expect(named).toEqual(invalid.map(([field]) => field))
      }),
      { numRuns: 1000 }
    )
  })

  it("never repeats a value of the body in its message", () => {
    const secret = fc.string({ unit: fc.constantFrom(..."QXZ789"), minLength: 8, maxLength: 400 })
    fc.assert(
      fc.property(secret, fc.boolean(), (text, strict) => {
        const bodies = [
          { name: "Rex", categoryId: text },
          { name: "Rex", categoryId: 1, status: text },
          { name: `${text}\0`, categoryId: [text], status: { text } },
          { name: { text }, unknown: text },
          text
        ]
        for (const body of bodies) {
          const message = messageOf(NewPetBody.decode(encode(JSON.stringify(body)), strict))
          expect(message).not.toBe("")
          expect(message).not.toContain(text)
        }
        expect(messageOf(NewPetBody.decode(encode(`{"name":${text}}`), strict))).not.toContain(text)
      })
    )
  })

  it("ignores unknown fields by default, and rejects them in strict mode", () => {
    const unknown = fc.dictionary(
      fc
        .oneof(
          fc.string({ unit: "binary" }),
          fc.constantFrom("id", "__proto__", "constructor", "toJSON", "then", "hasOwnProperty", "NAME", "0")
        )
        .filter((name) => !(PetFields.names as ReadonlyArray<string>).includes(name)),
      fc.jsonValue({ maxDepth: 3 }),
      { minKeys: 1, maxKeys: 8 }
    )
    fc.assert(
      fc.property(newPet, unknown, fc.boolean(), (pet, extra, isExtraFirst) => {
        const [petMembers, extraMembers] = [
          Json.stringify(pet).slice(1, -1),
          JSON.stringify(extra).slice(1, -1)
        ]
        const bytes = encode(
          `{${isExtraFirst ? `${extraMembers},${petMembers}` : `${petMembers},${extraMembers}`}}`
        )
        expect(NewPetBody.decode(bytes, false)).toEqual(Result.succeed(pet))
        expect(messageOf(NewPetBody.decode(bytes, true))).toContain("is not a known field")
        expect(Reflect.ownKeys(Object.prototype)).not.toContain("polluted")
      }),
      { numRuns: 500 }
    )
  })

  it("decodes any bytes to an animal or to a short printable error", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      jsonText.map(encode),
      nearlyJsonText.map(encode),
      fc.tuple(newPet, fc.nat(), fc.integer({ min: 0, max: 255 })).map(([pet, position, value]) => {
        const body = encode(Json.stringify(pet))
        body[position % body.length] = value
        return body
      })
    )
    fc.assert(
      fc.property(bytes, fc.boolean(), (body, strict) => {
        const decoded = NewPetBody.decode(body, strict)
        if (Result.isSuccess(decoded)) return
        const { code, message } = decoded.failure
        expect(["invalid_json", "invalid_body"]).toContain(code)
        expect(message.length).toBeLessThan(1200)
        expect(message).not.toMatch(/\p{C}/u)
      }),
      { numRuns: 3000 }
    )
  })
})
