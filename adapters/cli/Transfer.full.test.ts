/** Measures the memory of `import`, `export` and `copy` with many animals. */
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { expect, it } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import * as Directory from "./Directory.fixture.ts"
import { launch } from "./Serve.fixture.ts"
import { makeLines } from "./Transfer.fixture.ts"

const create = Databases.createForTest

const TIMEOUT_MS = 900_000

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "import, export and copy", () => {
    it("use little memory for 300,000 animals", { timeout: TIMEOUT_MS }, async () => {
      const [database, copy] = [await create(kind), await create(kind)]
      const directory = Directory.create()
      const [file, out] = [path.join(directory, "animals.ndjson"), path.join(directory, "out.ndjson")]
      fs.writeFileSync(file, makeLines(300_000))
      const peaks: Array<number> = []
      for (const args of [
        ["import", file, "--keep-ids", "--database", database.address],
        ["export", "--out", out, "--database", database.address],
        ["copy", "--from", database.address, "--to", copy.address]
      ]) {
        const { child, ended } = launch(args, {}, { nodeFlags: ["--max-old-space-size=64"] })
        const timer = setInterval(() => peaks.push(residentBytes(child.pid)), 20)
        const { code, stderr } = await ended
        clearInterval(timer)
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      }
      execFileSync("cmp", [file, out])
      expect(Math.max(...peaks)).toBeLessThan(400_000_000)
    })
  })
}

/** Returns the resident memory of a process in bytes, or 0 if it cannot be read. */
const residentBytes = (pid: number | undefined): number => {
  try {
    const [, kilobytes = "0"] = /^VmRSS:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
    return Number(kilobytes) * 1_024
  } catch {
    return 0
  }
}
