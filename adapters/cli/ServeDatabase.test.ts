/** Tests `animal-store serve --database`: created files, persistence, and error messages. */
import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { describe, expect, it } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import { launch, run, type Server, serve, serveJson } from "./CommandLine.fixture.ts"
import * as Database from "./Database.ts"
import * as Directory from "./Directory.fixture.ts"
import { Host } from "./Host.ts"
import * as Ports from "./Ports.fixture.ts"
import type { Environment } from "./Serve.fixture.ts"

const plansOf = (servers: ReadonlyArray<Pick<Server, "keys">>): ReadonlyArray<string> =>
  servers.flatMap(({ keys }) => keys.map(({ plan }) => plan))

/** Expects each start to fail with exit code 1 and one line that contains no password and no stack trace. */
const expectFailure = (
  ...cases: ReadonlyArray<readonly [database: string, reason: RegExp, environment?: Environment]>
) =>
  Promise.all(
    cases.map(async ([database, reason, environment]) => {
      const args = ["serve", "--port", "0", "--database", database]
      const { code, stderr, stdout } = await run(args, environment)
      expect({ code, stdout }, database).toEqual({ code: 1, stdout: "" })
      expect(stderr).not.toContain("s3cret")
      const [, line] = /^animal-store: --database \(ANIMAL_STORE_DATABASE\): ([^\n]*)\n$/.exec(stderr) ?? []
      expect(line ?? stderr).toMatch(reason)
    })
  )

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "serve", () => {
    it("keeps keys, animals and rate limits across a restart", async () => {
      const { address } = await Databases.createForTest(kind)
      const args = ["--database", address]
      const first = await serveJson([...args, "--issue-key", "Enterprise:perMinute=1000,perDay=4"])
      const created = await first.post('{"name":"Rex","categoryId":9007199254740993}')
      expect([created.status, created.headers.get("X-RateLimit-Remaining")]).toEqual([201, "3"])
      expect(await first.stop()).toMatchObject({ code: 0 })

      const restarted = await serveJson(args)
      expect(restarted.keys).toEqual([])
      const listed = await restarted.get("/pets", first.key)
      expect([listed.status, listed.headers.get("X-RateLimit-Remaining")]).toEqual([200, "2"])
      expect(await listed.text()).toBe(
        '[{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"available"}]'
      )
    })

    it("issues one key in total when ten servers start concurrently on an empty database", async () => {
      const { address } = await Databases.createForTest(kind)
      const args = ["--database", address, "--database-connections", "2"]
      const servers = await Promise.all(Array.from({ length: 10 }, () => serveJson(args)))
      expect(plansOf(servers)).toEqual(["Free"])
      const key = servers.flatMap(({ keys }) => keys)[0]?.key
      const statuses = await Promise.all(servers.map(async ({ get }) => (await get("/pets", key)).status))
      expect(statuses).toEqual(servers.map(() => 200))
      await Promise.all(servers.map(({ stop }) => stop()))
      expect((await serveJson(["--database", address])).keys).toEqual([])
    })

    it("issues no first key when startup fails", async () => {
      const { address } = await Databases.createForTest(kind)
      const args = ["serve", "--database", address, "--port", String(await Ports.occupy())]
      expect(await run(args)).toMatchObject({ code: 1, stdout: "" })
      expect(plansOf([await serveJson(["--database", address])])).toEqual(["Free"])
    })

    it("rejects a database with a newer schema", async () => {
      const { address, client } = await Databases.createForTest(kind)
      await run(["keys", "issue", "--plan", "Free", "--database", address])
      await Effect.runPromise(
        Effect.provide(
          Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql`INSERT INTO animal_store_migrations (migration_id, name) VALUES (9000, 'newer')`
          ),
          client
        )
      )
      await expectFailure([
        address,
        /^it was made by a newer animal-store \(schema 9000, .*; use that version$/
      ])
    })
  })
}

it("Database.issueHint suggests --database only if the database is not the default one", () => {
  const hintFor = (address: string): string =>
    Effect.runSync(
      Effect.gen(function* () {
        const start = { script: "/src/shop/adapters/cli/main.ts", cwd: "/srv", commandDirectories: [] }
        return yield* Effect.provideService(Database.issueHint(address), Host, { ...(yield* Host), start })
      })
    )
  const command = "node /src/shop/adapters/cli/main.ts keys issue --plan Free"
  expect(hintFor("sqlite:./data/animal-store.db")).toBe(`To issue a key: ${command}`)
  expect(hintFor("sqlite:data/../data/animal-store.db")).toBe(
    `To issue a key (use the same --database): ${command}`
  )
})

