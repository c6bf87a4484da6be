/** Tests `animal-store export` and `import`: their output for people and their JSON for scripts. */
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { createServer } from "node:net"
import * as path from "node:path"
import { PassThrough, Readable } from "node:stream"
import { gzipSync } from "node:zlib"
import { describe, expect, it, onTestFinished } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import { json, launch, run, serveJson } from "./CommandLine.fixture.ts"
import * as Directory from "./Directory.fixture.ts"
import * as Load from "./Load.fixture.ts"
import { exportFrom, fill, makeLines, waitForValue, withoutIds } from "./Transfer.fixture.ts"

const create = Databases.createForTest

const writeFile = (content: string | Uint8Array): string => {
  const file = path.join(Directory.create(), "animals.ndjson")
  fs.writeFileSync(file, content)
  return file
}

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "import and export", () => {
    it("export returns the imported lines after --keep-ids, otherwise the same animals with new ids", async () => {
      const [kept, renumbered] = [await create(kind), await create(kind)]
      const lines = makeLines(3_000)
      const file = writeFile(lines)
      const result = await json(["import", file, "--keep-ids", "--database", kept.address])
      expect(result).toMatchObject({ animals: 3_000, before: 0, imported: 3_000, present: 0, faults: [] })
      expect(await exportFrom(kept)).toBe(lines)
      const repeated = await run(["import", file, "--keep-ids", "--database", kept.address])
      expect([repeated.code, repeated.stderr]).toEqual([
        1,
        expect.stringMatching(
          /: it was imported completely at .* \(3000 animals\); --again imports it a second time\n$/
        )
      ])

      const { stdout } = await run(["import", file, "--database", renumbered.address])
      expect(stdout).toMatch(/^Imported 3,000 animals in [\d.]+ s \([\d,]+ a second\)\.\n$/)
      expect(withoutIds(await exportFrom(renumbered))).toBe(withoutIds(lines))
    })

    it("import makes animals visible to a running server, which then assigns a larger id", async () => {
      const database = await create(kind)
      const { get, post } = await serveJson(["--database", database.address])
      const line = '{"id":9007199254740993,"name":"Rex","categoryId":-9223372036854775808,"status":"sold"}\n'
      await json(["import", "-", "--keep-ids", "--database", database.address], {}, { input: line })
      expect(await (await get("/pets")).text()).toBe(`[${line.trim()}]`)
      const created = await post('{"name":"Max","categoryId":1}')
      expect(Load.petIn(await created.text()).id).toBe(9_007_199_254_740_994n)
    })

    it("import, export and copy show their progress on a terminal only", async () => {
      const [{ address }, target] = [await create(kind), await create(kind)]
      const file = writeFile(makeLines(3_000))
      const out = path.join(Directory.create(), "out.ndjson")
      // Each step replaces the line of the step before.
      const statusLine = (text: string) => expect.stringContaining(`\r\u001b[2K${text}`)
      const onTerminal = async (args: ReadonlyArray<string>) =>
        (await run(args, {}, { isTerminal: true })).stderr
      const importing = ["import", file, "--database", address]
      expect(await onTerminal(importing)).toEqual(statusLine("checked 3,000 animals, 100%"))
      expect(await onTerminal([...importing, "--again"])).toEqual(statusLine("imported 3,000 animals, 100%"))
      const exporting = ["export", "--out", out, "--database", address]
      expect(await onTerminal(exporting)).toEqual(statusLine("exported 1,000 animals"))
      const copying = ["copy", "--from", address, "--to", target.address]
      expect(await onTerminal(copying)).toEqual(statusLine("copied 6,000 of 6,000 animals"))
      expect((await run([...exporting, "--force"])).stderr).toBe("")
    })

    it("import that is interrupted exits with 130, and the same command resumes it", async () => {
      const database = await create(kind)
      const lines = makeLines(8_000)
      const args = ["import", "-", "--name", "feed", "--database", database.address]
      const input = new PassThrough()
      input.write(lines.slice(0, (lines.length * 3) / 4))
      const { ended, interrupt } = launch(args, {}, { input })
      await waitForValue(database, "SELECT bytes FROM imports WHERE bytes > 0")
      interrupt()
      input.end()
      expect(await ended).toMatchObject({
        ...{ code: 130, stdout: "" },
        stderr: "animal-store: interrupted; run the same command again to resume\n"
      })
      await json(args, {}, { input: lines })
      expect(withoutIds(await exportFrom(database))).toBe(withoutIds(lines))
    })

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
      const streamed = await run(
        ["import", "-", "--json", "--database", database.address],
        {},
        { input: lines }
      )
      expect(streamed.stderr).toMatch(/a second run would store the same animals twice/)
      expect(streamed.stderr).toMatch(/the 3 animals before line 5 were stored\n$/)
      expect(streamed.code).toBe(1)
      expect(JSON.parse(streamed.stdout)).toMatchObject({ imported: 3, faults: [{ line: 5 }, { line: 7 }] })
      expect(withoutIds(await exportFrom(database)).split("\n")).toHaveLength(4)
    })

    it("import rejects an id that another animal has, and skips animals that already exist", async () => {
      const database = await create(kind)
      const animal = (id: number, name: string) =>
        `{"id":${id},"name":"${name}","categoryId":1,"status":"sold"}\n`
      const args = ["--keep-ids", "--database", database.address]
      const importLines = (input: string) => run(["import", "-", ...args], {}, { input })
      await importLines(animal(5, "Rex"))
      const rejected = await run(["import", writeFile(animal(4, "Max") + animal(5, "Max")), ...args])
      expect(rejected.stderr).toMatch(
        /line 2: id: 5 belongs to another animal in the database\n.*nothing was stored\n$/
      )
      const repeated = await importLines(animal(4, "Max") + animal(5, "Rex"))
      expect(repeated.stdout).toMatch(/^Imported 1 animal in .*; 1 already existed\.\n$/)
      const rejectedStream = await importLines(animal(5, "Max"))
      expect(rejectedStream.stderr).toMatch(
        /id: 5 belongs to another animal in the database; 0 animals were stored; the same command would fail again\n$/
      )
      expect(await exportFrom(database)).toBe(animal(4, "Max") + animal(5, "Rex"))
    })
  })
}

