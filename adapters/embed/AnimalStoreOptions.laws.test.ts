/** Checks that `openAnimalStore` and the methods of a store reject arguments that TypeScript would not allow. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as fc from "fast-check"
import { afterAll, describe, expect, it } from "vitest"
import * as Int64 from "../../core/domain/Int64.ts"
import * as PetStatus from "../../core/domain/PetStatus.ts"
import * as Plan from "../../core/limits/Plan.ts"
import { misspelled } from "../../core/options/Misspelling.arbitrary.ts"
import { type AnimalStoreOptions, table } from "./AnimalStoreOptions.ts"
import { type AnimalStore, InvalidOption, OverlapInvalid, openAnimalStore, PlanInvalid } from "./index.ts"

const names = Object.keys(table)

/** The type of each option, as returned by `typeof`. */
const types: { readonly [name in keyof Required<AnimalStoreOptions>]: string } = {
  basePath: "string",
  publicBaseUrl: "string",
  stagingBaseUrl: "string",
  strict: "boolean",
  maxBodyBytes: "number",
  anonymousPlan: "object",
  onLimitsUnavailable: "string",
  trustedProxyHops: "number",
  requestIdHeader: "string",
  corsOrigins: "object",
  standardHeaders: "boolean",
  idempotencyKeys: "boolean",
  getPetDeprecation: "object",
  deprecationUrl: "string",
  errors: "object",
  cursorKey: "object",
  databaseTimeoutMs: "number",
  databaseConnections: "number",
  keyCacheMs: "number",
  maxAnonymousStates: "number",
  clientAddress: "function",
  trustContentLength: "boolean",
  database: "string",
  limits: "string",
  plans: "object",
  countPer: "string",
  ban: "object",
  docs: "boolean",
  operations: "object",
  now: "function",
  log: "function",
  logFormat: "string",
  logLevel: "string",
  accessLog: "boolean",
  onResponse: "function",
  metrics: "boolean",
  otlp: "object",
  signal: "object"
}

const url = fc.constantFrom("https://api.example/v1", "http://[::1]:80")

const valid: fc.Arbitrary<AnimalStoreOptions> = fc.record(
  {
    basePath: fc.constantFrom("", "/v1", "/a/b"),
    publicBaseUrl: url,
    stagingBaseUrl: url,
    strict: fc.boolean(),
    maxBodyBytes: fc.nat(),
    anonymousPlan: fc.record({ perMinute: fc.integer({ min: 1, max: 1e9 }), perDay: fc.constant(1) }),
    onLimitsUnavailable: fc.constantFrom("closed", "open"),
    trustedProxyHops: fc.nat(),
    requestIdHeader: fc.constantFrom("X-Correlation-Id", "traceparent"),
    corsOrigins: fc.constantFrom([], ["*"], ["https://shop.example", "http://localhost:5173"]),
    standardHeaders: fc.boolean(),
    idempotencyKeys: fc.boolean(),
    deprecationUrl: url,
    docs: fc.boolean(),
    getPetDeprecation: fc
      .tuple(fc.nat(), fc.nat(), fc.constantFrom("gone", "not-found", "announce-only"))
      .map(([announcedAt, after, afterSunset]) => ({
        announcedAt,
        sunsetAt: announcedAt + after,
        afterSunset
      })),
    cursorKey: fc.uint8Array({ minLength: 32 }),
    databaseTimeoutMs: fc.integer({ min: 1, max: 60_000 }),
    databaseConnections: fc.integer({ min: 1, max: 1_000 }),
    keyCacheMs: fc.integer({ min: 0, max: 5_000 }),
    maxAnonymousStates: fc.integer({ min: 1_000, max: 100_000_000 }),
    clientAddress: fc.constant(() => "192.0.2.1"),
    trustContentLength: fc.boolean(),
    database: fc.constant("memory:"),
    limits: fc.constant("memory:"),
    ban: fc.record(
      { strikes: fc.integer({ min: 1, max: 9 }), durationsMs: fc.constant([1, 2] as const) },
      { requiredKeys: [] }
    ),
    now: fc.constant(() => 1),
    log: fc.constant(() => undefined),
    logFormat: fc.constantFrom("text", "json"),
    logLevel: fc.constantFrom("info", "none"),
    accessLog: fc.boolean(),
    onResponse: fc.constant(() => undefined),
    metrics: fc.boolean(),
    // Rare, because no collector listens at this URL, and closing a store with this option takes a second.
    otlp: fc.oneof(
      { weight: 40, arbitrary: fc.constant(undefined) },
      {
        weight: 1,
        arbitrary: fc.record(
          { url: fc.constant("http://127.0.0.1:9"), traceSample: fc.double({ min: 0, max: 1, noNaN: true }) },
          { requiredKeys: ["url"] }
        )
      }
    ),
    signal: fc.constant(new AbortController().signal)
  },
  { requiredKeys: [] }
)

/** Opens a store with options that TypeScript would reject. */
const openUntyped = (given: unknown): Promise<AnimalStore> => openAnimalStore(given as AnimalStoreOptions)

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "not rejected",
    (reason: unknown) => reason
  )

