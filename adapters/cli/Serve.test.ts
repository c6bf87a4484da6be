/** Tests the output, the keys and the settings of `serve`, with servers inside the test process. */
import { execFile } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify, stripVTControlCharacters } from "node:util"
import { describe, expect, it } from "vitest"
import * as RedisServers from "../redis/RedisServers.fixture.ts"
import { json, launch, run, serve, serveJson } from "./CommandLine.fixture.ts"
import * as Directory from "./Directory.fixture.ts"
import * as Greeting from "./Greeting.fixture.ts"
import { flagsOf, variableIn } from "./Help.fixture.ts"
import * as Ports from "./Ports.fixture.ts"
import type { Environment } from "./Serve.fixture.ts"

describe("serve --json", () => {
  it("prints exactly one line of the documented shape to standard output", async () => {
    const { get, greeting, keys, stop, url } = await serveJson()
    expect(greeting).toBe(`${JSON.stringify({ url, keys })}\n`)
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9][0-9]*\/v1$/)
    expect(keys).toEqual([
      {
        id: expect.stringMatching(/^key_/),
        plan: "Free",
        key: expect.stringMatching(/^ast_[0-9A-Za-z]{33}$/)
      }
    ])
    expect((await get("/pets")).status).toBe(200)
    expect(await stop()).toEqual({
      code: 0,
      stdout: greeting,
      stderr: expect.stringMatching(
        /^timestamp=\S+ level=INFO message="key issued" .*\nanimal-store: stopping; waiting for requests in flight\n$/
      )
    })
  })

  it("issues the requested keys in the order of their flags", async () => {
    const { get, keys } = await serveJson([
      ...["--issue-key", "pro", "--issue-key", "Enterprise:perMinute=5,perDay=50"],
      ...["--issue-key", "FREE:perDay=7", "--issue-key", "Business"]
    ])
    expect(keys.map(({ plan }) => plan)).toEqual(["Pro", "Enterprise", "Free", "Business"])
    const responses = await Promise.all(keys.map(({ key }) => get("/pets", key)))
    expect(responses.map(({ headers }) => headers.get("X-RateLimit-Limit"))).toEqual([
      ...["300", "5", "7", "1000"]
    ])
  })
})

describe("serve", () => {
  it("prints a working curl command", async () => {
    const { greeting } = await serve(["--first-key"])
    const line = greeting.split("\n").find((candidate) => candidate.trim().startsWith("curl ")) ?? "false"
    const { stdout } = await promisify(execFile)("sh", ["-c", line])
    expect(stdout).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(stdout).toMatch(/\r\n\r\n\[\]$/)
  })

  it("prints the address of the reference page and serves the page, unless --no-docs is given", async () => {
    const { greeting } = await serve(["--first-key"])
    const page = await fetch(/API reference: (\S+)/.exec(greeting)?.[1] ?? "")
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
    const withoutDocs = await serve(["--first-key", "--no-docs"])
    expect(withoutDocs.greeting).not.toContain("/docs")
    expect((await fetch(new URL("/docs", withoutDocs.url))).status).toBe(401)
  })

  it("prints a reachable URL if the server listens on all addresses", async () => {
    const { url } = await serveJson(["--host", "0.0.0.0"])
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/)
    expect((await fetch(`${url}/pets`)).status).toBe(401)
  })
})

describe("serve when it is interrupted", () => {
  it("ends immediately if there was no request", async () => {
    const { greeting, stop } = await serveJson(["--drain", "1h"])
    expect(await stop()).toMatchObject({ code: 0, stdout: greeting })
  })

  it("accepts requests until a second signal, and /readyz returns 503", async () => {
    const { ended, get, interrupt, stop, url, waitForLog } = await serveJson(["--drain", "1h"])
    expect((await get("/pets")).status).toBe(200)
    interrupt()
    await waitForLog(/stopping; accepting requests for 1h, or until a second signal; then waiting for/)
    for (let round = 0; round < 3; round++) {
      expect((await fetch(new URL("/readyz", url))).status).toBe(503)
      const during = await get("/pets")
      expect([during.status, during.headers.get("Connection")]).toEqual([200, "close"])
      await sleep(100)
    }
    await stop()
    expect((await ended).code).toBe(0)
    expect(await Ports.refusesConnections(url)).toBe(true)
  })

  it("ends by itself after the drain period", async () => {
    const { ended, get, interrupt, url } = await serveJson(["--drain", "300ms"])
    await get("/pets")
    interrupt()
    expect((await ended).code).toBe(0)
    expect(await Ports.refusesConnections(url)).toBe(true)
  })

  it("lets a request in flight finish after the drain, and accepts no new connection", async () => {
    const { ended, interrupt, key, url } = await serveJson(["--drain", "1h"])
    const body = '{"name":"Rex","categoryId":1}'
    const socket = connect(Number(new URL(url).port), "127.0.0.1")
    socket.write(
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nExpect: 100-continue\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    )
    // The server sends "100 Continue" after it has admitted the request, so the request is in flight.
    expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 100 /)
    while (!(await Ports.refusesConnections(url))) {
      interrupt()
      await sleep(20)
    }
    socket.write(body)
    expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1\.1 201 .*\r\nconnection: close\r\n/is)
    expect((await ended).code).toBe(0)
  })
})

