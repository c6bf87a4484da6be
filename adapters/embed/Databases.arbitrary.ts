/** Generates request sequences that store values which databases often corrupt, and read them back page by page. */
import * as fc from "fast-check"
import { jsonText, nearlyJsonText, numberText } from "../../core/codec/Json.arbitrary.ts"
import { int64 } from "../../core/domain/Int64.arbitrary.ts"
import { newPet, petStatus } from "../../core/domain/NewPet.arbitrary.ts"
import {
  Body,
  creation,
  conversation as hostConversation,
  NEXT_PAGE,
  type WireRequest
} from "./Hosts.arbitrary.ts"

const authorization = fc.oneof(
  { weight: 20, arbitrary: fc.constant("Bearer KEY_PRO") },
  { weight: 1, arbitrary: fc.constantFrom("Bearer KEY_REVOKED", "Bearer KEY_TIGHT", "Bearer", "Basic YTpi") }
)

const request = (method: string, target: fc.Arbitrary<string>, body: fc.Arbitrary<string | undefined>) =>
  fc.record({ authorization, target, body }).map(
    ({ authorization, body, target }): WireRequest => ({
      wait: 0,
      method,
      target,
      headers: [
        ["Authorization", authorization],
        ...(body === undefined ? [] : ([["Content-Type", "application/json"]] as const))
      ],
      body: body === undefined ? undefined : new Body(new TextEncoder().encode(body)),
      chunked: false
    })
  )

/** Escapes every code unit, so that surrogate pairs and lone surrogates appear as escapes. */
const escaped = (text: string): string => {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("")}"`
}

const pet = fc
  .record({
    pet: newPet,
    isEscaped: fc.boolean(),
    fraction: fc.constantFrom("", ".0", "e0"),
    hasStatus: fc.boolean()
  })
  .map(({ fraction, hasStatus, isEscaped, pet: { categoryId, name, status } }) => {
    const nameText = isEscaped ? escaped(name) : JSON.stringify(name)
    return `{"name":${nameText},"categoryId":${categoryId}${fraction}${hasStatus ? `,"status":"${status}"` : ""}}`
  })

const oddName = fc.constantFrom(
  ...[
    "",
    " ",
    "\u3000",
    "\0",
    "a\0b",
    "\ud800",
    "\udc00x",
    "😀".repeat(256),
    "a".repeat(256),
    "%",
    "_",
    "null"
  ]
)

/** Generates bodies with one or more unusual parts; some bodies are valid. */
const oddPet = fc
  .record({
    name: fc.oneof(
      oddName.map((name) => JSON.stringify(name)),
      jsonText
    ),
    categoryId: fc.oneof(
      numberText,
      int64.map(String),
      fc.constantFrom('"1"', "9223372036854775808", "true")
    ),
    status: fc.oneof(
      petStatus.map((status) => `"${status}"`),
      fc.constantFrom("null", '"SOLD"', '"sold\\u0000"', '""')
    ),
    extraFields: fc.constantFrom("", ',"id":7', ',"name":"twice"', ',"__proto__":{"status":"sold"}')
  })
  .map(
    ({ categoryId, extraFields, name, status }) =>
      `{"name":${name},"categoryId":${categoryId},"status":${status}${extraFields}}`
  )

const create = request(
  "POST",
  fc.constant("/v1/pets"),
  fc.oneof(
    { weight: 8, arbitrary: pet },
    { weight: 3, arbitrary: oddPet },
    { weight: 1, arbitrary: nearlyJsonText }
  )
)

const page = fc
  .record(
    { limit: fc.oneof(fc.constantFrom(1, 2, 3, 100), fc.integer({ min: 0, max: 101 })), status: petStatus },
    { requiredKeys: [] }
  )
  .map(({ limit, status }) => {
    const parameters = [
      ...(limit === undefined ? [] : [`limit=${limit}`]),
      ...(status === undefined ? [] : [`status=${status}`])
    ]
    return parameters.length === 0 ? "/v1/pets" : `/v1/pets?${parameters.join("&")}`
  })

const list = request(
  "GET",
  fc.oneof({ weight: 3, arbitrary: page }, { weight: 2, arbitrary: fc.constant(NEXT_PAGE) }),
  fc.constant(undefined)
)

const get = request(
  "GET",
  fc.oneof(fc.integer({ min: 0, max: 12 }).map(String), int64.map(String)).map((id) => `/v1/pets/${id}`),
  fc.constant(undefined)
)

/** Generates consecutive requests from a caller with low limits, with waits that are often too short. */
const burst: fc.Arbitrary<ReadonlyArray<WireRequest>> = fc
  .tuple(
    fc.array(fc.constantFrom(0, 1, 1, 300, 1_000, 3_000, 30_000, 61_000), {
      minLength: 4,
      maxLength: 20,
      size: "max"
    }),
    fc.constantFrom("Bearer KEY_TIGHT", "Bearer unknown")
  )
  .map(([waits, credential]) =>
    waits.map((wait) => ({
      wait,
      method: "GET",
      target: "/v1/pets?limit=1",
      headers: [["Authorization", credential]],
      body: undefined,
      chunked: false
    }))
  )

const createOnce = creation.map((sent): WireRequest => ({ ...sent, wait: 0 }))

const segment: fc.Arbitrary<ReadonlyArray<WireRequest>> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.array(fc.oneof(create, create, createOnce, list, get), { minLength: 1, maxLength: 12 })
  },
  { weight: 1, arbitrary: hostConversation },
  { weight: 2, arbitrary: burst }
)

/** Generates sequences of requests. */
export const conversation: fc.Arbitrary<ReadonlyArray<WireRequest>> = fc
  .array(segment, { minLength: 1, maxLength: 5, size: "max" })
  .map((segments) => segments.flat())
