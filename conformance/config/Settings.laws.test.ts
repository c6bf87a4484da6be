import { inspect } from "node:util"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import type { Configuration } from "./Configuration.ts"
import { base, errorMessage, type Flags, formed, resolve, resolveOrThrow } from "./Settings.fixture.ts"
import * as Settings from "./Settings.ts"

const keysOf = ({ keys }: Settings.Settings) => Redacted.value(keys)

describe("Settings.resolve", () => {
  it("fails if the address or the key is missing", () => {
    expect(errorMessage({ url: undefined })).toBe("--url: the base URL of the server is required")
    expect(errorMessage({ key: undefined })).toBe("--key: an API key for the server is required")
  })

  it("uses defaults for all other settings", () => {
    const settings = resolveOrThrow()
    expect(settings).toMatchObject({
      name: "http://127.0.0.1:3000",
      clock: undefined,
      level: "spec",
      declared: { categories: "any", bans: true },
      budget: HttpSubject.defaultBudget,
      only: [],
      exclude: []
    })
    expect(keysOf(settings)).toEqual({
      main: "main-key",
      tiny: undefined,
      victim: undefined,
      revoked: undefined,
      expired: undefined
    })
  })

  it("takes each setting from its flag, or from the file if the flag is absent", () => {
    const file: Configuration = {
      name: "file",
      url: "http://127.0.0.1:1/file",
      keys: {
        main: "file-main",
        tiny: { key: "file-tiny", perMinute: 1, perDay: 4 },
        victim: { key: "file-victim", perMinute: 3, perDay: 40 },
        revoked: "file-revoked",
        expired: "file-expired"
      },
      clock: "http://127.0.0.1:2/clock",
      level: "design",
      declared: { categories: [1, -7], bans: false },
      budget: { requests: 10, seconds: 20 },
      only: ["core"],
      exclude: ["auth"]
    }
    const flags = {
      name: "flag",
      url: "http://127.0.0.1:3/flag",
      key: "flag-main",
      tiny: "flag-tiny:5:60",
      victim: "flag-victim:7:80",
      revoked: "flag-revoked",
      expired: "flag-expired",
      clock: "http://127.0.0.1:4/clock",
      level: "spec",
      budget: { requests: 30, seconds: 40 },
      only: ["list.*"],
      exclude: ["ban"]
    } as const satisfies Flags
    const summary = (settings: Settings.Settings) => ({
      name: settings.name,
      url: settings.url.href,
      key: keysOf(settings).main,
      ...keysOf(settings),
      main: undefined,
      clock: settings.clock?.href,
      level: settings.level,
      budget: settings.budget,
      only: settings.only,
      exclude: settings.exclude
    })
    const fromFile = summary(Result.getOrThrow(Settings.resolve(file, {}, {})))
    expect(fromFile).toEqual({
      name: "file",
      url: "http://127.0.0.1:1/file",
      key: "file-main",
      tiny: expect.objectContaining({ secret: "file-tiny", perMinute: 1, perDay: 4 }),
      victim: expect.objectContaining({ secret: "file-victim", perMinute: 3, perDay: 40 }),
      revoked: "file-revoked",
      expired: "file-expired",
      clock: "http://127.0.0.1:2/clock",
      level: "design",
      budget: { requests: 10, milliseconds: 20_000 },
      only: ["core"],
      exclude: ["auth"]
    })
    const fromFlags = summary(Result.getOrThrow(Settings.resolve({}, formed(flags), {})))
    // Each flag overrides only its own member of the file.
    const names = [...Object.keys(flags)] as Array<keyof typeof flags & keyof typeof fromFile>
    fc.assert(
      fc.property(fc.subarray(names), (chosen) => {
        const chosenFlags = Object.fromEntries(chosen.map((name) => [name, flags[name]]))
        const mixed = summary(Result.getOrThrow(Settings.resolve(file, formed(chosenFlags), {})))
        for (const name of names) {
          expect(mixed[name]).toEqual(chosen.includes(name) ? fromFlags[name] : fromFile[name])
        }
      })
    )
    expect(Result.getOrThrow(Settings.resolve(file, formed(flags), {})).declared).toEqual({
      categories: [1n, -7n],
      bans: false
    })
    const merged = resolveOrThrow({ budget: { requests: 5 } }, file)
    expect(merged.budget).toEqual({ requests: 5, milliseconds: 20_000 })
  })
})

