/**
 * Checks that the programs in docs/clients.md in four languages wait after a 429, follow all pages and keep all digits.
 */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Clients from "./Clients.fixture.ts"

const jqVersion = spawnSync("jq", ["--version"], { encoding: "utf8" }).stdout ?? ""

/** Each language with its file and command; `skipReason` states why it cannot run here, if it cannot. */
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
      : "there is no Python 3.9"
  },
  {
    name: "go",
    file: "animals.go",
    command: ["go", "run"],
    skipReason: Clients.isAvailable("go", "version") ? undefined : "there is no Go"
  },
  {
    name: "shell",
    file: "animals.sh",
    command: ["sh"],
    skipReason: Clients.isAvailable("curl", "--version") ? undefined : "there is no curl"
  }
]

const isJqExact = /^jq-(?:1\.([7-9]|\d\d)|[2-9])/.test(jqVersion)
const jqSuffix = Clients.skipSuffix(
  "jq",
  isJqExact ? undefined : `jq 1.7 or newer is needed, not '${jqVersion.trim()}'`
)

const seeds = ["9223372036854775807", "-9223372036854775808", "9007199254740993", "0", "7"]

/** Returns a name with quotes and braces, which a program must not parse as JSON. */
const nameOf = (seed: string): string => `animal "${seed}" {"id":1}`

describe.skipIf(!Clients.isInstalled)(
  `the programs in docs/clients.md${Clients.isInstalled ? "" : ` (skipped, ${Clients.missing})`}`,
  () => {
    let directory = ""
    let server: Clients.Server

    beforeAll(async () => {
      directory = Clients.createDirectory()
      server = await Clients.serve(["pro", "pro", ...languages.map(() => "free")])
      for (const seed of seeds) await Clients.createAnimal(server, nameOf(seed), seed)
      fs.writeFileSync(path.join(directory, "package.json"), '{"type":"module"}')
    })

    afterAll(async () => {
      await server?.stop()
      fs.rmSync(directory, { recursive: true, force: true })
    })

    const environment = (index: number) => ({ BASE_URL: server.url, API_KEY: server.keys[index]?.key })

    languages.forEach(({ command: [command = "", ...parameters], file, name, skipReason }, index) => {
      it.skipIf(skipReason !== undefined).concurrent(
        `${name} waits after a 429, follows all pages and keeps all digits${Clients.skipSuffix(name, skipReason)}`,
        async ({ expect }) => {
          const own = path.join(directory, name)
          fs.mkdirSync(own)
          fs.writeFileSync(path.join(own, file), Clients.program(name))
          const key = server.keys[index + 2]
          // Uses up a Free key, so that each request of the program has to wait for about a second.
          while ((await Clients.get(`${server.url}/pets?limit=1`, key?.key ?? "")).status !== 429);
          const before = server.log().length
          const { status, stderr, stdout } = await Clients.run(
            command,
            [...parameters, file],
            environment(index + 2),
            own
          )
          expect(status, stderr).toBe(0)
          const [created, ...listed] = stdout.trim().split("\n").flatMap(Clients.parseExactly)
          expect(created).toMatchObject({ name: "Rex", categoryId: "9007199254740993", status: "available" })
          const stored = new Set((await Clients.listAnimals(server)).map((pet) => JSON.stringify(pet)))
          const lines = listed.map((pet: unknown) => JSON.stringify(pet))
          expect(lines.filter((line: string) => !stored.has(line))).toEqual([])
          expect(new Set(lines).size).toBe(lines.length)
          // The list has the five stored animals, and the animal that the program created before it listed them.
          for (const seed of seeds) {
            expect(listed).toContainEqual(expect.objectContaining({ name: nameOf(seed), categoryId: seed }))
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

    it("are all run by a test, except a block that only sets variables", () => {
      expect(Clients.unnamed).toEqual(["export BASE_URL=http://127.0.0.1:3000/v1 API_KEY=ast_…\n"])
      const tests = fs
        .readdirSync(new URL(".", import.meta.url))
        .filter((file) => file.endsWith(".ts"))
        .map((file) => fs.readFileSync(new URL(file, import.meta.url), "utf8"))
        .join("\n")
      const isRun = (name: string) => tests.includes(`"${name.replace(/-generate$/, "")}"`)
      expect(Clients.names.filter((name) => !isRun(name))).toEqual([])
    })

    it("the TypeScript program compiles in strict mode", async () => {
      fs.writeFileSync(path.join(directory, "animals.ts"), Clients.program("typescript"))
      expect(await Clients.compile(directory, ["animals.ts"])).toEqual([])
    }, 120_000)

    it.skipIf(!isJqExact)(`jq keeps all digits of an int64${jqSuffix}`, async () => {
      const { status, stderr, stdout } = await Clients.run(
        "sh",
        ["-c", Clients.program("jq")],
        environment(1),
        directory
      )
      expect(status, stderr).toBe(0)
      const ids = stdout
        .trim()
        .split("\n")
        .map((line) => Clients.parseExactly(line).categoryId)
      expect(ids).toEqual(expect.arrayContaining(seeds))
    })
  }
)
