/** Checks that other tests run all programs in docs/clients.md. */
import * as fs from "node:fs"
import { expect, it } from "vitest"
import * as Clients from "./Clients.fixture.ts"

it("docs/clients.md contains only programs that a test runs, except a block that only sets variables", () => {
  expect(Clients.unnamed).toEqual(["export BASE_URL=http://127.0.0.1:3000/v1 API_KEY=ast_…\n"])
  const tests = fs
    .readdirSync(new URL(".", import.meta.url))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => fs.readFileSync(new URL(file, import.meta.url), "utf8"))
    .join("\n")
  const isRun = (name: string) => tests.includes(`"${name.replace(/-generate$/, "")}"`)
  expect(Clients.names.filter((name) => !isRun(name))).toEqual([])
})
