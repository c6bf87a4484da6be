/** Tests `animal-store copy` with a server on the source before the copy, and one on the target after it. */
import { describe, expect, it } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import * as Load from "./Load.fixture.ts"
import { start, stop } from "./Serve.fixture.ts"
import { killAfterProgress, launch, makeLines, type ProcessResult, run, valueOf } from "./Transfer.fixture.ts"

const create = Databases.createForTest

const TIMEOUT_MS = 120_000

interface CopyRecord {
  readonly resumed: boolean
  readonly tables: ReadonlyArray<{ readonly name: string; readonly rows: number; readonly digest: string }>
}

const recordOf = ({ code, stderr, stdout }: ProcessResult): CopyRecord => {
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  return JSON.parse(stdout)
}

const fill = async (database: Databases.Database, count: number): Promise<void> => {
  const { code } = await run(["import", "-", "--keep-ids", "--database", database.address], makeLines(count))
  expect(code).toBe(0)
}

const exportFrom = async ({ address }: Databases.Database): Promise<string> =>
  (await run(["export", "--database", address])).stdout

for (const from of Databases.kinds) {
  for (const to of Databases.kinds) {
    const missing = [from, to].find((kind) => kind.missing !== undefined)
    const title = `copy from ${from.name} to ${to.name}${missing === undefined ? "" : ` (skipped, ${missing.missing})`}`
    const describeBoth = missing === undefined ? describe : describe.skip

    describeBoth(title, () => {
      it("transfers keys, request counts and animals, and keeps cursors valid on the new server", {
        timeout: TIMEOUT_MS
      }, async () => {
        const [source, target] = [await create(from), await create(to)]
        await fill(source, 300)
        const sourceServer = await start(["--json", "--port", "0", "--database", source.address])
        const { keys, url } = JSON.parse(sourceServer.greeting)
        const get = (base: string, path: string) =>
          Load.runClients([base], 1, (client) => client.send({ path, key: keys[0].key })).then(
            ([response]) => response
          )
        const firstPage = await get(url, "/pets?limit=100")
        await stop(sourceServer)

        const { stdout, stderr } = await run(["copy", "--from", source.address, "--to", target.address])
        expect(stderr).toBe("")
        expect(stdout).toMatch(
          /^Copied .* to .* in [\d.]+ s \([\d,]+ a second\)\.\nBoth have the same rows:\n/
        )
        expect(stdout).toMatch(/^ {2}pets +300 {2}SHA-256 [0-9a-f]{16}$/m)
        expect(stdout).toMatch(/^ {2}api_keys +1 {2}SHA-256 [0-9a-f]{16}$/m)
        expect(stdout).not.toContain(keys[0].key)

        const targetServer = await start(["--json", "--port", "0", "--database", target.address])
        try {
          expect(JSON.parse(targetServer.greeting).keys).toEqual([])
          const next = /<([^>]+)>; rel="next"/.exec(firstPage?.header("link") ?? "")?.[1] ?? ""
          const secondPage = await get(
            JSON.parse(targetServer.greeting).url,
            `/pets${new URL(next, url).search}`
          )
          expect(secondPage?.status).toBe(200)
          expect(Load.petsIn(secondPage?.body ?? "[]")).toHaveLength(100)
          // This is the second request of the day; the first one was counted on the source.
          expect(await valueOf(target, "SELECT used FROM rate_limits WHERE key LIKE 'key:%'")).toBe(2n)
        } finally {
          await stop(targetServer)
        }
        expect(await exportFrom(target)).toBe(await exportFrom(source))
      })

      it("stores each row once even when the command is killed repeatedly", {
        timeout: TIMEOUT_MS
      }, async () => {
        const [source, target] = [await create(from), await create(to)]
        await fill(source, 60_000)
        const args = ["copy", "--json", "--from", source.address, "--to", target.address]
        let kills = 0
        for (let round = 0; round < 4; round++) {
          const outcome = await killAfterProgress(
            launch(args),
            target,
            "SELECT last_id FROM copies",
            Math.random() * 40
          )
          if (outcome !== "killed") break
          kills++
        }
        expect(kills).toBeGreaterThan(1)
        if ((await valueOf(target, "SELECT completed_at FROM copies")) === null) {
          const { resumed, tables } = recordOf(await run(args))
          expect(resumed).toBe(true)
          expect(tables.find(({ name }) => name === "pets")?.rows).toBe(60_000)
        }
        expect(await exportFrom(target)).toBe(makeLines(60_000))
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
