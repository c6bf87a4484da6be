/** Checks the clients that three generators create from the served document: they compile in strict mode and work. */
import * as fs from "node:fs"
import * as path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { describeInstalled } from "../Packages.fixture.ts"
import * as Clients from "./Clients.fixture.ts"

const generators = ["openapi-fetch", "hey-api", "orval"] as const

/** Mistakes that must not compile: a name, the code to replace, its replacement, and the compiler's message. */
const mistakes: ReadonlyArray<
  readonly [name: string, code: string | RegExp, replacement: string, message: RegExp]
> = [
  ["a misspelled field", 'status: "pending"', 'staus: "sold"', /'staus' does not exist|Did you mean/],
  ["a missing name", 'name: "Rex", ', "", /error TS(?:2322|2345|2741)/],
  ["an unknown status", '"pending"', '"asleep"', /"asleep"' is not assignable/],
  [
    "a categoryId in quotes",
    "categoryId: 7",
    'categoryId: "7"',
    /'string' is not assignable to type 'number'/
  ],
  [
    "a field that animals do not have",
    /created(\.data)?\.id/,
    "created$1.identity",
    /'identity' does not exist/
  ],
  ["a filter that does not exist", "limit: 2", "limt: 2", /'limt' does not exist|Did you mean/]
]

/** An int64 that a double rounds. */
const LARGE = "9223372036854775807"

const fileOf = (generator: string, mistake?: number): string =>
  `${generator}${mistake === undefined ? "" : `-mistake-${mistake}`}.ts`

describeInstalled("docs/clients", "generated clients", () => {
  let directory = ""
  let server: Clients.Server
  let messages: ReadonlyArray<string> = []

  const write = (file: string, text: string): void => fs.writeFileSync(path.join(directory, file), text)

  const withAddress = (text: string): string =>
    text.replaceAll("http://127.0.0.1:3000/openapi.json", new URL("/openapi.json", server.url).href)

  /** Runs the generator's command from the page, without installing packages. */
  const generate = async (generator: string): Promise<void> => {
    const command = Clients.program(`${generator}-generate`).replace("npx ", "npx --no-install ")
    const { status, stderr, stdout } = await Clients.run("sh", ["-c", withAddress(command)], {}, directory)
    expect(status, stdout + stderr).toBe(0)
  }

  beforeAll(async () => {
    directory = Clients.createDirectory()
    server = await Clients.serve(["pro", "enterprise:perMinute=2,perDay=100"])
    for (const name of ["Mia", "Tom", "Ada"]) await Clients.createAnimal(server, name, LARGE)
    write("package.json", '{"type":"module"}')
    // `npx` looks for commands only in `node_modules` next to the nearest package.json.
    fs.symlinkSync("../node_modules", path.join(directory, "node_modules"))
    write("orval.config.mjs", withAddress(Clients.program("orval-config")))
    for (const generator of generators) {
      await generate(generator)
      const correct = Clients.program(generator)
      write(fileOf(generator), correct)
      mistakes.forEach(([name, code, replacement], mistake) => {
        const incorrect = correct.replace(code, replacement)
        expect(incorrect, `${generator}: ${name}`).not.toBe(correct)
        write(fileOf(generator, mistake), incorrect)
      })
    }
    write("exact.ts", Clients.program("exact"))
    const files = generators.flatMap((generator) => [
      fileOf(generator),
      ...mistakes.map((_, mistake) => fileOf(generator, mistake))
    ])
    messages = await Clients.compile(directory, ["exact.ts", ...files])
  }, 120_000)

  afterAll(async () => {
    await server?.stop()
    fs.rmSync(directory, { recursive: true, force: true })
  })

  it("compile in strict mode without errors", () => {
    // The code that hey-api generates violates `exactOptionalPropertyTypes`, as docs/clients.md states.
    const isOfHeyApi = (message: string): boolean => /^animals\/.* TS23(?:75|79):/.test(message)
    const errors = messages.filter((message) => !message.includes("-mistake-") && !isOfHeyApi(message))
    expect(errors).toEqual([])
  })

  const run = (program: string, key: string | undefined) =>
    Clients.run(process.execPath, [`${program}.js`], { BASE_URL: server.url, API_KEY: key }, directory)

  it("return all digits of an int64 as text with openapi-fetch", async () => {
    const { stdout } = await run("exact", server.keys[0]?.key)
    expect(Clients.parseExactly(stdout)).toContainEqual(
      expect.objectContaining({ name: "Mia", categoryId: LARGE })
    )
  })

  describe.each(generators)("%s", (generator) => {
    it.each(mistakes.map(([name, , , message], mistake) => ({ name, message, mistake })))(
      "does not compile a program with $name",
      ({ message, mistake }) => {
        const errors = messages.filter((line) => line.startsWith(`${fileOf(generator, mistake)}(`))
        expect(errors.join("\n")).toMatch(message)
      }
    )

    it("creates and retrieves an animal, and lists all animals in pages", async () => {
      const { status, stderr, stdout } = await run(generator, server.keys[0]?.key)
      expect(status, stderr).toBe(0)
      const [created, found, ...listed] = stdout.trim().split("\n").map(Clients.parseExactly)
      expect(created).toMatchObject({ name: "Rex", categoryId: "7", status: "pending" })
      expect(found).toEqual(created)
      const stored = await Clients.listAnimals(server)
      // These clients round integers to doubles, as docs/clients.md states.
      const rounded = JSON.parse(JSON.stringify(stored).replaceAll(LARGE, String(Number(LARGE))))
      expect(listed).toEqual(rounded)
      // The list has more than one page of two animals.
      expect(listed.length).toBeGreaterThanOrEqual(4)
    })

    it("reports the error code of a 401", async () => {
      const { status, stderr } = await run(generator, "ast_wrong")
      expect(status).toBe(1)
      expect(stderr).toContain("invalid_api_key; Retry-After: null")
    })

    it("reports the error code and the Retry-After of a 429", async () => {
      const key = server.keys[1]?.key ?? ""
      while ((await Clients.get(`${server.url}/pets`, key)).status !== 429);
      const { status, stderr } = await run(generator, key)
      expect(status).toBe(1)
      expect(stderr).toMatch(/rate_limit_exceeded; Retry-After: \d+/)
    })
  })
})
