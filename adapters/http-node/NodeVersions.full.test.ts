/** Runs the tests of the server's sockets on the lowest supported Node and on the latest one. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import packageJson from "../../package.json" with { type: "json" }

const root = fileURLToPath(new URL("../../", import.meta.url))

const tests = ["Connection", "Backpressure", "NodeServer", "RejectedBody", "TransportErrors"].map(
  (name) => `adapters/http-node/${name}.`
)

const run = (program: string, args: ReadonlyArray<string>) =>
  spawnSync(program, args, { cwd: root, encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } })

/** Installs a version of Node, and returns its executable, or the reason why it cannot be installed. */
const install = (version: string): { readonly node: string } | { readonly missing: string } => {
  const name = `node-${process.platform}-${process.arch}`
  const directory = path.join(root, "node_modules/.cache/nodes", version)
  fs.mkdirSync(directory, { recursive: true })
  const prefix = ["--prefix", directory, "--no-audit", "--no-fund"]
  const { error, stderr } = run("npm", ["install", ...prefix, `${name}@${version}`])
  const node = path.join(directory, "node_modules", name, "bin/node")
  return fs.existsSync(node) ? { node } : { missing: `${error?.message ?? ""}${stderr}`.slice(0, 200) }
}

describe.each([packageJson.engines.node.replace(">=", ""), "latest"])("Node %s", (version) => {
  it("passes the tests of connections", (context) => {
    const installed = install(version)
    if ("missing" in installed)
      return context.skip(`Node ${version} cannot be installed: ${installed.missing}`)
    const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", ".config/vitest.config.ts"]
    const { status, stderr, stdout } = run(installed.node, [...vitest, "--no-color", ...tests])
    expect({ status, stdout, stderr }).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("0 failed")
    })
  })
})