describe("serve on an empty database", () => {
  it("issues no key if standard output is not a terminal, and prints how to issue one", async () => {
    const inMemory = await serve([])
    expect(inMemory.greeting).not.toContain("ast_")
    expect(inMemory.greeting).toContain(
      "To issue a key, start with --issue-key Free: no other process can reach a database in memory"
    )
    const database = `sqlite://${Directory.create()}/animals.db`
    const { greeting } = await serve(["--database", database])
    // `Invocation.test.ts` runs such commands.
    expect(greeting).toMatch(
      /\n {2}To issue a key \(use the same --database\): npm run keys -- issue --plan Free\n/
    )
    expect(await json(["keys", "list", "--database", database])).toEqual([])
  })

  it("issues the first key if standard output is a terminal", async () => {
    const { greeting } = await serve([], {}, { isTerminal: true })
    expect(stripVTControlCharacters(greeting)).toMatch(/Free key, shown only now: ast_\w{33}/)
  })

  it.each<readonly [args: ReadonlyArray<string>, environment: Environment, plans: ReadonlyArray<string>]>([
    [["--first-key"], {}, ["Free"]],
    [["--json"], {}, ["Free"]],
    [["--json", "--no-first-key"], {}, []],
    [["--no-first-key"], {}, []],
    [[], { ANIMAL_STORE_FIRST_KEY: "true" }, ["Free"]],
    [["--json"], { ANIMAL_STORE_FIRST_KEY: "false" }, []],
    [["--json"], { ANIMAL_STORE_FIRST_KEY: "" }, ["Free"]],
    [["--first-key"], { ANIMAL_STORE_FIRST_KEY: "false" }, ["Free"]],
    [["--no-first-key", "--issue-key", "Pro"], {}, ["Pro"]],
    [["--first-key", "--issue-key", "Pro"], {}, ["Pro"]]
  ])(
    "issues only the requested keys with the arguments %j and the environment %j",
    async (args, environment, plans) => {
      const { greeting } = await serve(args, environment)
      expect(greeting.match(/ast_\w{33}/g) ?? []).toHaveLength(
        args.includes("--json") || plans.length === 0 ? plans.length : plans.length + 1 // also in the curl command
      )
      for (const plan of plans) expect(greeting).toContain(plan)
    }
  )
})

describe("--no-standard-headers and --no-idempotency-keys", () => {
  it("turn off RateLimit, and the effect of Idempotency-Key", async () => {
    const { post } = await serveJson(["--no-standard-headers", "--no-idempotency-keys"])
    for (const id of [1, 2]) {
      const response = await post('{"name":"Rex","categoryId":7}', { "Idempotency-Key": '"a"' })
      expect(await response.json()).toMatchObject({ id })
      expect(response.headers.has("RateLimit")).toBe(false)
    }
  })
})

RedisServers.describeOn(RedisServers.redis, "--on-limits-unavailable", () => {
  it.each([
    { choice: "closed", effect: "rejects requests", expected: [503, 503] },
    { choice: "open", effect: "admits requests", expected: [200, 200] }
  ])("$choice $effect while Redis does not respond", async ({ choice, expected }) => {
    const redis = await RedisServers.startForTest(RedisServers.redis)
    const { get } = await serveJson([
      ...["--limits", redis.address, "--on-limits-unavailable", choice, "--database-timeout", "3s"],
      ...["--issue-key", "enterprise:perMinute=1,perDay=10"]
    ])
    const statuses = async () => [(await get("/pets")).status, (await get("/pets")).status]
    expect(await statuses()).toEqual([200, 429])
    redis.pause()
    expect(await statuses()).toEqual(expected)
  })
})

describe("--database and --limits", () => {
  it("accept an absolute path after sqlite://", async () => {
    const directory = Directory.create()
    const addresses = ["--database", `sqlite://${directory}/a.db`, "--limits", `sqlite://${directory}/b.db`]
    const { get } = await serveJson(addresses)
    expect((await get("/pets")).status).toBe(200)
    expect(fs.readdirSync(directory).filter((name) => name.endsWith(".db"))).toEqual(["a.db", "b.db"])
    expect(await json(["keys", "list", "--database", `sqlite://${directory}/a.db`])).toMatchObject([
      { plan: "Free" }
    ])
  })

  it.each([
    ["~/animals.db", /must not start with '~', .* write \$HOME in the shell, or the whole path\n$/],
    ["//animals.db", /must have no host after 'sqlite:': write 'sqlite:PATH' .* or 'sqlite:\/\/\/PATH' .*\n$/]
  ])("reject sqlite:%s with a hint", async (path, reason) => {
    for (const flag of ["--database", "--limits"]) {
      const args = ["serve", "--port", "0", flag, `sqlite:${path}`]
      const { code, stderr, stdout } = await run(args, { ANIMAL_STORE_DATABASE: "memory:" })
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
      expect(stderr).toMatch(reason)
      expect(stderr).toContain(`${flag} (ANIMAL_STORE_`)
    }
  })
})