describe("the implementation in the settings", () => {
  const file = { name: "Shop", version: "1", contact: "shop@shop.example" }
  const implementationOf = (...args: Parameters<typeof resolve>) => resolveOrThrow(...args).implementation

  it("takes each member from its flag, or from the file if the flag is absent", () => {
    expect(implementationOf({}, { implementation: file })).toEqual(file)
    expect(implementationOf({ implementation: { version: "2" } }, { implementation: file })).toEqual({
      ...file,
      version: "2"
    })
    expect(implementationOf({ implementation: {} })).toBeUndefined()
    expect(implementationOf({ implementation: { name: "Shop" } })).toEqual({ name: "Shop" })
  })

  it("is rejected if a version or a contact has no name", () => {
    for (const implementation of [{ version: "2" }, { contact: "shop@shop.example" }])
      expect(errorMessage({ implementation })).toMatch(/^--implementation: /)
  })
})

describe("a key in the settings", () => {
  const character = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
  const key = fc.string({ unit: character, minLength: 1, maxLength: 40 })
  const literalKey = key.filter((text) => !text.startsWith("env:"))

  it("is given literally, or as `env:` and the name of an environment variable", () => {
    fc.assert(
      fc.property(literalKey, (secret) => {
        expect(keysOf(resolveOrThrow({ key: secret })).main).toBe(secret)
        const settings = resolveOrThrow(
          { key: "env:MAIN", revoked: "env:OLD", tiny: "env:TINY:5:50" },
          { keys: { victim: { key: "env:VICTIM", perMinute: 3, perDay: 30 } } },
          { MAIN: secret, OLD: `${secret}o`, TINY: `${secret}t`, VICTIM: `${secret}v` }
        )
        expect(keysOf(settings)).toMatchObject({
          main: secret,
          revoked: `${secret}o`,
          tiny: { secret: `${secret}t`, perMinute: 5, perDay: 50 },
          victim: { secret: `${secret}v` }
        })
      })
    )
  })

  it("is rejected on a small plan if the daily limit is less than four times the per-minute limit", () => {
    const result = resolve({ tiny: "tiny:5:19" })
    expect(Result.isFailure(result) && result.failure.message).toMatch(
      /^--tiny: the daily limit must be at least 4 times the per-minute limit/
    )
    expect(keysOf(resolveOrThrow({ tiny: "tiny:5:20" })).tiny).toMatchObject({ perMinute: 5, perDay: 20 })
  })

  it("may contain colons on a small plan", () => {
    fc.assert(
      fc.property(
        literalKey,
        fc.integer({ min: 1, max: 200_000_000 }),
        fc.integer({ min: 4, max: 999_999_999 }),
        (secret, perMinute, day) => {
          const perDay = Math.max(day, 4 * perMinute)
          for (const given of [secret, `a:${secret}`, `${secret}:7`, `:${secret}`]) {
            const settings = resolveOrThrow({ tiny: `${given}:${perMinute}:${perDay}` })
            expect(keysOf(settings).tiny).toEqual({ secret: given, perMinute, perDay })
          }
        }
      )
    )
  })

  it.each([
    "",
    "k",
    "k:5",
    "k:5:",
    "k::5",
    ":5:5",
    "k:0:5",
    "k:5:0",
    "k:5:-1",
    "k:5:1.5",
    "k:5:1e3",
    "k: 5:5"
  ])("is rejected if the flag for a small plan is %j", (tiny) => {
    expect(errorMessage({ tiny })).toBe(
      "--tiny: must be KEY:PERMINUTE:PERDAY, with whole numbers of at least 1, such as env:TINY_KEY:5:1000"
    )
    expect(errorMessage({ victim: tiny })).toMatch(/^--victim: must be KEY:PERMINUTE:PERDAY/)
  })

  it("is rejected if the environment variable is unset or empty", () => {
    expect(errorMessage({ key: "env:MAIN" })).toBe("--key: the environment variable MAIN is not set")
    expect(errorMessage({ key: "env:MAIN" }, {}, { MAIN: "" })).toBe(
      "--key: the environment variable MAIN is not set"
    )
    for (const flags of [{ key: "env:" }, { tiny: "env::5:50" }]) {
      expect(errorMessage(flags)).toMatch(
        /^--(?:key|tiny): env: must be followed by the name of an environment variable$/
      )
    }
    expect(errorMessage({ tiny: "env:TINY:5:50" })).toBe("--tiny: the environment variable TINY is not set")
    expect(errorMessage({}, { keys: { tiny: { key: "env:T", perMinute: 1, perDay: 1 } } })).toBe(
      "keys.tiny: the environment variable T is not set"
    )
    for (const name of ["constructor", "toString", "__proto__"]) {
      expect(errorMessage({ key: `env:${name}` })).toMatch(/^--key: /)
    }
  })

  it("is rejected if it contains spaces, control or non-ASCII characters, or is longer than 4096 characters", () => {
    for (const invalid of ["", "a b", "a\n", "a\r\nX: y", "ü", "\u0000", "x".repeat(4_097)]) {
      expect(errorMessage({ key: invalid })).toBe(
        "--key: a key must be 1 to 4096 printable ASCII characters without spaces"
      )
      const inVariable = errorMessage({ key: "env:K" }, {}, { K: invalid })
      if (invalid !== "") expect(inVariable).toMatch(/^--key: a key must be/)
    }
  })

  it("never appears in error messages or in printed settings", () => {
    const secret = fc.string({ unit: fc.constantFrom(..."abcXYZ0189._~-"), minLength: 12, maxLength: 30 })
    const malformed = fc.constantFrom<(key: string) => string>(
      (key) => key,
      (key) => `${key} `,
      (key) => `${key}\n`,
      (key) => `ü${key}`,
      (key) => `${key}:5`,
      (key) => `${key}:5:0`,
      (key) => `${key}:5:50`,
      (key) => `:${key}`
    )
    fc.assert(
      fc.property(
        secret,
        fc.tuple(malformed, malformed, malformed, malformed, malformed),
        fc.constantFrom(base.url, "http://192.0.2.1/v1", "ftp://x", "junk", "http://localhost:1/v1?x"),
        fc.boolean(),
        (secret, [main, tiny, victim, revoked, expired], url, isFromEnvironment) => {
          const flags = isFromEnvironment
            ? {
                url,
                key: "env:M",
                tiny: "env:T:5:50",
                victim: "env:V:5:50",
                revoked: "env:R",
                expired: "env:E"
              }
            : {
                ...{ url, key: main(secret), tiny: tiny(secret), victim: victim(secret) },
                ...{ revoked: revoked(secret), expired: expired(secret) }
              }
          const result = resolve(
            flags,
            {},
            {
              M: main(secret),
              T: tiny(secret),
              V: victim(secret),
              R: revoked(secret),
              E: expired(secret)
            }
          )
          if (Result.isFailure(result)) expect(inspect(result.failure, { depth: 9 })).not.toContain(secret)
          else {
            expect(inspect(result.success, { depth: 9 })).not.toContain(secret)
            expect(JSON.stringify(result.success)).not.toContain(secret)
            expect(String(result.success)).not.toContain(secret)
          }
        }
      ),
      { numRuns: 300 }
    )
  })
})

describe("Settings.open", () => {
  it("creates a subject with the base path, the keys and the declarations in the settings", async () => {
    const { capabilities, target } = await Effect.runPromise(
      Effect.scoped(
        Settings.open(
          resolveOrThrow(
            { url: "http://127.0.0.1:9/api/v1/", tiny: "t:5:50", budget: { requests: 7 } },
            { declared: { categories: [4] } }
          )
        )
      )
    )
    expect(target).toMatchObject({
      basePath: "/api/v1",
      baseUrl: "http://127.0.0.1:9/api/v1",
      keys: { main: "main-key", tiny: { secret: "t", perMinute: 5, perDay: 50 } },
      declared: { categories: [4n] },
      budget: { requests: 7 }
    })
    expect([...capabilities].toSorted()).toEqual(["tinyPlan"])
    const root = await Effect.runPromise(
      Effect.scoped(Settings.open(resolveOrThrow({ url: "http://127.0.0.1:9/" })))
    )
    expect(root.target).toMatchObject({ basePath: "", baseUrl: "http://127.0.0.1:9" })
  })
})
