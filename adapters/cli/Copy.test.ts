/** Tests `animal-store copy` with a server on the source before the copy, and one on the target after it. */
import { describe, expect, it } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import { json, run, serveJson } from "./CommandLine.fixture.ts"
import * as Load from "./Load.fixture.ts"
import { exportFrom, fill, valueOf } from "./Transfer.fixture.ts"

const create = Databases.createForTest

interface CopyRecord {
  readonly resumed: boolean
  readonly tables: ReadonlyArray<{ readonly name: string; readonly rows: number; readonly digest: string }>
}

for (const from of Databases.kinds) {
  for (const to of Databases.kinds) {
    const missing = [from, to].find((kind) => kind.missing !== undefined)
    const title = `copy from ${from.name} to ${to.name}${missing === undefined ? "" : ` (skipped, ${missing.missing})`}`
    const describeBoth = missing === undefined ? describe : describe.skip

    describeBoth(title, () => {
      it("transfers keys, request counts and animals, and keeps cursors valid on the new server", async () => {
        const [source, target] = [await create(from), await create(to)]
        await fill(source, 300)
        const sourceServer = await serveJson(["--database", source.address])
        const { key } = sourceServer
        const firstPage = await sourceServer.get("/pets?limit=100")
        await sourceServer.stop()

        const { stdout, stderr } = await run(["copy", "--from", source.address, "--to", target.address])
        expect(stderr).toBe("")
        expect(stdout).toMatch(
          /^Copied .* to .* in [\d.]+ s \([\d,]+ a second\)\.\nBoth have the same rows:\n/
        )
        expect(stdout).toMatch(/^ {2}pets +300 {2}SHA-256 [0-9a-f]{16}$/m)
        expect(stdout).toMatch(/^ {2}api_keys +1 {2}SHA-256 [0-9a-f]{16}$/m)
        const columns = [...stdout.matchAll(/^ {2}\S.*(?= {2}SHA-256)/gm)].map(([{ length }]) => length)
        expect(new Set(columns).size).toBe(1)
        expect(stdout).not.toContain(key)

        const targetServer = await serveJson(["--database", target.address])
        expect(targetServer.keys).toEqual([])
        const next = /<([^>]+)>; rel="next"/.exec(firstPage.headers.get("link") ?? "")?.[1] ?? ""
        const secondPage = await targetServer.get(`/pets${new URL(next, targetServer.url).search}`, key)
        expect(secondPage.status).toBe(200)
        expect(Load.petsIn(await secondPage.text())).toHaveLength(100)
        // This is the second request of the day; the first one was counted on the source.
        expect(await valueOf(target, "SELECT used FROM rate_limits WHERE key LIKE 'key:%'")).toBe(2n)
        await targetServer.stop()
        expect(await exportFrom(target)).toBe(await exportFrom(source))
      })

      it("prints its summary as JSON, and rejects a target of a completed copy", async () => {
        const [source, target] = [await create(from), await create(to)]
        await fill(source, 3)
        const args = ["copy", "--from", source.address, "--to", target.address]
        const { resumed, tables } = await json<CopyRecord>(args)
        expect(resumed).toBe(false)
        expect(tables.find(({ name }) => name === "pets")).toEqual({
          ...{ name: "pets", rows: 3, digest: expect.stringMatching(/^[0-9a-f]{64}$/) }
        })
        const { code, stderr } = await run(args)
        expect([code, stderr]).toEqual([
          1,
          "animal-store: the target is not empty: an earlier copy to it has already completed\n"
        ])
      })
    })
  }
}

describe("copy", () => {
  it("rejects a target that contains animals or keys", async () => {
    const [source, target] = [await create(Databases.sqlite), await create(Databases.sqlite)]
    await fill(source, 1)
    await run(["keys", "issue", "--plan", "Free", "--database", target.address])
    const { stderr } = await run(["copy", "--from", source.address, "--to", target.address])
    expect(stderr).toBe("animal-store: the target is not empty: it has API keys\n")
    const copyToItself = await run(["copy", "--from", source.address, "--to", source.address])
    expect(copyToItself.stderr).toBe("animal-store: the target is not empty: it has animals\n")
  })
})
