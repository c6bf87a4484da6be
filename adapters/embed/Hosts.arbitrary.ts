/** Generates valid and hostile requests; placeholders such as `KEY_PRO` stand for the test's keys. */
import * as fc from "fast-check"
import type { ServiceOptions } from "../../core/service/ServiceOptions.ts"

/** A body that fast-check reports as truncated text. */
export class Body {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  [fc.toStringMethod](): string {
    const text = new TextDecoder().decode(this.bytes.subarray(0, 80))
    return `${this.bytes.length} bytes ${JSON.stringify(text)}`
  }
}

export interface WireRequest {
  /** Milliseconds that pass before the request. */
  readonly wait: number
  readonly method: string
  readonly target: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Body | undefined
  /** Whether the body is chunked, without Content-Length. */
  readonly chunked: boolean
}

/** Stands for the target of the latest `Link: <…>; rel="next"`. */
export const NEXT_PAGE = "/next"

const wait = fc.oneof(
  { weight: 12, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 90_000 }) },
  // Long enough to reach the time at which getPet is removed.
  { weight: 1, arbitrary: fc.constantFrom(86_400_000, 4 * 366 * 86_400_000) }
)

const method = fc.oneof(
  { weight: 6, arbitrary: fc.constant("GET") },
  { weight: 6, arbitrary: fc.constant("POST") },
  { weight: 2, arbitrary: fc.constant("HEAD") },
  { weight: 2, arbitrary: fc.constantFrom("OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND") }
)

const path = fc.oneof(
  { weight: 8, arbitrary: fc.constant("/v1/pets") },
  { weight: 4, arbitrary: fc.constantFrom("/v1/pets/1", "/v1/pets/2", "/v1/pets/%31") },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...["/", "*", "/v1", "/v1/", "/v1/pets/", "/v1//pets", "/V1/pets", "/v1/%70ets", "/v1%2Fpets"],
      ...["/v1/pets/01", "/v1/pets/-1", "/v1/pets/+1", "/v1/pets/1.0", "/v1/pets/9223372036854775808"],
      ...[
        "/v1/pets/%zz",
        "/v1/pets/%FF",
        "/v1/pets/%2F1",
        "/v1/pets/1/",
        "/v1/pets/1;a=b",
        "/v1/pets/%E2%82%AC"
      ],
      ...[
        "/v1/./pets",
        "/v1/x/../pets",
        "/v1/%2e%2e/pets",
        "/v1\\pets",
        "//v1/pets",
        "/v1/pets|",
        "/v1/pets/1%00"
      ],
      ...[
        "/livez",
        "/readyz",
        "/openapi.json",
        "/livez/",
        "http://elsewhere.test/v1/pets",
        "HTTP://a@b:1/v1/pets/1"
      ]
    )
  },
  { weight: 1, arbitrary: fc.constantFrom("/", "/docs", "/docs/", "/docs/oat.css") },
  {
    weight: 1,
    arbitrary: fc
      .string({ unit: fc.constantFrom(...'a1/%2.:;@&=+$,~!*()^`{}[]|\\"<>'), maxLength: 12 })
      .map((text) => `/v1/${text}`)
  }
)

const parameter = fc
  .tuple(
    fc.constantFrom("limit", "limit", "status", "status", "cursor", "x", "li%6Dit", "Limit", "", "%zz"),
    fc.constantFrom(
      ...[
        "=1",
        "=2",
        "=100",
        "=0",
        "=101",
        "=01",
        "=%31",
        "=+1",
        "=",
        "",
        "=1e1",
        "=1%20",
        "=%FF",
        "=%",
        "=1=2"
      ],
      ...[
        "=available",
        "=sold",
        "=pending",
        "=SOLD",
        "=av%61ilable",
        "='",
        "=0000000000000001abcdefabcdefabcd"
      ]
    )
  )
  .map(([name, value]) => name + value)

