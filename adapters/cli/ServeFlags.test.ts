import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import type * as OptionTable from "../../core/options/OptionTable.ts"
import * as AnimalStoreOptions from "../embed/AnimalStoreOptions.ts"
import { run } from "./CommandLine.fixture.ts"
import { runCommand } from "./CommandRun.fixture.ts"
import { flagsOf, variableIn } from "./Help.fixture.ts"
import summaries from "./OptionSummaries.json" with { type: "json" }
import type { Environment } from "./Serve.fixture.ts"
import * as ServeFlags from "./ServeFlags.ts"
import * as Setting from "./Setting.ts"
import * as StoreFlags from "./StoreFlags.ts"

/** Parses the flags and variables of `serve`; returns the values, or the error message. */
const parse = async (
  args: ReadonlyArray<string>,
  environment: Environment = {}
): Promise<ServeFlags.Values | string> => {
  let parsed: ServeFlags.Values | undefined
  const command = Command.make("serve", ServeFlags.flags, (values) =>
    Effect.sync(() => {
      parsed = values
    })
  )
  const { stderr } = await runCommand(command, args, environment)
  return parsed ?? stderr
}

const parsed = async (
  args: ReadonlyArray<string>,
  environment: Environment = {}
): Promise<ServeFlags.Values> => {
  const result = await parse(args, environment)
  if (typeof result === "string") throw new Error(result)
  return result
}

interface Entries {
  readonly [name: string]: unknown
}

type AnyFlag = OptionTable.Flag<unknown, unknown>

const flagsIn = (table: Entries): ReadonlyArray<AnyFlag> =>
  Object.values(table).flatMap((option) => {
    if (Setting.isFlag(option)) return [option]
    return Setting.isObject(option) ? flagsIn(option.fields) : []
  })

const defaultsIn = (table: Entries): object =>
  Object.fromEntries(
    Object.entries(table).flatMap(([name, option]): ReadonlyArray<readonly [string, unknown]> => {
      if (Setting.isFlag(option)) return [[name, option.default]]
      return Setting.isObject(option) ? [[name, defaultsIn(option.fields)]] : []
    })
  )

const { listenTable, storeTable } = StoreFlags
const programTables: Entries = { ...storeTable, ...listenTable }
const flags = [listenTable, storeTable, ServeFlags.table].flatMap(flagsIn)

const isSingle = ({ reader }: AnyFlag): boolean => !("separator" in reader)

/** The flags whose default is a value that a user could type. */
const typed = flags.filter((flag) => flag.default !== undefined && isSingle(flag))

const argumentsFor = ({ defaultText, flag, reader }: AnyFlag): ReadonlyArray<string> =>
  reader.placeholder === undefined
    ? [defaultText === "on" ? `--${flag}` : `--no-${flag}`]
    : [`--${flag}`, defaultText]

