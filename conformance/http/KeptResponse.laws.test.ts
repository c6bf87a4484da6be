import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Trial from "../evaluation/Trial.ts"
import * as Conversation from "../subjects/Conversation.ts"
import * as ErrorBody from "./ErrorBody.ts"
import * as Excerpt from "./Excerpt.ts"
import * as JsonLimits from "./JsonLimits.ts"
import * as KeptResponse from "./KeptResponse.ts"
import * as PetJson from "./PetJson.ts"
import { bytes, text } from "./Wire.ts"
import { wireResponse } from "./Wires.fixture.ts"

const padding = fc.integer({ min: 0, max: 9_000 }).map((length) => "x".repeat(length))

const body = fc.oneof(
  fc.tuple(fc.json(), padding).map(([json, filler]) => `${json}${" ".repeat(filler.length)}`),
  fc
    .tuple(fc.string(), padding)
    .map(([code, filler]) => JSON.stringify({ code, message: filler, status: 404 })),
  fc.tuple(fc.string({ unit: "binary" }), padding).map(([before, after]) => before + after),
  padding.map((filler) => `{"code":"${filler}","message":"m","status":1,"a":1}`)
)

describe("KeptResponse.of", () => {
  it("keeps the findings about the whole body: its size, whether it is JSON, and its Error", () => {
    fc.assert(
      fc.property(body, (content) => {
        const response = wireResponse(404, [], content)
        const kept = KeptResponse.of(response)
        expect(kept.body.length).toBeLessThanOrEqual(KeptResponse.MAX_KEPT)
        expect(KeptResponse.sizeOf(kept)).toBe(response.body.length)
        expect(KeptResponse.jsonOf(kept)).toEqual(
          Result.map(PetJson.parse(text(response.body)), () => undefined)
        )
        const whole = ErrorBody.of(response)
        const fromKept = ErrorBody.of(kept)
        if (Result.isFailure(whole) || Result.isFailure(fromKept)) {
          expect(fromKept).toEqual(whole)
          return
        }
        const { code, members, messageLength, status } = fromKept.success
        expect({ members, messageLength, status }).toEqual({
          members: whole.success.members,
          messageLength: whole.success.messageLength,
          status: whole.success.status
        })
        expect(whole.success.code.startsWith(code.replace(/…$/, ""))).toBe(true)
      })
    )
  })

  it("returns a response of bounded size for any body", () => {
    const names = Array.from({ length: 30_000 }, (_, index) => `"${"n".repeat(20)}${index}":0`).join(",")
    for (const content of [
      `{"code":"${"c".repeat(400_000)}","message":"${"m".repeat(400_000)}","status":404}`,
      `{"code":"c","message":"m","status":404,${names}}`,
      "[".repeat(900_000),
      `[${"0,".repeat(400_000)}0]`
    ]) {
      const { cut, ...kept } = KeptResponse.of(wireResponse(404, [], content))
      expect(kept.body.buffer.byteLength).toBeLessThanOrEqual(KeptResponse.MAX_KEPT)
      expect(JSON.stringify(cut).length).toBeLessThan(25_000)
    }
  })
})

describe("the longest list of a correct server", () => {
  /** The longest name in JSON: 255 code points, each written as two escapes (a surrogate pair). */
  const name = "\\ud83e\\udd8a".repeat(255)
  const extra = Array.from({ length: 50 }, (_, index) => `"extra${index}":${"9".repeat(40)}`).join(",")
  const pets = Array.from(
    { length: 100 },
    (_, id) => `{"id":${id},"name":"${name}","categoryId":-9223372036854775808,"status":"sold",${extra}}`
  )
  const longest = `[${pets.join(",")}]`

  it("is passed to a law completely, and stored only in part", async () => {
    await Effect.runPromise(
      Effect.gen(function* () {
        const { exchanges, send } = yield* Conversation.make({
          transport: () => Effect.succeed(wireResponse(200, [], longest)),
          basePath: "/v1",
          secrets: { main: "main-secret" },
          clock: undefined,
          budget: { requests: 10, milliseconds: 60_000 }
        })
        const trial = Trial.make("t")
        const { response } = yield* send({ path: "/pets?limit=100" }, trial)
        const seen = Result.getOrThrow(Result.flatMap(PetJson.parse(text(response.body)), PetJson.animals))
        expect(seen).toHaveLength(100)
        expect(seen[99]).toEqual({
          id: 99n,
          name: "\u{1f98a}".repeat(255),
          categoryId: -(2n ** 63n),
          status: "sold"
        })
        const [kept] = exchanges
        expect(kept?.response.body.length).toBe(KeptResponse.MAX_KEPT)
        expect(kept && Result.isSuccess(KeptResponse.jsonOf(kept.response))).toBe(true)
        expect(trial.steps[0]?.exchange).toBe(kept)
        expect(trial.steps[0]?.got.length).toBeLessThan(300)
      })
    )
  })
})

