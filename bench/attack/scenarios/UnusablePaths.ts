/** Starts servers with database paths that can never be opened: startup must fail quickly. */
import { existsSync } from "node:fs"
import * as CommandProcess from "../CommandProcess.ts"
import * as Finding from "../Finding.ts"
import type { Scenario } from "../Scenario.ts"

const paths = ["/proc/x/y", "/dev/null", "/dev/full", "/", "/dev/null/below.db", `/tmp/${"x".repeat(300)}.db`]

const MAX_SECONDS = 10

export const unusablePaths: Scenario = {
  name: "unusable-paths",
  description: "serve --database sqlite: with a path that cannot be a database file",
  databases: ["SQLite"],
  run: async () => {
    if (!existsSync("/proc/self")) return [Finding.unknown("exit code", "no /proc")]
    const findings: Array<Finding.Finding> = []
    for (const path of paths) {
      const args = ["serve", "--port", "0", "--database", `sqlite:${path}`]
      const { code } = await CommandProcess.run(args, MAX_SECONDS * 1_000)
      const label = path.length > 40 ? `${path.slice(0, 40)}…` : path
      findings.push(Finding.equal(`exit code for ${label}`, code ?? `none after ${MAX_SECONDS} s`, 1))
    }
    return findings
  }
}
