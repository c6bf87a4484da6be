/** Runs the programs in docs/clients.md. Each must wait after a 429, follow all pages and keep all digits. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { describeInstalled } from "../Packages.fixture.ts"
import * as Clients from "./Clients.fixture.ts"

const jqVersion = spawnSync("jq", ["--version"], { encoding: "utf8" }).stdout ?? ""

/** The languages; `skipReason` states why this machine cannot run the program, and is `undefined` if it can. */
const languages: ReadonlyArray<{
  readonly name: string
  readonly file: string
  readonly command: ReadonlyArray<string>
  readonly skipReason: string | undefined
}> = [
  { name: "typescript", file: "animals.ts", command: [process.execPath], skipReason: undefined },
  {
    name: "python",
    file: "animals.py",
    command: ["python3"],
    skipReason: Clients.isAvailable("python3", "-c", "import sys; assert sys.version_info >= (3, 9)")
      ? undefined
      : "Python 3.9 or later is not installed"
  },
  {
    name: "go",
    file: "animals.go",
    command: ["go", "run"],
    skipReason: Clients.isAvailable("go", "version") ? undefined : "Go is not installed"
  },
  {
    name: "shell",
    file: "animals.sh",
    command: ["sh"],
    skipReason: Clients.isAvailable("curl", "--version") ? undefined : "curl is not installed"
  }
]

// jq before 1.7 rounds large integers.
const jqKeepsDigits = /^jq-(?:1\.([7-9]|\d\d)|[2-9])/.test(jqVersion)
const jqProblem =
  jqVersion === "" ? "jq is not installed" : `needs jq 1.7 or later, found '${jqVersion.trim()}'`
const jqSuffix = Clients.skipSuffix("jq", jqKeepsDigits ? undefined : jqProblem)

/** The values of `categoryId` of the stored animals. */
const categoryIds = ["9223372036854775807", "-9223372036854775808", "9007199254740993", "0", "7"]

/** Returns a name with quotes and braces, which a program must not parse as JSON. */
const nameOf = (categoryId: string): string => `animal "${categoryId}" {"id":1}`

/** The indexes of the server's keys; the first key creates and lists the stored animals. */
const JQ_KEY = 1
const FIRST_LANGUAGE_KEY = 2

describeInstalled("docs/clients", "docs/clients.md", () => {
  let directory = ""
  let server: Clients.Server

  beforeAll(async () => {
    directory = Clients.createDirectory()
    server = await Clients.serve(["pro", "pro", ...languages.map(() => "free")])
    for (const categoryId of categoryIds) {
      await Clients.createAnimal(server, nameOf(categoryId), categoryId)
    }
    fs.writeFileSync(path.join(directory, "package.json"), '{"type":"module"}')
  })

  afterAll(async () => {
    await server?.stop()
    fs.rmSync(directory, { recursive: true, force: true })
  })

  const environment = (keyIndex: number) => ({ BASE_URL: server.url, API_KEY: server.keys[keyIndex]?.key })

  languages.forEach(({ command: [command = "", ...parameters], file, name, skipReason }, index) => {
    it.skipIf(skipReason !== undefined).concurrent(
      `has a ${name} program that waits after a 429, follows all pages and keeps all digits${Clients.skipSuffix(name, skipReason)}`,
      async ({ expect }) => {
        const programDirectory = path.join(directory, name)
        fs.mkdirSync(programDirectory)
        fs.writeFileSync(path.join(programDirectory, file), Clients.program(name))
        const key = server.keys[FIRST_LANGUAGE_KEY + index]
        // Uses up a Free key, so that each request of the program has to wait for about a second.
        while ((await Clients.get(`${server.url}/pets?limit=1`, key?.key ?? "")).status !== 429);
        const before = server.log().length
        const { status, stderr, stdout } = await Clients.run(
          command,
          [...parameters, file],
          environment(FIRST_LANGUAGE_KEY + index),
          programDirectory
        )
        expect(status, stderr).toBe(0)
        const [created, ...listed] = stdout.trim().split("\n").flatMap(Clients.parseExactly)
        expect(created).toMatchObject({ name: "Rex", categoryId: "9007199254740993", status: "available" })
        const stored = new Set((await Clients.listAnimals(server)).map((pet) => JSON.stringify(pet)))
        const lines = listed.map((pet: unknown) => JSON.stringify(pet))
        expect(lines.filter((line: string) => !stored.has(line))).toEqual([])
        expect(new Set(lines).size).toBe(lines.length)
        // The list has the five stored animals, and the animal that the program created before it listed them.
        for (const categoryId of categoryIds) {
          expect(listed).toContainEqual(expect.objectContaining({ name: nameOf(categoryId), categoryId }))
        }
        expect(listed).toContainEqual(created)
        const denied = server
          .log()
          .slice(before)
          .filter((line) => line.key === key?.id && line.status === 429)
        expect(denied.length).toBeGreaterThanOrEqual(1)
      },
      120_000
    )
  })

  it("has a TypeScript program that compiles in strict mode", async () => {
    fs.writeFileSync(path.join(directory, "animals.ts"), Clients.program("typescript"))
    expect(await Clients.compile(directory, ["animals.ts"])).toEqual([])
  }, 120_000)

  it.skipIf(!jqKeepsDigits)(`has a jq program that keeps all digits of an int64${jqSuffix}`, async () => {
    const { status, stderr, stdout } = await Clients.run(
      "sh",
      ["-c", Clients.program("jq")],
      environment(JQ_KEY),
      directory
    )
    expect(status, stderr).toBe(0)
    const ids = stdout
      .trim()
      .split("\n")
      .map((line) => Clients.parseExactly(line).categoryId)
    expect(ids).toEqual(expect.arrayContaining(categoryIds))
  })
})