describe("PetJson", () => {
  it("parses JSON within the limits to the same values as JSON.parse", () => {
    const plain = (value: unknown): unknown =>
      JSON.parse(
        JSON.stringify(value, (_name, member: unknown) =>
          typeof member === "bigint" ? Number(member) : member
        )
      )
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (json) => {
        const parsed = PetJson.parse(json)
        expect(Result.isSuccess(parsed) && plain(parsed.success)).toEqual(plain(JSON.parse(json)))
      })
    )
  })

  it.each([
    ["deep nesting", "[".repeat(4_000_000), "JSON that is nested deeper than 100 levels"],
    ["deep nesting that is closed", `${"[".repeat(500_000)}${"]".repeat(500_000)}`, "nested deeper"],
    ["deep objects", `${'{"a":'.repeat(200_000)}0${"}".repeat(200_000)}`, "nested deeper"],
    ["many values", `[${"0,".repeat(500_000)}0]`, "JSON of more than 50000 values"],
    ["many empty objects", `[${"{},".repeat(300_000)}{}]`, "JSON of more than 50000 values"]
  ])("rejects JSON with %s", (_what, json, reason) => {
    const parsed = PetJson.parse(json)
    expect(Result.isFailure(parsed) && parsed.failure).toContain(reason)
    expect(Result.isFailure(parsed) && parsed.failure.length).toBeLessThan(400)
  })

  it("accepts JSON within the limits, and ignores brackets and commas in strings", () => {
    const inside = JSON.stringify(`${"[{,".repeat(100_000)}"\\`)
    expect(JsonLimits.exceeded(`[${inside},${inside}]`)).toBeUndefined()
    expect(JsonLimits.exceeded(`${"[".repeat(JsonLimits.MAX_DEPTH)}`)).toBeUndefined()
    expect(JsonLimits.exceeded(`[${"[],".repeat(1_000)}0]`)).toBeUndefined()
  })

  it.each([
    ["8 million digits", "9".repeat(8_000_000), "id is not an int64: a number beyond 1.8e308"],
    ["a huge exponent", "1e999999999", "id is not an int64: a number beyond 1.8e308"],
    ["a minus and a huge exponent", "-1e999999999", "id is not an int64: a number beyond 1.8e308"],
    ["the value 2^63", "9223372036854775808", "id is not an int64: 9223372036854775808"],
    ["fifty digits", `1${"0".repeat(49)}`, "id is not an int64: 1e+49"]
  ])("rejects an animal whose id has %s", (_what, digits, reason) => {
    const read = Result.flatMap(PetJson.parse(`{"id":${digits},"name":"Rex","categoryId":1}`), PetJson.animal)
    expect(Result.isFailure(read) && read.failure).toBe(reason)
  })

  it("rejects a list of more than 1,000 animals", () => {
    const listOf = (length: number) => `[${'{"id":1,"name":"a","categoryId":1},'.repeat(length - 1)}{}]`
    const failure = (length: number) =>
      Result.merge(Result.flatMap(PetJson.parse(listOf(length)), PetJson.animals))
    expect(failure(1_001)).toBe("a list of 1001 animals")
    expect(failure(1_000)).toBe("in the list: id is not an int64: absent")
  })
})

describe("Excerpt", () => {
  it("is at most one character longer than the given length, and is the whole text if it fits", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.nat({ max: 40 }), (content, length) => {
        expect(Excerpt.of(content, length).length).toBeLessThanOrEqual(length + 1)
        if (content.length <= length) {
          expect(Excerpt.of(content, length)).toBe(content)
          expect(Excerpt.words(content, length)).toBe(content)
          expect(Excerpt.body(bytes(content), length)).toBe(text(bytes(content)))
        }
      })
    )
  })

  it("ends after a whole word, and shows the length of the whole text", () => {
    expect(Excerpt.words("one two three", 9)).toBe("one two … (13)")
    expect(Excerpt.body(bytes("one two three ".repeat(100)), 9)).toBe("one two … (1400 bytes)")
    expect(Excerpt.body(bytes("one two three "), 9, 5_000)).toBe("one two … (5000 bytes)")
  })
})