describe("export --out", () => {
  const createFilled = async () => {
    const database = await create(Databases.sqlite)
    await fill(database, 10)
    const directory = Directory.create()
    return { address: database.address, directory, out: path.join(directory, "out.ndjson") }
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
    await json(["export", "--out", out, "--force", "--database", address])
    expect(fs.readFileSync(out, "utf8")).toBe(makeLines(10))
    expect(fs.readdirSync(directory)).toEqual(["out.ndjson"])
  })

  it("replaces the file behind a link with --force, and leaves the link as it is", async () => {
    const { address, directory, out } = await createFilled()
    const elsewhere = path.join(Directory.create(), "elsewhere.ndjson")
    fs.writeFileSync(elsewhere, "old")
    fs.symlinkSync(elsewhere, out)
    await json(["export", "--out", out, "--force", "--database", address])
    expect(fs.readlinkSync(out)).toBe(elsewhere)
    expect(fs.readFileSync(elsewhere, "utf8")).toBe(makeLines(10))
    expect(fs.readdirSync(directory)).toEqual(["out.ndjson"])
  })

  it("never replaces a file of the exported database, also under another name", async () => {
    const { address, directory } = await createFilled()
    const filename = address.replace(/^sqlite:/, "")
    const names = { link: path.join(directory, "link.db"), hard: path.join(directory, "hard.db") }
    fs.symlinkSync(filename, names.link)
    fs.linkSync(filename, names.hard)
    for (const out of [filename, names.link, names.hard]) {
      expect(await run(["export", "--out", out, "--force", "--database", address])).toEqual({
        ...{ code: 1, stdout: "" },
        stderr: `animal-store: --out: ${out} belongs to the database that is exported\n`
      })
    }
    expect((await run(["export", "--database", `sqlite:${names.link}`])).stdout).toBe(makeLines(10))
  })

  it("refuses everything that is not a regular file, also behind a link and with --force", async () => {
    const { address, directory } = await createFilled()
    const at = (name: string) => path.join(directory, name)
    spawnSync("mkfifo", [at("fifo")])
    fs.mkdirSync(at("directory"))
    const listener = createServer().listen(at("socket"))
    await once(listener, "listening")
    onTestFinished(() => void listener.close())
    const kinds = [
      ["fifo", "a named pipe"],
      ["directory", "a directory"],
      ["socket", "a socket"]
    ] as const
    for (const [name] of kinds) fs.symlinkSync(at(name), at(`link-${name}`))
    // A link, so that a failure of this test does not replace the device of the machine.
    fs.symlinkSync("/dev/null", at("device"))
    const names = fs.readdirSync(directory)
    const linked = kinds.map(([name, kind]) => [`link-${name}`, kind] as const)
    for (const [name, kind] of [...kinds, ...linked, ["device", "a device"] as const]) {
      for (const force of [[], ["--force"]]) {
        expect(await run(["export", "--out", at(name), ...force, "--database", address])).toEqual({
          ...{ code: 1, stdout: "" },
          stderr: `animal-store: --out: ${at(name)} is ${kind}, not a regular file; without --out, the animals go to standard output\n`
        })
      }
    }
    expect(fs.readdirSync(directory)).toEqual(names)
    expect(fs.lstatSync(at("fifo")).isFIFO()).toBe(true)
  })

  it("writes to standard output if the file is -", async () => {
    const { address } = await createFilled()
    const { code, stdout } = await run(["export", "--out", "-", "--database", address])
    expect([code, stdout]).toEqual([0, makeLines(10)])
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
  it("stores nothing if it is interrupted before its input begins, and reports so", async () => {
    const { address } = await create(Databases.sqlite)
    const input = new PassThrough()
    const { ended, interrupt } = launch(["import", "-", "--database", address], {}, { input })
    await expect.poll(() => input.listenerCount("readable"), { timeout: 60_000 }).toBe(1)
    interrupt()
    input.end()
    expect(await ended).toMatchObject({
      code: 130,
      stderr: "animal-store: interrupted; nothing was stored\n"
    })
  })

  it("accepts CRLF, blank lines, a byte order mark and a last line without a line ending", async () => {
    const { address } = await create(Databases.sqlite)
    const file = writeFile('\ufeff{"name":"a","categoryId":1}\r\n\r\n  \n{"name":"b","categoryId":2}')
    expect(await json(["import", file, "--database", address])).toMatchObject({ imported: 2 })
  })

  it("checks the lines with --dry-run, and opens no database", async () => {
    const directory = Directory.create()
    const address = `sqlite:${path.join(directory, "none.db")}`
    const file = writeFile(makeLines(100))
    const { code, stdout } = await run(["import", file, "--dry-run", "--database", address])
    expect(stdout).toMatch(/^Checked 100 animals in .*: all are valid\. Nothing was stored\.\n$/)
    expect(code).toBe(0)
    const invalid = await run(
      ["import", "-", "--dry-run", "--database", address],
      {},
      { input: "[]\n".repeat(30) }
    )
    expect(invalid.stderr.split("\n")).toHaveLength(23)
    expect(invalid.stderr).toMatch(
      /line 20: must be a JSON object\n.*reading stopped here; there may be more invalid lines\n.*nothing was stored\n$/
    )
    expect(fs.readdirSync(directory)).toEqual([])
  })

  it("creates no database for an invalid file", async () => {
    const directory = Directory.create()
    const address = `sqlite:${path.join(directory, "none.db")}`
    expect((await run(["import", writeFile("x\n"), "--database", address])).code).toBe(1)
    expect(fs.readdirSync(directory)).toEqual([])
  })

  it("names the form of other input and what converts it, and creates no database", async () => {
    const directory = Directory.create()
    const address = `sqlite:${path.join(directory, "none.db")}`
    const line = '{"name":"Rex","categoryId":1}\n'
    const inputs: ReadonlyArray<readonly [string | Uint8Array, string, string]> = [
      [Buffer.from(`\ufeff${line}`, "utf16le"), "UTF-16", "iconv -f UTF-16 -t UTF-8"],
      [gzipSync(line), "compressed with gzip", "gunzip -c"],
      [`[${line}]`, "one JSON array", "jq -c '.[]'"],
      // A line that is longer than a block.
      [`[${line.trim()}${`,${line.trim()}`.repeat(20_000)}]`, "one JSON array", "jq -c '.[]'"],
      [`{ "pets": [${line}] }`, "one JSON object with arrays", "jq -c '.pets[]'"],
      ["name,categoryId\nRex,1\n", "CSV", "mlr --icsv --ojsonl cat"]
    ]
    for (const [content, form, command] of inputs) {
      const file = writeFile(content)
      for (const flags of [[], ["--keep-ids"], ["--dry-run"]]) {
        expect(await run(["import", file, ...flags, "--database", address])).toEqual({
          ...{ code: 1, stdout: "" },
          stderr: `animal-store: ${file}: it is ${form}, not one JSON object on each line; convert it with ${command} ${file} | animal-store import -\n`
        })
      }
      const streamed = await run(
        ["import", "-", "--name", "x", "--database", address],
        {},
        { input: Readable.from([Buffer.from(content)]) }
      )
      expect([streamed.code, streamed.stderr]).toEqual([
        1,
        `animal-store: standard input: it is ${form}, not one JSON object on each line; convert it with … | ${command} | animal-store import -\n`
      ])
    }
    expect(fs.readdirSync(directory)).toEqual([])
  })

  it("imports an animal whose first field is an array with --ignore-unknown", async () => {
    const { address } = await create(Databases.sqlite)
    const file = writeFile('{"tags":[{"id":1}],"name":"Rex","categoryId":1}\n')
    expect(await json(["import", file, "--ignore-unknown", "--database", address])).toMatchObject({
      imported: 1
    })
  })

  it("imports from a named pipe", async () => {
    const { address } = await create(Databases.sqlite)
    const fifo = path.join(Directory.create(), "fifo")
    spawnSync("mkfifo", [fifo])
    const imported = run(["import", fifo, "--database", address])
    await fs.promises.writeFile(fifo, makeLines(20_000))
    expect((await imported).stdout).toMatch(/^Imported 20,000 animals/)
  })

  it("rejects unknown fields unless --ignore-unknown is given", async () => {
    const { address } = await create(Databases.sqlite)
    const line = '{"name":"a","categoryId":1,"stauts":"sold"}\n'
    const { stderr } = await run(["import", writeFile(line), "--database", address])
    expect(stderr).toMatch(/line 1: "stauts": is not a known field\n/)
    const args = ["import", writeFile(line), "--ignore-unknown", "--database", address]
    expect(await json(args)).toMatchObject({ imported: 1 })
    expect(await json([...args, "--again"])).toMatchObject({ imported: 1 })
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
      "--database (ANIMAL_STORE_DATABASE): there is no database at missing.db; pass the address that the server uses, or create one with 'animal-store serve'"
    ],
    [["export", "--json"], "--json: requires --out, because standard output contains the animals"],
    [
      ["copy", "--from", "sqlite:missing.db", "--to", "memory:"],
      "--from (ANIMAL_STORE_FROM): there is no database at missing.db; pass the address that the server uses, or create one with 'animal-store serve'"
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