Databases.describeOn(Databases.postgres, "serve", () => {
  it("prints the location of the data without passwords", async () => {
    const { address } = await Databases.createForTest(Databases.postgres)
    const withPassword = new URL(address)
    withPassword.password = "s3cret"
    withPassword.searchParams.set("password", "s3cret")
    const { greeting } = await serve(["--database", withPassword.href])
    expect(greeting).toContain(
      `\n  Data is stored in postgres://${withPassword.host}${withPassword.pathname}\n`
    )
    expect(greeting).not.toMatch(/s3cret|search_path/)
  })

  it("reports errors of the database server in one line", async () => {
    const { address } = await Databases.createForTest(Databases.postgres)
    const withChange = (change: (url: URL) => void): string => {
      const url = new URL(address)
      url.password = "s3cret"
      change(url)
      return url.href
    }
    const { host } = new URL(address)
    const [server, role, database] = [escapePattern(host), "animal_store_nobody", "animal_store_none"]
    await expectFailure(
      [
        withChange((url) => {
          url.username = role
        }),
        new RegExp(`^the PostgreSQL server at ${server} rejects the login: .*"${role}"`)
      ],
      [
        withChange((url) => {
          url.pathname = database
        }),
        new RegExp(
          `^the PostgreSQL server at ${server} reports: database "${database}" does not exist: create it with CREATE DATABASE$`
        )
      ],
      [
        withChange((url) => url.searchParams.set("options", "-csearch_path=none")),
        new RegExp(
          `^the PostgreSQL server at ${server} reports: no schema has been selected to create in: create the schema that search_path names, with CREATE SCHEMA$`
        )
      ]
    )
  })
})

const escapePattern = (text: string): string => text.replace(/[.[\]]/g, "\\$&")

describe("serve on an unusable database", () => {
  it("reports an invalid address in one line", async () => {
    const addresses = [
      ...["oracle:x", "oracle://u:s3cret@x/y", "sqlite:", "postgres:u:s3cret@x"],
      ...["postgres://u:s3cret@x:port/y", "/tmp/x.db"]
    ]
    const reason = /^must be 'memory:', 'sqlite:PATH' or 'postgres:\/\/user:password@host:port\/database'$/
    await expectFailure(...addresses.map((address) => [address, reason] as const))
  })

  it("reports in one line that a server is unreachable, does not respond, or is not PostgreSQL", async () => {
    const silent = Ports.portOf(await Ports.listen())
    const closing = Ports.portOf(await Ports.listen((socket) => socket.destroy()))
    const unreachable = "^cannot reach the PostgreSQL server at"
    await expectFailure(
      ["postgres://u:s3cret@127.0.0.1:1/x", new RegExp(`${unreachable} 127.0.0.1:1: connect ECONNREFUSED$`)],
      ["postgres://u:s3cret@localhost:1/x", new RegExp(`${unreachable} localhost:1: connect ECONNREFUSED$`)],
      ["postgres://u:s3cret@none.invalid/x", new RegExp(`${unreachable} none.invalid:5432: getaddrinfo E`)],
      [
        `postgres://u:s3cret@127.0.0.1:${silent}/x`,
        new RegExp(`${unreachable} 127.0.0.1:${silent}: Connection timed out$`),
        { ANIMAL_STORE_DATABASE_TIMEOUT: "300ms" }
      ],
      [`postgres://u:s3cret@127.0.0.1:${closing}/x`, new RegExp(`${unreachable} 127.0.0.1:${closing}: .+$`)]
    )
  })

  it("reports in one line that a path is a directory, or that a file is not a database", async () => {
    const directory = Directory.create()
    const at = (name: string): string => path.join(directory, name)
    fs.mkdirSync(at("directory"))
    fs.writeFileSync(at("text.db"), "no database ".repeat(400))
    const expectReason = (name: string, reason: string) =>
      expectFailure([
        `sqlite:${at(name)}`,
        new RegExp(`^cannot use the SQLite file ${escapePattern(at(name))}: ${reason}$`)
      ])
    await expectReason("directory", "it is a directory")
    await expectReason("text.db", "it is not a SQLite database")
    await expectReason("text.db/x.db", "a part of its path is not a directory")
  })

  it.skipIf(process.platform !== "linux").each(["/proc/x/y", "/proc/x", "/sys/x/y"])(
    "reports in one line that it cannot use sqlite:%s",
    async (filename) => {
      await expectFailure([
        `sqlite:${filename}`,
        new RegExp(`^cannot use the SQLite file ${filename}: [^\\n]+$`)
      ])
    }
  )

  it("ends with exit code 0 if it is interrupted while it waits for its database", async () => {
    const silent = await Ports.listen()
    const { ended, interrupt } = launch([
      ...["serve", "--database", `postgres://u@127.0.0.1:${Ports.portOf(silent)}/x`],
      ...["--database-timeout", "60s"]
    ])
    await new Promise((resolve) => silent.once("connection", resolve))
    interrupt()
    expect(await ended).toEqual({ code: 0, stdout: "", stderr: "" })
  })
})
