/** Runs the suite on the servers in this repository, and stores their reports in `data/reports/` for a release. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import * as Servers from "../conformance/selftest/foreign/Servers.fixture.ts"
import packageJson from "../package.json" with { type: "json" }
import * as ImplementationsPage from "./ImplementationsPage.ts"

const out = mkdtempSync(join(tmpdir(), "animal-store-reports-"))
afterAll(() => rmSync(out, { recursive: true }))

const page = readFileSync(ImplementationsPage.path, "utf8")

const servers = [
  {
    file: "animal-store.json",
    name: "animal-store",
    missing: undefined,
    examine: async (flags: ReadonlyArray<string>) =>
      Servers.testServer(await Servers.startOwn({ hasClock: true }), ["--level", "design", ...flags])
  },
  {
    file: "python.json",
    name: "self-test server in Python",
    missing: Servers.isInstalled() ? undefined : "python3",
    examine: async (flags: ReadonlyArray<string>) => Servers.testServer(await Servers.startForeign(), flags)
  }
]

describe("a report on a server in this repository", () => {
  for (const { examine, file, missing, name } of servers) {
    const skipped = missing === undefined ? "" : ` (skipped: ${missing} is not installed)`
    it.skipIf(missing !== undefined)(
      `can be listed, contains no API key, and is the row of ${name} in implementations.md${skipped}`,
      async () => {
        const directory = join(out, file)
        const { code, output } = await examine([
          ...["--out", directory],
          ...["--implementation", name, "--implementation-version", packageJson.version]
        ])
        expect(code, output).toBe(0)
        const text = readFileSync(join(directory, "report.json"), "utf8")
        expect(text).not.toMatch(/ast_[0-9A-Za-z]{8}|-key-of-the-run/)
        mkdirSync("data/reports", { recursive: true })
        copyFileSync(join(directory, "report.json"), join("data/reports", file))
        const report = ImplementationsPage.parseSubmission(text)
        expect(page, "run: npm run implementations -- data/reports/*.json").toContain(
          ImplementationsPage.row(report)
        )
      },
      600_000
    )
  }
})