describe("the flags of serve", () => {
  it("have the defaults of their tables if neither flags nor variables are set", async () => {
    expect(await parsed([])).toEqual({
      listen: defaultsIn(listenTable),
      store: defaultsIn(storeTable),
      ...defaultsIn(ServeFlags.table)
    })
  })

  it.each(typed.map((flag) => [flag.flag, flag] as const))(
    "--%s has the same value if the default that the help shows is given as a flag or as a variable",
    async (name, flag) => {
      const absent = await parsed([])
      expect(await parsed(argumentsFor(flag))).toEqual(absent)
      expect(await parsed([], { [Setting.variable(name)]: flag.defaultText })).toEqual(absent)
    }
  )

  it("pass the defaults of openAnimalStore to the store, with four exceptions", async () => {
    const options = new Map(Object.entries(ServeFlags.storeOptions(await parsed([]), undefined, true)))
    const { otlp: _, ...table } = AnimalStoreOptions.table
    const different = Object.entries(table)
      .filter(([name, option]) => Setting.isFlag(option) || options.get(name) !== undefined)
      .filter(([name, option]) => options.get(name) !== option.default)
    expect(different.map(([name]) => [name, options.get(name)])).toEqual([
      ["database", "sqlite:./data/animal-store.db"],
      ["docs", true],
      // On a terminal.
      ["logFormat", "columns"],
      ["accessLog", true]
    ])
    const withAdminPort = await parsed(["--admin-port", "0"])
    expect(ServeFlags.storeOptions(withAdminPort, undefined, false)).toMatchObject({
      metrics: true,
      accessLog: false
    })
  })

  it("exist for an option of programs if and only if its table gives no reason against a flag", () => {
    for (const [name, option] of Object.entries(programTables)) {
      const reason = typeof option === "object" && option !== null && "noFlag" in option ? option.noFlag : ""
      const isFlag = Setting.isFlag(option) || Setting.isObject(option)
      expect([name, isFlag]).toEqual([name, reason === ""])
    }
    for (const [name, { noOption }] of Object.entries(ServeFlags.table)) {
      expect(noOption).not.toBe("")
      expect(programTables).not.toHaveProperty(name)
    }
    const names = flags.map(({ flag }) => flag)
    expect(new Set(names).size).toBe(names.length)
  })

  it("are described by the first sentence of the docstring of their option", () => {
    const described = new Map(Object.entries(summaries))
    const namesIn = (table: Entries): ReadonlyArray<string> =>
      Object.entries(table).flatMap(([name, option]) =>
        Setting.isObject(option) ? [name, ...namesIn(option.fields)] : [name]
      )
    const undescribed = namesIn(programTables).filter((name) => !described.get(name)?.endsWith("."))
    expect(undescribed).toEqual([])
  })

  it("map each option of programs to its flag in messages", () => {
    expect(StoreFlags.flagOf("keyCacheMs")).toBe("key-cache")
    expect(StoreFlags.flagOf("keepAliveTimeoutMs")).toBe("keep-alive")
    expect(StoreFlags.flagOf("cursorKey")).toBeUndefined()
    expect(StoreFlags.flagOf("toString")).toBeUndefined()
  })
})

it("the help of serve lists each flag with its variable", async () => {
  const { stdout } = await run(["serve", "--help"])
  expect(flagsOf(stdout).map(([flag, description]) => [flag, variableIn(description)])).toEqual(
    flags.map(({ flag }) => [flag, `ANIMAL_STORE_${flag.toUpperCase().replaceAll("-", "_")}`])
  )
})

describe("--keep-alive", () => {
  it.each([
    ["3s", 3_000],
    ["0", 0],
    ["1h", 3_600_000]
  ])("%s sets the idle timeout of connections to %i ms", async (text, ms) => {
    expect((await parsed(["--keep-alive", text])).listen.keepAliveTimeoutMs).toBe(ms)
    expect((await parsed([], { ANIMAL_STORE_KEEP_ALIVE: text })).listen.keepAliveTimeoutMs).toBe(ms)
  })

  it("rejects a duration of more than an hour", async () => {
    expect(await parse(["--keep-alive", "2h"])).toBe(
      'animal-store: --keep-alive: must be a duration from 0 to 1h, such as 500ms, 30s or 24h; got "2h"\n'
    )
  })
})

describe("--otlp-header", () => {
  const collector = ["--otlp", "http://127.0.0.1:4318"]

  it("can be repeated, and has one header per line in its variable", async () => {
    const headers = { Authorization: "Bearer a:b", "X-Tenant": "shop" }
    const given = ["--otlp-header", "Authorization: Bearer a:b", "--otlp-header", "X-Tenant:shop"]
    const byFlags = (await parsed([...collector, ...given])).store.otlp
    expect(byFlags).toMatchObject({ url: "http://127.0.0.1:4318", headers })
    const variable = { ANIMAL_STORE_OTLP_HEADER: "Authorization: Bearer a:b\r\nX-Tenant: shop\n" }
    const byVariable = (await parsed(collector, variable)).store.otlp
    expect(byVariable).toEqual(byFlags)
  })

  it.each(["Authorization Bearer secret", "Auth orization: secret", ": secret", "X: secret\u0000"])(
    "rejects %j without printing it",
    async (header) => {
      const message =
        "must be the name of a header, a colon and a value, such as 'Authorization: Bearer TOKEN'"
      expect(await parse([...collector, "--otlp-header", header])).toBe(
        `animal-store: --otlp-header: ${message}\n`
      )
      expect(await parse(collector, { ANIMAL_STORE_OTLP_HEADER: header })).toBe(
        `animal-store: ANIMAL_STORE_OTLP_HEADER: ${message}\n`
      )
    }
  )
})

it("an empty variable counts as absent", async () => {
  const empty = Object.fromEntries(flags.map(({ flag }) => [Setting.variable(flag), ""]))
  expect(await parsed([], empty)).toEqual(await parsed([]))
})
