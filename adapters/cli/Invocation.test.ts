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

const keysListCommand = (start: Invocation.Start): string => Invocation.commandLine(start, ["keys", "list"])

describe.skipIf(path.sep !== "/")("Invocation", () => {
  const main = "/src/shop/adapters/cli/main.ts"

  it.each([
    ["uses npm run in the root of a clone", startOf(main, "/src/shop"), "npm run keys -- list"],
    ["uses node and the absolute path outside the clone", startOf(main, "/srv"), `node ${main} keys list`],
    [
      "uses a relative path in a subdirectory of a clone",
      startOf(main, "/src/shop/adapters"),
      "node cli/main.ts keys list"
    ],
    [
      "uses npx in a project that depends on the package",
      startOf("/app/node_modules/.bin/animal-store", "/app", "/app/node_modules/.bin"),
      "npx animal-store keys list"
    ],
    [
      "uses the bare command of a global installation",
      startOf("/usr/local/bin/animal-store", "/", "/usr/local/bin"),
      "animal-store keys list"
    ],
    [
      "uses npx for a script that was started by its path within a package",
      startOf("/opt/a/node_modules/animal-store/dist/adapters/cli/bin.js", "/opt/a"),
      "npx animal-store keys list"
    ],
    [
      "uses node for a built command in a clone",
      startOf("/src/shop/dist/adapters/cli/bin.js", "/src/shop"),
      "node dist/adapters/cli/bin.js keys list"
    ],
    [
      "quotes a path with a space",
      startOf("/my shop/it's/bin.js", "/"),
      "node 'my shop/it'\\''s/bin.js' keys list"
    ]
  ])("commandLine: %s", (_, start, command) => {
    expect(keysListCommand(start)).toBe(command)
  })

  it("commandLine uses npm scripts in the root of a clone for the commands that have one", () => {
    const start = startOf(main, "/src/shop")
    const commands = [["serve"], ["serve", "--help"], ["conformance", "list"], ["--help"]]
    expect(commands.map((args) => Invocation.commandLine(start, args))).toEqual([
      "npm start",
      "npm start -- --help",
      "npm run conformance -- list",
      "node adapters/cli/main.ts --help"
    ])
  })

  it("localize replaces only quoted `animal-store` commands", () => {
    const start = startOf(main, "/src/shop")
    expect(Invocation.localize(start, "animal-store: see 'animal-store conformance list' or 'x'")).toBe(
      "animal-store: see 'npm run conformance -- list' or 'x'"
    )
  })
})

it("Invocation.commandLine returns a command that works in the current directory", () => {
  const root = fileURLToPath(new URL("../../", import.meta.url))
  const script = path.join(root, "adapters/cli/main.ts")
  for (const cwd of [root, path.join(root, "docs")]) {
    const command = Invocation.commandLine({ script, cwd, commandDirectories: [] }, ["keys", "--help"])
    const { status, stdout } = spawnSync("sh", ["-c", command], { cwd, encoding: "utf8" })
    expect([command, status]).toEqual([command, 0])
    expect(stdout).toContain("rotate")
  }
})
