/** Kills and stops servers and commands many times; `Crash.test.ts` and `Shutdown.test.ts` do so once or twice. */
import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import { json, run } from "./CommandLine.fixture.ts"
import * as Directory from "./Directory.fixture.ts"
import * as Durability from "./Durability.fixture.ts"
import { launch, type ProcessResult } from "./Serve.fixture.ts"
import { exportFrom, fill, killAfterProgress, makeLines, valueOf, withoutIds } from "./Transfer.fixture.ts"

const create = Databases.createForTest

const TIMEOUT_MS = 900_000

/** Kills new processes at most `rounds` times, each shortly after `statement` shows progress; returns the kills. */
const killRepeatedly = async (
  rounds: number,
  args: ReadonlyArray<string>,
  database: Databases.Database,
  statement: string,
  input = ""
): Promise<number> => {
  for (let kills = 0; kills < rounds; kills++) {
    const outcome: "killed" | ProcessResult = await killAfterProgress(
      launch(args, {}, { input }),
      database,
      statement,
      Math.random() * 40
    )
    if (outcome !== "killed") return kills
  }
  return rounds
}

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "a server", () => {
    it(
      "loses no acknowledged animal when the process is killed 20 times under load",
      () => Durability.expectDurable(kind, 20),
      TIMEOUT_MS
    )

    it(
      "responds under load to all requests that were sent before the stop signal",
      () => Durability.expectCleanStop(kind),
      TIMEOUT_MS
    )
  })

  Databases.describeOn(kind, "import", () => {
    it(
      "stores each animal of a file once even when the command is killed repeatedly",
      async () => {
        const database = await create(kind)
        const lines = makeLines(60_000)
        const file = path.join(Directory.create(), "animals.ndjson")
        fs.writeFileSync(file, lines)
        const args = ["import", file, "--database", database.address]
        expect(await killRepeatedly(5, args, database, "SELECT sum(bytes) FROM imports")).toBeGreaterThan(2)
        if ((await valueOf(database, "SELECT completed_at FROM imports")) === null) {
          const { animals, before, imported } =
            await json<Record<"animals" | "before" | "imported", number>>(args)
          expect([animals, before + imported]).toEqual([60_000, 60_000])
          expect(before).toBeGreaterThan(0)
        }
        expect(withoutIds(await exportFrom(database))).toBe(withoutIds(lines))
      },
      TIMEOUT_MS
    )

    it(
      "stores each animal of a stream once even when the command is killed repeatedly",
      async () => {
        const database = await create(kind)
        const lines = makeLines(40_000)
        const args = ["import", "-", "--name", "feed", "--database", database.address]
        await killRepeatedly(3, args, database, "SELECT sum(bytes) FROM imports", lines)
        await json(args, {}, { input: lines })
        expect(withoutIds(await exportFrom(database))).toBe(withoutIds(lines))
      },
      TIMEOUT_MS
    )
  })
}

for (const from of Databases.kinds) {
  for (const to of Databases.kinds) {
    const missing = [from, to].find((kind) => kind.missing !== undefined)
    const title = `copy from ${from.name} to ${to.name}${missing === undefined ? "" : ` (skipped, ${missing.missing})`}`
    describe.skipIf(missing !== undefined)(title, () => {
      it(
        "stores each row once even when the command is killed repeatedly",
        async () => {
          const [source, target] = [await create(from), await create(to)]
          await fill(source, 60_000)
          const args = ["copy", "--from", source.address, "--to", target.address]
          expect(await killRepeatedly(4, args, target, "SELECT max(id) FROM pets")).toBeGreaterThan(1)
          if ((await valueOf(target, "SELECT completed_at FROM copies")) === null) {
            expect(await json(args)).toMatchObject({ resumed: true })
          }
          expect(await exportFrom(target)).toBe(makeLines(60_000))
          const { code, stderr } = await run(args)
          expect([code, stderr]).toEqual([
            1,
            "animal-store: the target is not empty: an earlier copy to it has already completed\n"
          ])
        },
        TIMEOUT_MS
      )
    })
  }
}
