/** Starts servers with database paths that can never be opened: startup must fail. */
import { existsSync } from "node:fs"
import { expect, it } from "vitest"
import * as CommandProcess from "./CommandProcess.fixture.ts"

const paths = ["/proc/x/y", "/dev/null", "/dev/full", "/", "/dev/null/below.db", `/tmp/${"x".repeat(300)}.db`]

it.skipIf(!existsSync("/proc/self")).each(paths)(
  "serve exits with 1 if its database is sqlite:%s",
  async (path) => {
    const { code } = await CommandProcess.run(["serve", "--port", "0", "--database", `sqlite:${path}`])
    expect(code).toBe(1)
  },
  CommandProcess.TIMEOUT_MS + 60_000
)
