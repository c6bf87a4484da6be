/** Tests how commands report invalid input: one line on standard error, and an exit code. */
import { describe, expect, it } from "vitest"
import * as Plan from "../../core/limits/Plan.ts"
import packageJson from "../../package.json" with { type: "json" }
import { run } from "./CommandLine.fixture.ts"
import * as Ports from "./Ports.fixture.ts"
import type { Environment } from "./Serve.fixture.ts"

/** Most tests need no persistent database. */
const inMemory: Environment = { ANIMAL_STORE_DATABASE: "memory:" }

describe("the command line", () => {
  it("prints the version of the package", async () => {
    expect(await run(["--version"])).toEqual({
      code: 0,
      stdout: `animal-store v${packageJson.version}\n`,
      stderr: ""
    })
  })

  it.each([
    ["serve", "npm start -- --help"],
    ["keys list", "npm run keys -- list --help"],
    ["export", "node adapters/cli/main.ts export --help"]
  ])("reports an unknown flag of `%s` with a hint about the help", async (command, help) => {
    const result = await run([...command.split(" "), "--none", "1"])
    expect(result).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^animal-store: Unrecognized flag: --none /)
    })
    expect(result.stderr).toContain(`\nRun '${help}' for usage.\n`)
  })

  it("keeps its exit codes and results if standard error cannot be written to", async () => {
    const failure = { stderr: new Error("ENOSPC: no space left on device") }
    expect(await run(["keys", "list", "--database", "memory:"], {}, { failure })).toMatchObject({ code: 1 })
    expect(await run(["keys", "issue", "--plan", "none"], {}, { failure })).toMatchObject({ code: 1 })
    expect(await run(["--version"], {}, { failure })).toMatchObject({ code: 0, stdout: /./ })
  })
})

describe("serve with a secret in the wrong place", () => {
  const unexpected = (count: string) =>
    `${count}; quote a value that contains spaces\nRun 'npm start -- --help' for usage.`
  const collector = "must be an http(s) URL without credentials and query, such as http://127.0.0.1:4318"

  it.each<readonly [args: ReadonlyArray<string>, environment: Environment, message: string]>([
    [
      ["--otlp-header", "Authorization:", "Bearer", "s3cret"],
      {},
      unexpected("2 unexpected positional arguments")
    ],
    [["postgres://user:s3cret@localhost/shop"], {}, unexpected("1 unexpected positional argument")],
    [["--otlp", "http://user:s3cret@localhost"], {}, `--otlp: ${collector}`],
    [["--otlp", "http://localhost?token=s3cret"], {}, `--otlp: ${collector}`],
    [[], { ANIMAL_STORE_OTLP: "http://s3cret@localhost" }, `ANIMAL_STORE_OTLP: ${collector}`]
  ])("does not print it: arguments %j, environment %j", async (args, environment, message) => {
    const { code, stderr, stdout } = await run(["serve", ...args], { ...inMemory, ...environment })
    expect({ code, stderr, stdout }).toEqual({ code: 1, stderr: `animal-store: ${message}\n`, stdout: "" })
  })
})

