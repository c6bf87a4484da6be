import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Deprecation from "../deprecation/Deprecation.ts"
import { open } from "./Service.fixture.ts"
import * as ServiceOptions from "./ServiceOptions.ts"

type Options = Partial<ServiceOptions.ServiceOptions>

const valid: ReadonlyArray<Options> = [
  {},
  ...["", "/v1", "/a/b", "/a.b_c~d-e/V1"].map((basePath) => ({ basePath })),
  ...["https://api.example", "http://h:8080/v1", "https://h/v1/", "http://[::1]:80/a%20b"].flatMap((url) => [
    { publicBaseUrl: url },
    { stagingBaseUrl: url }
  ]),
  { publicBaseUrl: undefined, cursorKey: undefined },
  { maxBodyBytes: 0 },
  { anonymousPlan: { perMinute: 1, perDay: 1 } },
  { onLimitsUnavailable: "open" },
  { trustedProxyHops: 3 },
  { standardHeaders: false },
  { idempotencyKeys: false },
  { deprecationUrl: "https://docs.example/pets?v=1#getPet" },
  { corsOrigins: [] },
  { corsOrigins: ["*"] },
  {
    corsOrigins: [
      "https://shop.example",
      "http://localhost:5173",
      "http://[::1]:8080",
      "capacitor://localhost"
    ]
  },
  { cursorKey: new Uint8Array(32) },
  { getPetDeprecation: { announcedAt: 5, sunsetAt: 5, afterSunset: "gone" } }
]

const plan = (perMinute: number, perDay: number): Options => ({ anonymousPlan: { perMinute, perDay } })

const deprecation = (announcedAt: number, sunsetAt: number): Options => ({
  getPetDeprecation: { ...Deprecation.getPet, announcedAt, sunsetAt }
})

const badUrls = [
  ...[
    "",
    "api.example/v1",
    "/v1",
    "ftp://api.example",
    "https://",
    "https:///v1",
    "https://h/v1?x=1",
    "https://h#x"
  ],
  ...["https://h /v1", "https://h/\r\nX: 1", "https://h/>", 'https://h/"', "https://h<", "https://h\u00e9/v1"]
]

const invalid: ReadonlyArray<readonly [option: keyof ServiceOptions.ServiceOptions, options: Options]> = [
  ...["v1", "/", "/v1/", "//v1", "/v 1", "/v1?x", "/v1#x", "/%76", "/v1\n", "/{v}", "/\u00e9"].map(
    (basePath) => ["basePath", { basePath }] as const
  ),
  ...badUrls.map((url) => ["publicBaseUrl", { publicBaseUrl: url }] as const),
  ...badUrls.map((url) => ["stagingBaseUrl", { stagingBaseUrl: url }] as const),
  ...["", "docs.example", "ftp://h", "https://", "https://h/>", "https://h/ x", "https://h\r\nX: 1"].map(
    (url) => ["deprecationUrl", { deprecationUrl: url }] as const
  ),
  ...[-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY].flatMap(
    (value) =>
      [
        ["maxBodyBytes", { maxBodyBytes: value }],
        ["trustedProxyHops", { trustedProxyHops: value }]
      ] as const
  ),
  ...[plan(0, 1), plan(1, 0), plan(1.5, 1), plan(1, Number.NaN), plan(1e10, 1), plan(1, Infinity)].map(
    (options) => ["anonymousPlan", options] as const
  ),
  ...[
    deprecation(2, 1),
    deprecation(Number.NaN, 1),
    deprecation(1, Number.NaN),
    deprecation(1, Infinity),
    deprecation(-Infinity, 1),
    deprecation(1, 9e15)
  ].map((options) => ["getPetDeprecation", options] as const),
  ...[
    ["https://shop.example/"],
    ["https://Shop.example"],
    ["HTTPS://shop.example"],
    ["https://shop.example:443"],
    ["http://shop.example:80"],
    ["https://shop.example:0"],
    ["https://shop.example:65536"],
    ["https://shop.example:"],
    ["https://*.example"],
    ["https://a b"],
    ["https://a\r\nX: 1"],
    ["https://"],
    ["shop.example"],
    ["null"],
    [""],
    ["*", "https://shop.example"],
    ["https://shop.example", "https://shop.example\n"]
  ].map((corsOrigins) => ["corsOrigins", { corsOrigins }] as const),
  ...[0, 16, 31].map((length) => ["cursorKey", { cursorKey: new Uint8Array(length) }] as const),
  // Values that only untyped programs can pass.
  ["onLimitsUnavailable", JSON.parse('{"onLimitsUnavailable":"ajar"}')],
  [
    "getPetDeprecation",
    JSON.parse('{"getPetDeprecation":{"announcedAt":1,"sunsetAt":2,"afterSunset":"never"}}')
  ],
  ["getPetDeprecation", JSON.parse('{"getPetDeprecation":{"afterSunset":"gone"}}')],
  ["corsOrigins", JSON.parse('{"corsOrigins":"https://shop.example"}')],
  ["corsOrigins", JSON.parse('{"corsOrigins":[5]}')],
  ["standardHeaders", JSON.parse('{"standardHeaders":"on"}')],
  ["idempotencyKeys", JSON.parse('{"idempotencyKeys":"on"}')],
  ["cursorKey", JSON.parse('{"cursorKey":"a secret text of more than 32 characters"}')]
]

describe("ServiceOptions.resolve", () => {
  it("accepts every valid value, and uses the defaults for absent and undefined options", () => {
    for (const options of valid) {
      const given = Object.entries(options).filter(([, value]) => value !== undefined)
      expect(ServiceOptions.resolve(options)).toEqual(
        Result.succeed({ ...ServiceOptions.defaults, ...Object.fromEntries(given) })
      )
    }
  })

  it.each(invalid)("rejects an invalid %s and names the option: %o", (option, options) => {
    const resolved = ServiceOptions.resolve(options)
    expect(Result.isFailure(resolved)).toBe(true)
    if (Result.isFailure(resolved)) {
      expect(resolved.failure).toMatchObject({ _tag: "InvalidOption", option })
      expect(resolved.failure.message).toMatch(new RegExp(`^${option}: (?:\\w+ )?must `))
    }
  })
})

describe("Service.make", () => {
  it.effect("fails if an option is invalid", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(open({ options: { basePath: "v1" } }))
      expect(Exit.isFailure(exit)).toBe(true)
    })
  )
})
