/** Tests the help and the completions of all commands. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { stripVTControlCharacters } from "node:util"
import { describe, expect, it } from "vitest"
import { run, succeed } from "./CommandLine.fixture.ts"
import * as Directory from "./Directory.fixture.ts"
import { flagsOf } from "./Help.fixture.ts"

const commands = [
  "serve",
  "keys issue",
  "keys list",
  "keys show",
  "keys set",
  "keys unban",
  "keys rotate",
  "keys revoke",
  "keys log",
  "export",
  "import",
  "copy",
  "conformance run",
  "conformance doctor",
  "conformance list",
  "conformance replay"
]

/** Flags that have no default, or whose default is an empty list. */
const withoutDefault = new Set([
  "config",
  "implementation",
  "implementation-version",
  "contact",
  "url",
  "key",
  "tiny",
  "victim",
  "revoked",
  "expired",
  "clock",
  "name",
  "category",
  "only",
  "exclude",
  "seed",
  "from",
  "to"
])

/** The `--plan` of a key has no default; the plans that servers define are none by default. */
const hasNoDefault = (flag: string, command: string): boolean =>
  withoutDefault.has(flag) || (flag === "plan" && /^keys (?:issue|set)$/.test(command))

describe("help output", () => {
  it.each(commands)("shows every default of `%s`", async (command) => {
    const { code, stdout } = await run([...command.split(" "), "--help"])
    expect(code).toBe(0)
    const flags = flagsOf(stdout)
    expect(flags.length).toBeGreaterThan(0)
    const withoutShownDefault = flags
      .filter(([, description]) => !/default/i.test(description))
      .map(([flag]) => flag)
    expect(withoutShownDefault.filter((flag) => !hasNoDefault(flag, command))).toEqual([])
    const superfluous = flags.filter(([flag, text]) => hasNoDefault(flag, command) && /default/i.test(text))
    expect(superfluous).toEqual([])
  })

  it("lists only subcommands that these tests cover", async () => {
    const groups = await Promise.all(
      ["keys", "conformance"].map(async (group) => {
        const { stdout } = await run([group, "--help"])
        const section = stdout.slice(stdout.indexOf("\nSUBCOMMANDS"))
        return [...section.matchAll(/^ {2}([a-z][a-z-]*)$/gm)].map(([, name]) => `${group} ${name}`)
      })
    )
    const known = [...commands, "conformance explain"]
    expect(groups.flat().filter((command) => !known.includes(command))).toEqual([])
    expect(groups.flat().length).toBeGreaterThan(8)
  })
})

describe("the width of the help", () => {
  it.each([
    ["80 columns if standard output is no terminal", {}, false, 80],
    ["that of the terminal", {}, true, 200],
    ["COLUMNS if it is set", { COLUMNS: "70" }, true, 70],
    ["80 columns if COLUMNS is invalid", { COLUMNS: "wide" }, false, 80]
  ] as const)("is %s", async (_, env, isTerminal, columns) => {
    for (const command of commands) {
      const help = await succeed([...command.split(" "), "--help"], env, { isTerminal })
      const widths = help.split("\n").map((line) => stripVTControlCharacters(line).length)
      expect([command, Math.max(...widths)]).toEqual([command, expect.toSatisfy((width) => width <= columns)])
      if (command === "serve") expect(Math.max(...widths)).toBeGreaterThan(columns - 12)
    }
  })

  it("does not change the words", async () => {
    const [narrow, wide] = await Promise.all(
      ["1", "1000"].map((columns) => succeed(["serve", "--help"], { COLUMNS: columns }))
    )
    expect(narrow?.split(/\s+/)).toEqual(wide?.split(/\s+/))
    expect(wide?.split(/\s+/).join(" ")).toContain(
      "Address of the database: sqlite:PATH, postgres://user:password@"
    )
  })
})

it.each(commands)(
  "the help of `%s` shows each flag once, with its negation unless it is off",
  async (command) => {
    const help = await succeed([...command.split(" "), "--help"], { COLUMNS: "1000" })
    const names = [...help.matchAll(/^ {2}--([a-z-]+)/gm)].map(([, name]) => name)
    expect(names).toEqual([...new Set(names)])
    for (const [, name, negation, text] of help.matchAll(/^ {2}--([a-z-]+)(, --no-[a-z-]+)?\n(.*)$/gm)) {
      expect([name, negation]).toEqual([name, text?.includes("Default: off.") ? undefined : `, --no-${name}`])
    }
  }
)

it.each([
  ["serve", "log-level"],
  ["serve", "log-format"],
  ["serve", "on-limits-unavailable"],
  ["keys issue", "plan"],
  ["keys set key_x", "plan"],
  ["conformance run", "level"]
])("the help of `%s` shows exactly the accepted values of --%s", async (command, flag) => {
  const help = await succeed([...command.split(" "), "--help"])
  const [, values = ""] = new RegExp(`^ {2}--${flag} (\\S+)$`, "m").exec(help) ?? []
  const { stderr } = await run([...command.split(" "), `--${flag}`, "wrong"])
  expect(stderr).toBe(
    `animal-store: --${flag}: must be one of ${values.replaceAll("|", ", ")}; got "wrong"\n`
  )
})

const bash = spawnSync("bash", ["-c", "exit"]).status === 0

// The completions of other shells come from the same description of the commands.
describe.skipIf(!bash)("the completions for bash", () => {
  it("offer commands, flags, values and files", async () => {
    const directory = Directory.create()
    fs.writeFileSync(path.join(directory, "animals.jsonl"), "")
    fs.mkdirSync(path.join(directory, "archive"))
    fs.writeFileSync(path.join(directory, "completions"), await succeed(["--completions", "bash"]))
    const complete = (line: string): string => {
      const words = ["animal-store", ...line.split(" ")]
      const script = [
        "source ./completions",
        `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}) COMP_CWORD=${words.length - 1}`,
        `COMP_LINE='${words.join(" ")}' COMP_POINT=${words.join(" ").length}`,
        `_animal_store animal-store '${words.at(-1)}' '${words.at(-2)}'`,
        `echo "\${COMPREPLY[*]}"`
      ]
      return spawnSync("bash", ["-c", script.join("\n")], { cwd: directory, encoding: "utf8" }).stdout.trim()
    }
    expect(complete("keys r")).toBe("rotate revoke")
    expect(complete("export --js")).toBe("--json")
    expect(complete("serve --no-d")).toBe("--no-docs")
    expect(complete("serve --log-level ")).toBe("trace debug info warn error none")
    expect(complete("serve --log-format j")).toBe("json")
    expect(complete("serve --workers ")).toBe("auto")
    expect(complete("serve --port ")).toBe("")
    expect(complete("serve --issue-key ")).toBe("Free Pro Business")
    expect(complete("keys issue --plan ")).toBe("Free Pro Business Enterprise")
    expect(complete("conformance run --level ")).toBe("spec design")
    expect(complete("export --out ani")).toBe("animals.jsonl")
    expect(complete("import ani")).toBe("animals.jsonl")
    expect(complete("conformance run --out ar")).toBe("archive")
  })
})

// `Flag.withDefault` does not show the default in the help; the functions of `Setting.ts` do, as a user would type it.
it("flag defaults are defined only in Setting.ts", () => {
  const files = fs
    .readdirSync(new URL(".", import.meta.url))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && name !== "Setting.ts")
  const offenders = files.filter((name) =>
    fs.readFileSync(new URL(name, import.meta.url), "utf8").includes("Flag.withDefault(")
  )
  expect(offenders).toEqual([])
})