describe("openAnimalStore", () => {
  it("accepts every combination of valid options", async () => {
    await fc.assert(
      fc.asyncProperty(valid, async (options) => {
        await (await openAnimalStore(options)).close()
      }),
      { numRuns: 50 }
    )
  })

  it("rejects a misspelled option and suggests the correct name", async () => {
    await fc.assert(
      fc.asyncProperty(valid, misspelled(names), fc.anything(), async (options, [name, typed], value) => {
        const reason = await rejection(openUntyped({ ...options, [typed]: value }))
        expect(reason).toBeInstanceOf(InvalidOption)
        expect(reason).toMatchObject({ option: typed, message: expect.stringContaining(name) })
      }),
      { numRuns: 300 }
    )
  })

  it("rejects a value of the wrong type and names the option", async () => {
    await fc.assert(
      fc.asyncProperty(valid, fc.constantFrom(...names), fc.anything(), async (options, name, value) => {
        const type = types[name as keyof typeof types] // `names` are the keys of `types`
        fc.pre(value !== undefined && (typeof value !== type || value === null))
        const reason = await rejection(openUntyped({ ...options, [name]: value }))
        expect(reason).toBeInstanceOf(InvalidOption)
        expect(reason).toMatchObject({ option: name })
      }),
      { numRuns: 500 }
    )
  })

  it.each<readonly [given: unknown, message: string]>([
    [{ databse: "sqlite:x" }, "databse: unknown option; did you mean database?"],
    [{ strict: "yes" }, "strict: must be true or false"],
    [{ log: 5 }, "log: must be a function"],
    [{ now: 3 }, "now: must be a function"],
    [{ database: 5 }, "database: must be a string, or stores"],
    [{ ban: { strikez: 1 } }, "ban: unknown field strikez; did you mean strikes?"],
    [{ ban: { strikes: "1" } }, "ban: strikes must be a whole number from 1 to 1000000000000"],
    [{ ban: 5 }, "ban: must be an object"],
    [
      { anonymousPlan: { perMinute: 1, perDay: 1, perHour: 1 } },
      "anonymousPlan: unknown field perHour; known names: perMinute, perDay"
    ],
    [
      { anonymousPlan: { perMinute: "1", perDay: 1 } },
      "anonymousPlan: perMinute must be a whole number from 1 to 1000000000"
    ],
    [
      { getPetDeprecation: { announcedAt: "2026-11-20", sunsetAt: "2030-12-05", afterSunset: "gone" } },
      "getPetDeprecation: announcedAt must be a time in epoch milliseconds"
    ],
    [{ databaseTimeoutMs: "1s" }, "databaseTimeoutMs: must be a whole number from 1 to 60000"],
    [{ signal: {} }, "signal: must be an AbortSignal"],
    [null, "options: must be an object"],
    ["sqlite:x", "options: must be an object"],
    [Promise.resolve({ database: "memory:" }), "options: must be an object"],
    [JSON.parse('{"__proto__":{"strict":true}}'), expect.stringMatching(/^__proto__: unknown option; /)]
  ])("rejects the options %j with InvalidOption", async (given, message) => {
    expect(await rejection(openUntyped(given))).toMatchObject({ _tag: "InvalidOption", message })
  })
})

