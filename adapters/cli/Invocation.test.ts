import { spawnSync } from "node:child_process"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import * as Invocation from "./Invocation.ts"

const startOf = (
  script: string,
  cwd: string,
  ...commandDirectories: ReadonlyArray<string>
): Invocation.Start => ({
  script,
  cwd,
  commandDirectories
})

const list = (start: Invocation.Start): string => Invocation.commandLine(start, ["keys", "list"])

describe.skipIf(path.sep !== "/")("the command line of a hint", () => {
  const main = "/src/shop/adapters/cli/main.ts"

  it.each([
    ["for a clone", startOf(main, "/src/shop"), "npm run keys -- list"],
    ["outside a clone that contains the script", startOf(main, "/srv"), `node ${main} keys list`],
    ["in a subdirectory of a clone", startOf(main, "/src/shop/adapters"), "node cli/main.ts keys list"],
    [
      "in a project that has installed the package",
      startOf("/app/node_modules/.bin/animal-store", "/app", "/app/node_modules/.bin"),
      "npx animal-store keys list"
    ],
    [
      "for a global installation",
      startOf("/usr/local/bin/animal-store", "/", "/usr/local/bin"),
      "animal-store keys list"
    ],
    [
      "for a script that was started by its path within a package",
      startOf("/opt/a/node_modules/animal-store/dist/adapters/cli/bin.js", "/opt/a"),
      "npx animal-store keys list"
    ],
    [
      "for a built command in a clone",
      startOf("/src/shop/dist/adapters/cli/bin.js", "/src/shop"),
      "node dist/adapters/cli/bin.js keys list"
    ],
    [
      "for a path with a space",
      startOf("/my shop/it's/bin.js", "/"),
      "node 'my shop/it'\\''s/bin.js' keys list"
    ]
  ])("commandLine returns the command %s", (_, start, command) => {
    expect(list(start)).toBe(command)
  })

  it("commandLine uses the npm script of each command in a clone", () => {
    const start = startOf(main, "/src/shop")
    const commands = [["serve"], ["serve", "--help"], ["conformance", "list"], ["--help"]]
    expect(commands.map((args) => Invocation.commandLine(start, args))).toEqual([
      "npm start",
      "npm start -- --help",
      "npm run conformance -- list",
      "node adapters/cli/main.ts --help"
    ])
  })

  it("localize replaces the quoted commands in a string, and nothing else", () => {
    const start = startOf(main, "/src/shop")
    expect(Invocation.localize(start, "animal-store: see 'animal-store conformance list' or 'x'")).toBe(
      "animal-store: see 'npm run conformance -- list' or 'x'"
    )
  })
})

it("the command line of a hint runs in the user's current directory", () => {
  const root = fileURLToPath(new URL("../../", import.meta.url))
  const script = path.join(root, "adapters/cli/main.ts")
  for (const cwd of [root, path.join(root, "docs")]) {
    const command = Invocation.commandLine({ script, cwd, commandDirectories: [] }, ["keys", "--help"])
    const { status, stdout } = spawnSync("sh", ["-c", command], { cwd, encoding: "utf8" })
    expect([command, status]).toEqual([command, 0])
    expect(stdout).toContain("rotate")
  }
}, 60_000)
