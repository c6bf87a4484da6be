/** Tests that the help of each command shows the default of each flag that has one. */
import * as fs from "node:fs"
import { describe, expect, it } from "vitest"
import { run } from "./CommandLine.fixture.ts"

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
  "to",
  "plan"
])

const flagsOf = (help: string): ReadonlyArray<readonly [flag: string, description: string]> => {
  const section = help.slice(help.indexOf("\nFLAGS"), help.indexOf("\nGLOBAL FLAGS"))
  return [...section.matchAll(/^ +--([a-z-]+)(.*)$/gm)].map(
    ([, flag = "", rest = ""]) => [flag, rest] as const
  )
}

describe("help output", () => {
  it.each(commands)("shows every default of `%s`", async (command) => {
    const { code, stdout } = await run([...command.split(" "), "--help"])
    expect(code).toBe(0)
    const flags = flagsOf(stdout)
    expect(flags.length).toBeGreaterThan(0)
    const withoutShownDefault = flags
      .filter(([, description]) => !/default/i.test(description))
      .map(([flag]) => flag)
    expect(withoutShownDefault.filter((flag) => !withoutDefault.has(flag))).toEqual([])
    const superfluous = flags.filter(([flag, text]) => withoutDefault.has(flag) && /default/i.test(text))
    expect(superfluous).toEqual([])
  })

  it("lists only subcommands that these tests cover", async () => {
    const groups = await Promise.all(
      ["keys", "conformance"].map(async (group) => {
        const { stdout } = await run([group, "--help"])
        const section = stdout.slice(stdout.indexOf("\nSUBCOMMANDS"))
        return [...section.matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, name]) => `${group} ${name}`)
      })
    )
    const known = [...commands, "conformance explain"]
    expect(groups.flat().filter((command) => !known.includes(command))).toEqual([])
    expect(groups.flat().length).toBeGreaterThan(8)
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