const query = fc.oneof(
  { weight: 4, arbitrary: fc.constant("") },
  {
    weight: 3,
    arbitrary: fc
      .array(parameter, { maxLength: 3 })
      .chain((parameters) =>
        fc.constantFrom("&", "&&", ";").map((separator) => `?${parameters.join(separator)}`)
      )
  }
)

const target = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(path, query).map(([head, tail]) => head + tail) },
  { weight: 1, arbitrary: fc.constant(NEXT_PAGE) }
)

const authorizations = fc.oneof(
  { weight: 8, arbitrary: fc.constant(["Bearer KEY_PRO"]) },
  { weight: 5, arbitrary: fc.constant(["Bearer KEY_TIGHT"]) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ...[[], [""], ["Bearer"], ["Bearer "], ["Basic YTpi"], ["KEY_PRO"], ["Bearer KEY_REVOKED"]],
      ...[["bearer KEY_PRO"], ["BEARER   KEY_PRO"], ["Bearer\tKEY_PRO"], ["  Bearer KEY_PRO \t"]],
      ...[
        ["Bearer KEY_PRO x"],
        ["Bearer KEY_PRO, Bearer KEY_PRO"],
        ["Bearer KEY_PRO,"],
        ["Bearer %4BEY_PRO"]
      ],
      ...[
        ["Bearer KEY_PRO", "Bearer KEY_PRO"],
        ["", "Bearer KEY_PRO"],
        ["Bearer KEY_PRO", "Basic YTpi"]
      ],
      ...[
        ["Bearer ast_000000000000000000000000000000000"],
        [`Bearer ${"a".repeat(600)}`],
        ["Bearer k\u00e9y"]
      ]
    )
  }
)

const contentTypes = fc.oneof(
  { weight: 8, arbitrary: fc.constant(["application/json"]) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ...[[], [""], ["text/plain"], ["APPLICATION/JSON"], ["application/json; charset=utf-8"]],
      ...[['application/json;charset="UTF-8"'], ["application/json; charset=latin1"], ["application/json;"]],
      ...[
        ["application/json", "application/json"],
        ["application/json", "text/plain"],
        [" application/json\t"]
      ]
    )
  }
)

const contentCodings = fc.oneof(
  { weight: 10, arbitrary: fc.constant<ReadonlyArray<string>>([]) },
  { weight: 1, arbitrary: fc.constantFrom(["gzip"], ["identity"], [""], ["gzip", "br"]) }
)

const forwardedFor = fc.oneof(
  { weight: 6, arbitrary: fc.constant<ReadonlyArray<string>>([]) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...[["203.0.113.9"], ["junk, 203.0.113.9"], ["203.0.113.9, junk"], ["203.0.113.9", "198.51.100.7"]],
      ...[["2001:db8:0:1::7"], ["::ffff:203.0.113.9"], [""], [","]]
    )
  }
)

/** The allowed origin; its pages may read responses. */
const ORIGIN = "https://shop.example"

const origins = fc.oneof(
  { weight: 4, arbitrary: fc.constant<ReadonlyArray<string>>([]) },
  { weight: 3, arbitrary: fc.constant([ORIGIN]) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ["https://elsewhere.example"],
      ["null"],
      [""],
      [ORIGIN, ORIGIN],
      [` ${ORIGIN}`]
    )
  }
)

const idempotencyKeys = fc.oneof(
  { weight: 4, arbitrary: fc.constant<ReadonlyArray<string>>([]) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ['"a"'],
      ["a"],
      ["b"],
      [""],
      ["a b"],
      ["a", "a"],
      ['"a\\""'],
      ["a".repeat(256)]
    )
  }
)

const inAnyCase = (name: string) => fc.constantFrom(name, name.toLowerCase(), name.toUpperCase())

const headersOf = (name: string, values: fc.Arbitrary<ReadonlyArray<string>>) =>
  fc.tuple(inAnyCase(name), values).map(([cased, all]) => all.map((value) => [cased, value] as const))