describe("serve with invalid input", () => {
  const port = "must be a whole number from 0 to 65535"
  const plan = `must be PLAN or PLAN:perMinute=N,perDay=N (only ${Plan.agreed} requires both limits), where PLAN is one of ${Plan.names.join(", ")}`
  const url = "must be an absolute http(s) URL without a query"
  const origins =
    "must be origins as browsers send them, such as https://shop.example or http://localhost:5173, in lower case and " +
    "without a path or a default port, or only *"
  const duration = (min: string, max: string) =>
    `must be a duration from ${min} to ${max}, such as 500ms, 30s or 24h`

  it.each<readonly [args: ReadonlyArray<string>, environment: Environment, message: string]>([
    [["--port", "zz"], {}, `--port: ${port}; got "zz"`],
    [
      [],
      { ANIMAL_STORE_ON_LIMITS_UNAVAILABLE: "ajar" },
      'ANIMAL_STORE_ON_LIMITS_UNAVAILABLE: must be one of closed, open; got "ajar"'
    ],
    [["--port", "65536"], {}, `--port: ${port}; got "65536"`],
    [["--port", "-1"], {}, `--port: ${port}; got "-1"`],
    [["--port", "1e3"], {}, `--port: ${port}; got "1e3"`],
    [[], { ANIMAL_STORE_PORT: "zz" }, `ANIMAL_STORE_PORT: ${port}; got "zz"`],
    [[], { ANIMAL_STORE_TEST_CLOCK_PORT: "7.5" }, `ANIMAL_STORE_TEST_CLOCK_PORT: ${port}; got "7.5"`],
    [[], { ANIMAL_STORE_JSON: "maybe" }, 'ANIMAL_STORE_JSON: must be true or false; got "maybe"'],
    [["--issue-key", "Gold"], {}, `--issue-key (ANIMAL_STORE_ISSUE_KEY): ${plan}; got "Gold"`],
    [
      ["--plan", "Starter=1/1"],
      { ANIMAL_STORE_ISSUE_KEY: "starter Gold" },
      `--issue-key (ANIMAL_STORE_ISSUE_KEY): ${plan}, Starter; got "Gold"`
    ],
    [["--issue-key", "Gold:perDay=5"], {}, `--issue-key: ${plan}; got "Gold:perDay=5"`],
    [
      ["--plan", "Starter=1/1", "--plan", "STARTER=2/2"],
      {},
      '--plan: the plan STARTER is defined twice; got "STARTER=2/2"'
    ],
    [
      ["--issue-key", "enterprise"],
      {},
      '--issue-key: Enterprise needs both perMinute and perDay; got "enterprise"'
    ],
    [
      ["--trusted-proxy-hops", "many"],
      {},
      '--trusted-proxy-hops: must be a whole number from 0 to 100; got "many"'
    ],
    [["--drain", "2h"], {}, `--drain: ${duration("0", "1h")}; got "2h"`],
    [["--host", ""], {}, '--host: must not be empty; got ""'],
    [["--database", ""], {}, '--database: must not be empty; got ""'],
    [["--database-timeout", "0"], {}, `--database-timeout: ${duration("1ms", "1m")}; got "0"`],
    [[], { ANIMAL_STORE_KEY_CACHE: "6s" }, `ANIMAL_STORE_KEY_CACHE: ${duration("0", "5s")}; got "6s"`],
    [
      ["--database-connections", "0"],
      {},
      '--database-connections: must be a whole number from 1 to 1000; got "0"'
    ],
    [["--port", "1\u202e\u009b"], {}, `--port: ${port}; got "1\\u{202e}\\u{9b}"`],
    [["--public-base-url", "example.org"], {}, `--public-base-url (ANIMAL_STORE_PUBLIC_BASE_URL): ${url}`],
    [
      [],
      { ANIMAL_STORE_STAGING_BASE_URL: "x" },
      `--staging-base-url (ANIMAL_STORE_STAGING_BASE_URL): ${url}`
    ],
    [["--cors-origin", "https://shop.example/"], {}, `--cors-origin (ANIMAL_STORE_CORS_ORIGIN): ${origins}`],
    [[], { ANIMAL_STORE_CORS_ORIGIN: "* http://a" }, `--cors-origin (ANIMAL_STORE_CORS_ORIGIN): ${origins}`]
  ])("reports the error in one line: arguments %j, environment %j", async (args, environment, message) => {
    const { code, stderr, stdout } = await run(["serve", ...args], { ...inMemory, ...environment })
    expect({ code, stderr, stdout }).toEqual({ code: 1, stderr: `animal-store: ${message}\n`, stdout: "" })
  })

  it("reports an invalid --database in one line that names the flag", async () => {
    const { code, stderr, stdout } = await run(["serve", "--database", "oracle:x"])
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toMatch(/^animal-store: --database \(ANIMAL_STORE_DATABASE\): must be .*\n$/)
  })

  it("reports a port in use in one line without a stack trace", async () => {
    const usedPort = await Ports.occupy()
    const [server, clock] = await Promise.all([
      run(["serve", "--port", String(usedPort)], inMemory),
      run(["serve", "--port", "0", "--test-clock-port", String(usedPort)], inMemory)
    ])
    expect(server).toMatchObject({ code: 1, stdout: "" })
    expect(server.stderr).toMatch(/^animal-store: cannot listen on .*address already in use.*\n$/)
    expect(clock).toMatchObject({ code: 1, stdout: "" })
    expect(clock.stderr).toMatch(/^animal-store: --test-clock-port .*address already in use.*\n$/)
  })
})