describe("the settings of serve", () => {
  it("are shown in the help with their environment variables", async () => {
    const { code, stdout } = await run(["serve", "--help"])
    expect(code).toBe(0)
    const flags = flagsOf(stdout)
    expect(flags.length).toBeGreaterThan(30)
    for (const [flag, description] of flags) {
      expect(variableIn(description)).toBe(`ANIMAL_STORE_${flag.toUpperCase().replaceAll("-", "_")}`)
    }
  })

  it("can be environment variables: keys, URLs, strictness, trusted proxies and the database", async () => {
    const { keys, post, url } = await serveJson([], {
      ANIMAL_STORE_ISSUE_KEY: " Pro  enterprise:perMinute=5,perDay=50 ",
      ANIMAL_STORE_PUBLIC_BASE_URL: "https://example.org/v1",
      ANIMAL_STORE_STAGING_BASE_URL: "https://staging.example.org/v1",
      ANIMAL_STORE_STRICT: "TRUE",
      ANIMAL_STORE_TRUSTED_PROXY_HOPS: "1",
      ANIMAL_STORE_DATABASE: "memory:",
      ANIMAL_STORE_DATABASE_TIMEOUT: "2s",
      ANIMAL_STORE_DATABASE_CONNECTIONS: "3",
      ANIMAL_STORE_KEY_CACHE: "0"
    })
    expect(keys.map(({ plan }) => plan)).toEqual(["Pro", "Enterprise"])
    const created = await post('{"name":"Rex","categoryId":1}')
    expect(created.headers.get("Location")).toBe("https://example.org/v1/pets/1")
    expect((await post('{"name":"Rex","categoryId":1,"color":"red"}')).status).toBe(400)
    const openApi = await (await fetch(new URL("/openapi.json", url))).text()
    expect(openApi).toContain("https://staging.example.org/v1")
    const remaining = async (address: string) =>
      (await fetch(`${url}/pets`, { headers: { "X-Forwarded-For": address } })).headers.get(
        "X-RateLimit-Remaining"
      )
    expect([
      await remaining("203.0.113.1"),
      await remaining("203.0.113.1"),
      await remaining("203.0.113.2")
    ]).toEqual(["59", "58", "59"])
  })

  it("can be environment variables: host, port and JSON output", async () => {
    const environment = {
      ANIMAL_STORE_DATABASE: "memory:",
      ANIMAL_STORE_JSON: "1",
      ANIMAL_STORE_PORT: "0",
      ANIMAL_STORE_HOST: "localhost"
    }
    const { ended, interrupt, stdout } = launch(["serve"], environment)
    const { url } = Greeting.read((await stdout.waitFor(/\n/)).input)
    expect(url).toMatch(/^http:\/\/localhost:[1-9][0-9]*\/v1$/)
    expect((await fetch(`${url}/pets`)).status).toBe(401)
    interrupt()
    await ended
  })

  it("override their environment variables; an empty variable is ignored", async () => {
    const { keys, url } = await serveJson(["--issue-key", "Pro"], {
      ANIMAL_STORE_PORT: "not a port",
      ANIMAL_STORE_ISSUE_KEY: "Business",
      ANIMAL_STORE_HOST: "",
      ANIMAL_STORE_STRICT: "",
      ANIMAL_STORE_PUBLIC_BASE_URL: ""
    })
    expect(keys.map(({ plan }) => plan)).toEqual(["Pro"])
    expect(url).toContain("http://127.0.0.1:")
  })
})

describe("--test-clock-port", () => {
  it("serves a clock; advancing it refills buckets and reaches the sunset of getPet", async () => {
    const args = ["--test-clock-port", "0", "--issue-key", "pro:perMinute=1"]
    const { get, waitForLog } = await serveJson(args)
    const [clock] = await waitForLog(/http:\S+\/clock/)
    expect(clock).toMatch(/^http:\/\/127\.0\.0\.1:/)
    const status = async (path: string) => (await get(path)).status
    const advance = async (ms: number): Promise<number> => {
      const response = await fetch(`${clock}/advance`, { method: "POST", body: JSON.stringify({ ms }) })
      expect(response.status).toBe(200)
      const { now }: { readonly now: number } = JSON.parse(await response.text())
      return now
    }
    expect([await status("/pets/1"), await status("/pets/1")]).toEqual([404, 429])
    await advance(60_000)
    expect(await status("/pets/1")).toBe(404)
    const { now }: { readonly now: number } = JSON.parse(await (await fetch(clock)).text())
    expect(await advance(Date.UTC(2030, 11, 5) - now)).toBeGreaterThanOrEqual(Date.UTC(2030, 11, 5))
    expect(await status("/pets/1")).toBe(410)
  })

  it("is off by default: standard error announces no clock", async () => {
    const { stop } = await serveJson()
    expect((await stop()).stderr).not.toContain("clock")
  })
})