const headers = fc
  .tuple(
    headersOf("Authorization", authorizations),
    headersOf("Content-Type", contentTypes),
    headersOf("Content-Encoding", contentCodings),
    headersOf("X-Forwarded-For", forwardedFor),
    headersOf("Origin", origins),
    headersOf("Idempotency-Key", idempotencyKeys),
    headersOf("Access-Control-Request-Method", fc.constantFrom([], ["POST"], [""])),
    headersOf("Accept", fc.constantFrom([], ["*/*"], ["text/html"]))
  )
  .chain((groups) => fc.shuffledSubarray(groups, { minLength: groups.length }))
  .map((groups) => groups.flat())

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Maximum body size of the services under test. */
export const MAX_BODY_BYTES = 256

const padded = (length: number): Uint8Array => utf8('{"name":"Rex","categoryId":1}'.padEnd(length))

const body = fc.oneof(
  { weight: 2, arbitrary: fc.constant(undefined) },
  {
    weight: 6,
    arbitrary: fc
      .record({
        name: fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
        categoryId: fc.integer(),
        status: fc.constantFrom("available", "pending", "sold")
      })
      .map((pet) => utf8(JSON.stringify(pet)))
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(
        ...[
          "",
          "{}",
          "[]",
          "null",
          '{"name":"Rex"}',
          '{"name":"Rex","categoryId":1.5}',
          "{",
          '{"a":1,"a":2}'
        ],
        ...['{"name":"Rex","categoryId":1} x', '\ufeff{"name":"Rex","categoryId":1}', '{"name":"\\u0000"}'],
        ...['{"name":"Rex","categoryId":1e999999999}', '{"name":"Rex","categoryId":9223372036854775808}']
      )
      .map(utf8)
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(MAX_BODY_BYTES - 1, MAX_BODY_BYTES, MAX_BODY_BYTES + 1, 200_000).map(padded)
  }
)

/** Generates a valid creation, whose idempotency key and animal are often those of another creation. */
export const creation: fc.Arbitrary<WireRequest> = fc.record({
  wait,
  method: fc.constant("POST"),
  target: fc.constant("/v1/pets"),
  headers: fc
    .constantFrom('"a"', "a", '"b"')
    .map((key) => [
      ["Authorization", "Bearer KEY_PRO"] as const,
      ["Content-Type", "application/json"] as const,
      ["Idempotency-Key", key] as const
    ]),
  body: fc
    .constantFrom(
      '{"name":"Rex","categoryId":1}',
      '{"categoryId":1.0,"name":"\\u0052ex"}',
      '{"name":"Tom","categoryId":1}'
    )
    .map((text) => new Body(utf8(text))),
  chunked: fc.boolean()
})

const anyRequest: fc.Arbitrary<WireRequest> = fc.record({
  wait,
  method,
  target,
  headers,
  body: body.map((bytes) => bytes && new Body(bytes)),
  chunked: fc.boolean()
})

/** Generates sequences of requests. */
export const conversation: fc.Arbitrary<ReadonlyArray<WireRequest>> = fc.array(
  fc.oneof({ weight: 5, arbitrary: anyRequest }, { weight: 1, arbitrary: creation }),
  { minLength: 1, maxLength: 10, size: "max" }
)

/** A configuration of the services that get a conversation. */
export interface Configuration {
  readonly options: Partial<ServiceOptions>
  /** Whether the services have a reference page. */
  readonly docs: boolean
}

/** Generates configurations. */
export const configuration: fc.Arbitrary<Configuration> = fc.record({
  options: fc.record({
    strict: fc.boolean(),
    standardHeaders: fc.boolean(),
    idempotencyKeys: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)),
    publicBaseUrl: fc.constantFrom(undefined, "https://animals.example/v1"),
    deprecationUrl: fc.constantFrom(undefined, "https://animals.example/deprecations#getPet"),
    corsOrigins: fc.constantFrom([], [ORIGIN], ["*"])
  }),
  docs: fc.boolean()
})