describe("methods of an open store", () => {
  const open = openAnimalStore()
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-options-"))
  afterAll(async () => {
    fs.rmSync(directory, { recursive: true })
    await (await open).close()
  })

  type Untyped = { readonly [method: string]: (...parameters: ReadonlyArray<unknown>) => Promise<unknown> }

  /** Calls a method with arguments that TypeScript would reject. */
  const call = async (method: string, ...parameters: ReadonlyArray<unknown>): Promise<unknown> => {
    const store = await open
    const methods: unknown = [store.pets, store.keys].find((each) => method in each) ?? store
    return rejection((methods as Untyped)[method]?.(...parameters) ?? Promise.resolve())
  }

  it.each<readonly [method: string, parameters: ReadonlyArray<unknown>, message: string]>([
    ["listen", [{ port: "abc" }], "port: must be a whole number from 0 to 65535"],
    ["listen", [{ port: 65_536 }], "port: must be a whole number from 0 to 65535"],
    ["listen", [{ port: -1 }], "port: must be a whole number from 0 to 65535"],
    ["listen", [{ prot: 1 }], "prot: unknown option; did you mean port?"],
    ["listen", [{ host: "" }], "host: must be a host name or an IP address"],
    ["listen", [{ maxConnections: 0 }], "maxConnections: must be a whole number from 1 to 1000000"],
    ["listen", [3000], "options: must be an object"],
    ["issue", [], "plan: is required"],
    ["issue", [{}], "plan: is required"],
    ["issue", ["Free"], "options: must be an object"],
    ["issue", [{ plan: "Gold" }], `plan: must be one of ${Plan.names.join(", ")}`],
    ["issue", [{ plan: "Free", lable: "x" }], "lable: unknown option; did you mean label?"],
    ["issue", [{ plan: "Free", label: 5 }], "label: must be a string or null"],
    ["issue", [{ plan: "Free", account: 5 }], "account: must be a string or null"],
    ["issue", [{ plan: "Free", metadata: [] }], "metadata: must be an object or null"],
    [
      "issue",
      [{ plan: "Free", limits: { perMin: 5 } }],
      "limits: unknown field perMin; known names: perMinute, perDay"
    ],
    ["issue", [{ plan: "Free", limits: { perDay: "5" } }], "limits: perDay must be a number"],
    ["issueFirst", [{ plan: 5 }], `plan: must be one of ${Plan.names.join(", ")}`],
    ["rotate", [], "id: must be a string"],
    ["rotate", [5, { overlapMs: 1 }], "id: must be a string"],
    ["rotate", ["key_x"], "overlapMs: is required"],
    ["rotate", ["key_x", { overlapMs: "1" }], "overlapMs: must be a number"],
    ["rotate", ["key_x", { overlapMs: 1, force: "yes" }], "force: must be true or false"],
    ["rotate", ["key_x", { overlap: 1 }], "overlap: unknown option; did you mean overlapMs?"],
    ["revoke", [], "id: must be a string"],
    ["revoke", [{ id: "key_x" }], "id: must be a string"],

    ["show", [], "id: must be a string"],
    ["show", [5], "id: must be a string"],
    ["verify", [], "secret: must be a string"],
    ["get", [], "id: is required"],
    ["get", [5], `id: ${Int64.message}, as a bigint`],
    ["get", ["5"], `id: ${Int64.message}`],
    ["create", [{ name: "Rex", categoryId: 7 }], `categoryId: ${Int64.message}, as a bigint`],
    ["create", [{ nmae: "Rex", categoryId: 7 }], "nmae: unknown option; did you mean name?"],
    ["list", [{ limit: 101 }], "limit: must be a whole number from 1 to 100"],
    ["list", [{ after: 1 }], `after: ${Int64.message}, as a bigint`],
    ["list", [{ status: "SOLD" }], `status: ${PetStatus.message}`],
    ["set", [], "id: must be a string"],
    ["set", [5, { plan: "Pro" }], "id: must be a string"],
    ["set", ["key_x", { plan: "Gold" }], `plan: must be one of ${Plan.names.join(", ")}`],
    ["set", ["key_x", { lable: "x" }], "lable: unknown option; did you mean label?"],
    ["set", ["key_x", { label: 5 }], "label: must be a string or null"],
    ["set", ["key_x", { account: 5 }], "account: must be a string or null"],
    ["set", ["key_x", { metadata: "{}" }], "metadata: must be an object or null"],
    ["set", ["key_x", { limits: { perDay: "5" } }], "limits: perDay must be a number"],
    ["set", ["key_x", "Pro"], "options: must be an object"],
    ["unban", [], "id: must be a string"],
    ["unban", [{ id: "key_x" }], "id: must be a string"],
    ["log", [5], "id: must be a string"],
    ["log", [null], "id: must be a string"],
    ["drain", ["x"], "ms: must be a whole number from 0 to 2147483647"],
    ["drain", [Number.NaN], "ms: must be a whole number from 0 to 2147483647"],
    ["drain", [-1], "ms: must be a whole number from 0 to 2147483647"],
    ["drain", [], "ms: must be a whole number from 0 to 2147483647"]
  ])("%s rejects the arguments %j with InvalidOption", async (method, parameters, message) => {
    const cwd = process.cwd()
    process.chdir(directory)
    const reason = await call(method, ...parameters).finally(() => process.chdir(cwd))
    expect(reason).toBeInstanceOf(InvalidOption)
    expect(reason).toMatchObject({ message })
    expect(await (await open).keys.list()).toEqual([])
    expect(fs.readdirSync(directory)).toEqual([])
  })

  it("issue rejects invalid limits with PlanInvalid, and rotate rejects an invalid overlap with OverlapInvalid", async () => {
    expect(await call("issue", { plan: "Free", limits: { perDay: 0.5 } })).toBeInstanceOf(PlanInvalid)
    expect(await call("rotate", "key_x", { overlapMs: -1 })).toBeInstanceOf(OverlapInvalid)
  })

  it("keys.list rejects an invalid account", async () => {
    const list = (await open).keys.list as (given: unknown) => Promise<unknown>
    expect(await rejection(list({ account: 5 }))).toMatchObject({ message: "account: must be a string" })
  })

  it("close rejects an invalid argument, but still closes the store", async () => {
    const store = await openAnimalStore()
    const close = store.close as (given: unknown) => Promise<void>
    expect(await rejection(close({ drain: 5 }))).toMatchObject({
      _tag: "InvalidOption",
      message: "drain: unknown option; did you mean drainMs?"
    })
    expect(await rejection(store.listen({ port: 0 }))).toMatchObject({ message: "the store is closed" })
    await store.close()
  })
})
