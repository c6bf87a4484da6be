/** Tests `animal-store export` and `import`: their output for people and their JSON for scripts. */
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import * as Load from "./Load.fixture.ts"
import { start, stop } from "./Serve.fixture.ts"
import * as Terminal from "./Terminal.fixture.ts"
import {
  createDirectory,
  killAfterProgress,
  launch,
  makeLines,
  type ProcessResult,
  run,
  valueOf
} from "./Transfer.fixture.ts"

const create = Databases.createForTest

const TIMEOUT_MS = 120_000

/** Expects success, and returns the object on standard output. */
const jsonOf = async (running: Promise<ProcessResult>): Promise<Record<string, unknown>> => {
  const { code, stderr, stdout } = await running
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  expect(stdout).toMatch(/^\{.*\}\n$/)
  return JSON.parse(stdout)
}

const exportFrom = async (address: string): Promise<string> => {
  const { code, stderr, stdout } = await run(["export", "--database", address])
  expect(stderr).toMatch(/^Exported [\d,]+ animals? in [\d.]+ s \([\d,]+ a second\)\.\n$/)
  expect(code).toBe(0)
  return stdout
}

const withoutIds = (lines: string): string => lines.replaceAll(/^\{"id":\d+,/gm, "{")

const writeFile = (content: string | Uint8Array): string => {
  const file = path.join(createDirectory(), "animals.ndjson")
  fs.writeFileSync(file, content)
  return file
}

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "import and export", () => {
    it("export returns the imported lines after --keep-ids, otherwise the same animals with new ids", async () => {
      const [kept, renumbered] = [await create(kind), await create(kind)]
      const lines = makeLines(3_000)
      const file = writeFile(lines)
      const result = await jsonOf(run(["import", file, "--keep-ids", "--json", "--database", kept.address]))
      expect(result).toMatchObject({ animals: 3_000, before: 0, imported: 3_000, present: 0, faults: [] })
      expect(await exportFrom(kept.address)).toBe(lines)

      const { stdout } = await run(["import", file, "--database", renumbered.address])
      expect(stdout).toMatch(/^Imported 3,000 animals in [\d.]+ s \([\d,]+ a second\)\.\n$/)
      expect(withoutIds(await exportFrom(renumbered.address))).toBe(withoutIds(lines))
    })

    it("import stores each animal once even when the command is killed repeatedly", {
      timeout: TIMEOUT_MS
    }, async () => {
      const database = await create(kind)
      const lines = makeLines(60_000)
      const file = writeFile(lines)
      const args = ["import", file, "--json", "--database", database.address]
      let kills = 0
      for (let round = 0; round < 5; round++) {
        const outcome = await killAfterProgress(
          launch(args),
          database,
          "SELECT sum(bytes) FROM imports",
          Math.random() * 40
        )
        if (outcome !== "killed") break
        kills++
      }
      expect(kills).toBeGreaterThan(2)
      if ((await valueOf(database, "SELECT completed_at FROM imports")) === null) {
        const { animals, before, imported } = await jsonOf(run(args))
        expect(Number(before) + Number(imported)).toBe(60_000)
        expect([animals, Number(before) > 0]).toEqual([60_000, true])
      }
      expect(withoutIds(await exportFrom(database.address))).toBe(withoutIds(lines))
      const { code, stderr } = await run(args)
      expect(stderr).toMatch(
        /: it was imported completely at .* \(60000 animals\); --again imports it a second time\n$/
      )
      expect(code).toBe(1)
    })

    it("import --name stores each animal once even when the command is killed repeatedly", {
      timeout: TIMEOUT_MS
    }, async () => {
      const database = await create(kind)
      const lines = makeLines(40_000)
      const args = ["import", "-", "--name", "feed", "--json", "--database", database.address]
      for (let round = 0; round < 3; round++) {
        const running = launch(args, lines)
        const outcome = await killAfterProgress(
          running,
          database,
          "SELECT sum(bytes) FROM imports",
          Math.random() * 40
        )
        if (outcome !== "killed") break
      }
      await jsonOf(run(args, lines))
      expect(withoutIds(await exportFrom(database.address))).toBe(withoutIds(lines))
      const { imported } = await jsonOf(run(args, `${lines}{"name":"Rex","categoryId":1}\n`))
      expect(imported).toBe(1)
      const { stderr } = await run(args, '{"name":"other","categoryId":1}\n')
      expect(stderr).toMatch(/its first \d+ bytes differ from those that were imported before/)
    })

    it("import makes animals visible to a running server, which then assigns a larger id", async () => {
      const database = await create(kind)
      const server = await start(["--json", "--port", "0", "--database", database.address])
      try {
        const { keys, url } = JSON.parse(server.greeting)
        const line =
          '{"id":9007199254740993,"name":"Rex","categoryId":-9223372036854775808,"status":"sold"}\n'
        await jsonOf(run(["import", "-", "--keep-ids", "--json", "--database", database.address], line))
        const [first, created] = await Load.runClients([url], 1, async (client) => [
          await client.send({ path: "/pets", key: keys[0].key }),
          await client.send({ path: "/pets", key: keys[0].key, body: '{"name":"Max","categoryId":1}' })
        ]).then(([responses]) => responses ?? [])
        expect(first?.body).toBe(`[${line.trim()}]`)
        expect(Load.petIn(created?.body ?? "").id).toBe(9_007_199_254_740_994n)
      } finally {
        await stop(server)
      }
    })

    it.skipIf(Terminal.missing !== undefined)(
      `import, export and copy show their progress on a terminal; export shows none elsewhere${Terminal.missing === undefined ? "" : ` (skipped: ${Terminal.missing})`}`,
      { timeout: TIMEOUT_MS },
      async () => {
        const [{ address }, target] = [await create(kind), await create(kind)]
        const file = writeFile(makeLines(3_000))
        const out = path.join(createDirectory(), "out.ndjson")
        // Each step replaces the line of the step before.
        const statusLine = (text: string) => expect.stringMatching(new RegExp(`\\r\\u001b\\[2K${text}`))
        const imported = ["import", file, "--database", address]
        expect(await Terminal.run(imported)).toEqual(statusLine("checked 3,000 animals, 100%"))
        expect(await Terminal.run([...imported, "--again"])).toEqual(
          statusLine("imported 3,000 animals, 100%")
        )
        const exporting = ["export", "--out", out, "--database", address]
        expect(await Terminal.run(exporting)).toEqual(statusLine("exported 1,000 animals"))
        const copying = ["copy", "--from", address, "--to", target.address]
        expect(await Terminal.run(copying)).toEqual(statusLine("copied 6,000 of 6,000 animals"))
        const { stderr } = await run([...exporting, "--force"])
        expect(stderr).toBe("")
      }
    )

    it("import stores nothing from an invalid file, and only the animals before the first invalid line of a stream", async () => {
      const database = await create(kind)
      const valid = '{"name":"Rex","categoryId":1}\n'
      const lines = `${valid.repeat(3)}\n{"name":"Rex"}\n${valid}{"name":"","categoryId":1.5}\n`
      const file = writeFile(lines)
      const inFile = await run(["import", file, "--database", database.address])
      expect(inFile.stderr.split("\n")).toEqual([
        `animal-store: ${file}: line 5: categoryId: is required`,
        `animal-store: ${file}: line 7: name: must not be empty; categoryId: must be an integer between -9223372036854775808 and 9223372036854775807`,
        "animal-store: nothing was stored",
        ""
      ])
      expect([inFile.code, inFile.stdout]).toEqual([1, ""])
      const streamed = await run(["import", "-", "--json", "--database", database.address], lines)
      expect(streamed.stderr).toMatch(/a second run would store the same animals twice/)
      expect(streamed.stderr).toMatch(/the 3 animals before line 5 were stored\n$/)
      expect(streamed.code).toBe(1)
      expect(JSON.parse(streamed.stdout)).toMatchObject({ imported: 3, faults: [{ line: 5 }, { line: 7 }] })
      expect(withoutIds(await exportFrom(database.address)).split("\n")).toHaveLength(4)
    })

    it("import rejects an id that another animal has, and skips animals that already exist", async () => {
      const database = await create(kind)
      const animal = (id: number, name: string) =>
        `{"id":${id},"name":"${name}","categoryId":1,"status":"sold"}\n`
      const args = ["--keep-ids", "--database", database.address]
      await run(["import", "-", ...args], animal(5, "Rex"))
      const rejected = await run(["import", writeFile(animal(4, "Max") + animal(5, "Max")), ...args])
      expect(rejected.stderr).toMatch(
        /line 2: id: 5 belongs to another animal in the database\n.*nothing was stored\n$/
      )
      const repeated = await run(["import", "-", ...args], animal(4, "Max") + animal(5, "Rex"))
      expect(repeated.stdout).toMatch(/^Imported 1 animal in .*; 1 already existed\.\n$/)
      const rejectedStream = await run(["import", "-", ...args], animal(5, "Max"))
      expect(rejectedStream.stderr).toMatch(
        /id: 5 belongs to another animal in the database; 0 animals were stored; the same command would fail again\n$/
      )
      expect(await exportFrom(database.address)).toBe(animal(4, "Max") + animal(5, "Rex"))
    })

    it("import, export and copy use little memory for 300,000 animals", { timeout: TIMEOUT_MS }, async () => {
      const [database, copy] = [await create(kind), await create(kind)]
      const smallHeap = ["--max-old-space-size=64"]
      const file = writeFile(makeLines(300_000))
      const out = path.join(createDirectory(), "out.ndjson")
      const peaks: Array<number> = []
      for (const args of [
        ["import", file, "--keep-ids", "--database", database.address],
        ["export", "--out", out, "--database", database.address],
        ["copy", "--from", database.address, "--to", copy.address]
      ]) {
        const { child, ended } = launch(args, "", smallHeap)
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

describe("export --out", () => {
  const createFilled = async () => {
    const { address } = await create(Databases.sqlite)
    await run(["import", "-", "--keep-ids", "--database", address], makeLines(10))
    const directory = createDirectory()
    return { address, directory, out: path.join(directory, "out.ndjson") }
  }

  it("writes a file that only its owner can read, and leaves no temporary file", async () => {
    const { address, directory, out } = await createFilled()
    const result = await run(["export", "--out", out, "--database", address])
    expect(result).toMatchObject({ code: 0, stderr: "" })
    expect(result.stdout).toMatch(/^Exported 10 animals in .* to .*out\.ndjson\.\n$/)
    expect(fs.readFileSync(out, "utf8")).toBe(makeLines(10))
    expect(fs.statSync(out).mode & 0o777).toBe(0o600)
    expect(fs.readdirSync(directory)).toEqual(["out.ndjson"])
  })

  it("replaces an existing file only with --force", async () => {
    const { address, directory, out } = await createFilled()
    fs.writeFileSync(out, "precious")
    const rejected = await run(["export", "--out", out, "--database", address])
    expect([rejected.code, rejected.stderr]).toEqual([
      1,
      `animal-store: --out: ${out} exists; --force replaces it\n`
    ])
    expect(fs.readFileSync(out, "utf8")).toBe("precious")
    await jsonOf(run(["export", "--out", out, "--force", "--json", "--database", address]))
    expect(fs.readFileSync(out, "utf8")).toBe(makeLines(10))
    expect(fs.readdirSync(directory)).toEqual(["out.ndjson"])
  })

  it("fails with one line if the file cannot be written", async () => {
    const { address, directory } = await createFilled()
    const { code, stderr } = await run([
      "export",
      "--out",
      path.join(directory, "no", "x"),
      "--database",
      address
    ])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^animal-store: --out: ENOENT.*\n$/)
  })
})

describe("import", () => {
  it("accepts CRLF, blank lines, a byte order mark and a last line without a line ending", async () => {
    const { address } = await create(Databases.sqlite)
    const file = writeFile('\ufeff{"name":"a","categoryId":1}\r\n\r\n  \n{"name":"b","categoryId":2}')
    expect(await jsonOf(run(["import", file, "--json", "--database", address]))).toMatchObject({
      imported: 2
    })
  })

  it("checks the lines with --dry-run, and opens no database", async () => {
    const directory = createDirectory()
    const address = `sqlite:${path.join(directory, "none.db")}`
    const file = writeFile(makeLines(100))
    const { code, stdout } = await run(["import", file, "--dry-run", "--database", address])
    expect(stdout).toMatch(/^Checked 100 animals in .*: all are valid\. Nothing was stored\.\n$/)
    expect(code).toBe(0)
    const invalid = await run(["import", "-", "--dry-run", "--database", address], "[]\n".repeat(30))
    expect(invalid.stderr.split("\n")).toHaveLength(23)
    expect(invalid.stderr).toMatch(
      /line 20: must be a JSON object\n.*reading stopped here; there may be more invalid lines\n.*nothing was stored\n$/
    )
    expect(fs.readdirSync(directory)).toEqual([])
  })

  it("creates no database for an invalid file", async () => {
    const directory = createDirectory()
    const address = `sqlite:${path.join(directory, "none.db")}`
    expect((await run(["import", writeFile("x\n"), "--database", address])).code).toBe(1)
    expect(fs.readdirSync(directory)).toEqual([])
  })

  it("rejects unknown fields unless --ignore-unknown is given", async () => {
    const { address } = await create(Databases.sqlite)
    const line = '{"name":"a","categoryId":1,"stauts":"sold"}\n'
    const { stderr } = await run(["import", writeFile(line), "--database", address])
    expect(stderr).toMatch(/line 1: "stauts": is not a known field\n/)
    const args = ["import", writeFile(line), "--ignore-unknown", "--json", "--database", address]
    expect(await jsonOf(run(args))).toMatchObject({ imported: 1 })
    expect(await jsonOf(run([...args, "--again"]))).toMatchObject({ imported: 1 })
    expect(await valueOf(await create(Databases.sqlite), "SELECT 1")).toBe(1n)
  })

  it("rejects lines that are not UTF-8 or too long", async () => {
    const { address } = await create(Databases.sqlite)
    const file = writeFile(
      Buffer.concat([Buffer.from([0xff, 0x0a]), Buffer.alloc(70_000, 0x61), Buffer.from("\n")])
    )
    const { stderr } = await run(["import", file, "--database", address])
    expect(stderr).toMatch(/line 1: not valid JSON: not valid UTF-8 at position 0\n/)
    expect(stderr).toMatch(/line 2: is longer than 65536 bytes\n/)
  })
})

describe("import, export and copy", () => {
  it.each([
    [["import", "missing.ndjson"], "cannot read missing.ndjson: it does not exist"],
    [["import", "."], "cannot read .: it is a directory"],
    [
      ["import", "-", "--database", "memory:"],
      "--database (ANIMAL_STORE_DATABASE): a memory: database cannot be exported, imported or copied, because it exists only within one process"
    ],
    [
      ["export", "--database", "memory:"],
      "--database (ANIMAL_STORE_DATABASE): a memory: database cannot be exported, imported or copied, because it exists only within one process"
    ],
    [
      ["export", "--database", "sqlite:missing.db"],
      "--database (ANIMAL_STORE_DATABASE): there is no database at missing.db"
    ],
    [["export", "--json"], "--json: requires --out, because standard output contains the animals"],
    [
      ["copy", "--from", "sqlite:missing.db", "--to", "memory:"],
      "--from (ANIMAL_STORE_FROM): there is no database at missing.db"
    ],
    [
      ["copy", "--from", "memory:", "--to", "sqlite:x.db"],
      "--from (ANIMAL_STORE_FROM): a memory: database cannot be exported, imported or copied, because it exists only within one process"
    ]
  ])("report the error of %j in one line", async (args, message) => {
    const { code, stderr, stdout } = await run(args)
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: "", stderr: `animal-store: ${message}\n` })
  })
})
