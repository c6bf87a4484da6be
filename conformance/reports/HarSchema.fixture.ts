/**
 * Validates HAR 1.2 with a JSON Schema that follows its specification, http://www.softwareishard.com/blog/har-12-spec/
 */
import { Ajv2020 } from "ajv/dist/2020.js"

const text = { type: "string" } as const
const size = { type: "integer", minimum: -1 } as const

const object = (
  properties: { readonly [name: string]: object },
  required: ReadonlyArray<string> = Object.keys(properties)
) => ({
  type: "object",
  properties: { ...properties, comment: text },
  required,
  // Applications may add members of their own, which begin with `_`.
  patternProperties: { "^_": {} },
  additionalProperties: false
})

const pairs = { type: "array", items: object({ name: text, value: text }) }

const request = object(
  {
    method: text,
    url: { type: "string", pattern: "^https?://" },
    httpVersion: text,
    cookies: pairs,
    headers: pairs,
    queryString: pairs,
    postData: object({ mimeType: text, params: pairs, text }),
    headersSize: size,
    bodySize: size
  },
  ["method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"]
)

const response = object({
  status: { type: "integer" },
  statusText: text,
  httpVersion: text,
  cookies: pairs,
  headers: pairs,
  content: object({ size, mimeType: text, text }, ["size", "mimeType"]),
  redirectURL: text,
  headersSize: size,
  bodySize: size
})

const milliseconds = { type: "number", minimum: 0 } as const

const entry = object({
  startedDateTime: {
    type: "string",
    pattern: "^[+-]?\\d{4,6}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$"
  },
  time: milliseconds,
  request,
  response,
  cache: object({}),
  timings: object({ send: milliseconds, wait: milliseconds, receive: milliseconds })
})

const schema = object({
  log: object({
    version: { const: "1.2" },
    creator: object({ name: text, version: text }),
    entries: { type: "array", items: entry }
  })
})

const validate = new Ajv2020({ strict: false }).compile<Archive>(schema)

/** Parses an archive; throws an error with the first violation of the format. */
export const parse = (archive: string): Archive => {
  const value: unknown = JSON.parse(archive)
  if (!validate(value))
    throw new Error(`${validate.errors?.[0]?.instancePath}: ${validate.errors?.[0]?.message}`)
  return value
}

interface Pair {
  readonly name: string
  readonly value: string
}

export interface Archive {
  readonly log: {
    readonly comment: string
    readonly entries: ReadonlyArray<{
      readonly time: number
      readonly comment?: string
      readonly request: {
        readonly url: string
        readonly headers: ReadonlyArray<Pair>
        readonly queryString: ReadonlyArray<Pair>
        readonly postData?: { readonly text: string }
      }
      readonly response: {
        readonly status: number
        readonly headers: ReadonlyArray<Pair>
        readonly content: { readonly text: string; readonly size: number; readonly comment?: string }
      }
    }>
  }
}
