/** Tests that killed processes lose nothing that they acknowledged, and that their work can be resumed. */
import { expect, it } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import { json, run } from "./CommandLine.fixture.ts"
import * as Durability from "./Durability.fixture.ts"
import { launch } from "./Serve.fixture.ts"
import { exportFrom, makeLines, waitForValue, withoutIds } from "./Transfer.fixture.ts"

const TIMEOUT_MS = 180_000

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "a killed process", () => {
    it(
      "that served loses no acknowledged animal, and repeated requests store no animal twice",
      () => Durability.expectDurable(kind, 2),
      TIMEOUT_MS
    )

    it(
      "that imported a stream has stored each animal once, and the import can be resumed",
      async () => {
        const database = await Databases.createForTest(kind)
        const lines = makeLines(8_000)
        const args = ["import", "-", "--name", "feed", "--database", database.address]
        const { child, ended } = launch([...args, "--json"], {}, { input: "open" })
        // Three quarters of the data, so that several blocks are stored and the command waits for the rest.
        child.stdin?.write(lines.slice(0, (lines.length * 3) / 4))
        await waitForValue(database, "SELECT bytes FROM imports WHERE bytes > 0")
        child.kill("SIGKILL")
        expect((await ended).signal).toBe("SIGKILL")

        const resumed = await json<Record<"animals" | "before" | "imported", number>>(
          args,
          {},
          { input: lines }
        )
        expect(resumed.before).toBeGreaterThan(0)
        expect([resumed.animals, resumed.before + resumed.imported]).toEqual([8_000, 8_000])
        expect(withoutIds(await exportFrom(database))).toBe(withoutIds(lines))

        const longer = `${lines}{"name":"Rex","categoryId":1}\n`
        expect(await json(args, {}, { input: longer })).toMatchObject({ imported: 1 })
        const { stderr } = await run(args, {}, { input: '{"name":"other","categoryId":1}\n' })
        expect(stderr).toMatch(/its first \d+ bytes differ from those that were imported before/)
      },
      TIMEOUT_MS
    )
  })
}
