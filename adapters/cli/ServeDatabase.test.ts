/** Tests `animal-store serve --database`: created files, persistence, and error messages. */
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { describe, expect, it, onTestFinished } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import { type LaunchOptions, main, run, type ServerProcess, start, stop } from "./Serve.fixture.ts"

const createDirectory = (): string => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-"))
  onTestFinished(async () => fs.rmSync(directory, { recursive: true }))
  return directory
}

const serve = async (args: ReadonlyArray<string>, options?: LaunchOptions): Promise<ServerProcess> => {
  const server = await start(["--port", "0", ...args], {}, options)
  onTestFinished(async () => void (await stop(server, "SIGKILL")))
  return server
}

interface Announced {
  readonly url: string
  readonly keys: ReadonlyArray<{ readonly plan: string; readonly key: string }>
}

const serveJson = async (args: ReadonlyArray<string>, options?: LaunchOptions) => {
  const server = await serve(["--json", ...args], options)
  const announced: Announced = JSON.parse(server.greeting)
  return { ...announced, server }
}

const get = (url: string, key: string): Promise<Response> =>
  fetch(`${url}/pets`, { headers: { Authorization: `Bearer ${key}` } })

const plansOf = (servers: ReadonlyArray<Announced>): ReadonlyArray<string> =>
  servers.flatMap(({ keys }) => keys.map(({ plan }) => plan))

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "serve", () => {
    it("keeps keys, animals and rate limits across a restart", async () => {
      const { address } = await Databases.createForTest(kind)
      const args = ["--database", address]
      const { keys, server, url } = await serveJson([
        ...args,
        "--issue-key",
        "Enterprise:perMinute=1000,perDay=4"
      ])
      const key = keys[0]?.key ?? ""
      const created = await fetch(`${url}/pets`, {
        method: "POST",
        headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
        body: '{"name":"Rex","categoryId":9007199254740993}'
      })
      expect([created.status, created.headers.get("X-RateLimit-Remaining")]).toEqual([201, "3"])
      expect(await stop(server)).toMatchObject({ code: 0 })

      const restarted = await serveJson(args)
      expect(restarted.keys).toEqual([])
      const listed = await get(restarted.url, key)
      expect([listed.status, listed.headers.get("X-RateLimit-Remaining")]).toEqual([200, "2"])
      expect(await listed.text()).toBe(
        '[{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"available"}]'
      )
    })

    it("issues one key in total when ten servers start concurrently on an empty database", async () => {
      const { address } = await Databases.createForTest(kind)
      const servers = await Promise.all(
        Array.from({ length: 10 }, () => serveJson(["--database", address, "--database-connections", "2"]))
      )
      expect(plansOf(servers)).toEqual(["Free"])
      const key = servers.flatMap(({ keys }) => keys)[0]?.key ?? ""
      const statuses = await Promise.all(servers.map(async ({ url }) => (await get(url, key)).status))
      expect(statuses).toEqual(servers.map(() => 200))
      await Promise.all(servers.map(({ server }) => stop(server)))
      expect((await serveJson(["--database", address])).keys).toEqual([])
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

describe("serve on its default database", () => {
  it("creates a directory and files that only the owner can read, even with umask 000", async () => {
    const cwd = createDirectory()
    const { greeting } = await serve(["--first-key"], { cwd, umask: "000" })
    expect(greeting).toMatch(
      /^animal-store listens on (\S+)\n\n {2}Free key, shown only now: (ast_\w{33})\n\n {2}curl -i -H 'Authorization: Bearer \2' \1\/pets\n\n {2}Data is stored in sqlite:\.\/data\/animal-store\.db\n {2}API reference: http:\/\/127\.0\.0\.1:[0-9]+\/docs\n\n$/
    )
    const mode = (name: string): string => (fs.statSync(path.join(cwd, name)).mode & 0o777).toString(8)
    expect(mode("data")).toBe("700")
    const names = fs.readdirSync(path.join(cwd, "data"))
    expect(names).toEqual(["animal-store.db", "animal-store.db-shm", "animal-store.db-wal"])
    expect(names.map((name) => mode(`data/${name}`))).toEqual(["600", "600", "600"])
  })

  it("prints where the data is stored and how to issue a key when it starts for the second time", async () => {
    const cwd = createDirectory()
    await stop(await serve(["--first-key"], { cwd }))
    const url = "http://127\\.0\\.0\\.1:[0-9]+/v1"
    const location = "\n\n {2}Data is stored in sqlite:\\./data/animal-store\\.db\n"
    const { greeting } = await serve([], { cwd })
    expect(greeting).toMatch(
      new RegExp(
        `^animal-store listens on ${url}${location} {2}To issue a key: node ${main} keys issue --plan Free\n {2}API reference: http://127\\.0\\.0\\.1:[0-9]+/docs\n\n$`
      )
    )
    const sameFile = await serve(["--database", "sqlite:data/../data/animal-store.db"], { cwd })
    expect(sameFile.greeting).toContain(
      `\n  Data is stored in sqlite:data/../data/animal-store.db\n  To issue a key (use the same --database): node ${main} keys issue --plan Free\n`
    )
  })

  it("issues no first key when startup fails", async () => {
    const cwd = createDirectory()
    const otherServer = createServer().listen(0, "127.0.0.1")
    await once(otherServer, "listening")
    const { port } = otherServer.address() as AddressInfo // the address of a TCP server is neither a pipe name nor null
    expect(await run(["serve", "--port", String(port)], {}, { cwd })).toMatchObject({ code: 1, stdout: "" })
    otherServer.close()
    expect(plansOf([await serveJson([], { cwd })])).toEqual(["Free"])
  })
})

Databases.describeOn(Databases.postgres, "serve", () => {
  it("prints the location of the data without passwords", async () => {
    const { address } = await Databases.createForTest(Databases.postgres)
    const withPassword = new URL(address)
    withPassword.password = "s3cret"
    withPassword.searchParams.set("password", "s3cret")
    const args = ["--database", withPassword.href]
    await stop(await serve(args))
    const { greeting } = await serve(args)
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
        new RegExp(`^the PostgreSQL server at ${server} reports: database "${database}" does not exist$`)
      ],
      [
        withChange((url) => url.searchParams.set("options", "-csearch_path=none")),
        new RegExp(`^the PostgreSQL server at ${server} reports: no schema has been selected to create in$`)
      ]
    )
  })
})

const escapePattern = (text: string): string => text.replace(/[.[\]]/g, "\\$&")

/** Expects each start to fail with exit code 1 and one line that contains no password and no stack trace. */
const expectFailure = (
  ...cases: ReadonlyArray<readonly [database: string, reason: RegExp, options?: LaunchOptions]>
) =>
  Promise.all(
    cases.map(async ([database, reason, options]) => {
      const { code, stderr, stdout } = await run(
        ["serve", "--port", "0", "--database", database],
        {},
        { cwd: os.tmpdir(), ...options }
      )
      expect({ code, stdout }, database).toEqual({ code: 1, stdout: "" })
      expect(stderr).not.toContain("s3cret")
      const [, line] = /^animal-store: --database \(ANIMAL_STORE_DATABASE\): ([^\n]*)\n$/.exec(stderr) ?? []
      expect(line ?? stderr).toMatch(reason)
    })
  )

describe("serve on an unusable database", () => {
  const invalidAddress =
    /^must be 'memory:', 'sqlite:PATH' or 'postgres:\/\/user:password@host:port\/database'$/

  it("reports an invalid address in one line", async () => {
    const databases = [
      "oracle://u:s3cret@x/y",
      "sqlite:",
      "postgres:u:s3cret@x",
      "postgres://u:s3cret@x:port/y"
    ]
    await expectFailure(...[...databases, "/tmp/x.db"].map((database) => [database, invalidAddress] as const))
  })

  it("reports in one line that a server is unreachable, does not respond, or is not PostgreSQL", async () => {
    const silent = createServer(() => undefined).listen(0, "127.0.0.1")
    const closing = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1")
    await Promise.all([once(silent, "listening"), once(closing, "listening")])
    const [silentPort, closingPort] = [silent, closing].map(
      (server) => (server.address() as AddressInfo).port // the address of a TCP server is neither a pipe name nor null
    )
    const unreachable = "^cannot reach the PostgreSQL server at"
    await expectFailure(
      ["postgres://u:s3cret@127.0.0.1:1/x", new RegExp(`${unreachable} 127.0.0.1:1: connect ECONNREFUSED$`)],
      ["postgres://u:s3cret@localhost:1/x", new RegExp(`${unreachable} localhost:1: connect ECONNREFUSED$`)],
      ["postgres://u:s3cret@none.invalid/x", new RegExp(`${unreachable} none.invalid:5432: getaddrinfo E`)],
      [
        `postgres://u:s3cret@127.0.0.1:${silentPort}/x`,
        new RegExp(`${unreachable} 127.0.0.1:${silentPort}: Connection timed out$`)
      ],
      [
        `postgres://u:s3cret@127.0.0.1:${closingPort}/x`,
        new RegExp(`${unreachable} 127.0.0.1:${closingPort}: .+$`)
      ]
    )
    const measureStartup = async (port: number | undefined): Promise<number> => {
      const startedAt = performance.now()
      await run(["serve", "--database", `postgres://u:s3cret@127.0.0.1:${port}/x`])
      return performance.now() - startedAt
    }
    // Compared with an unreachable server, because the start time of a process depends on the machine's load.
    const [unreachableMs, silentMs] = await Promise.all([measureStartup(1), measureStartup(silentPort)])
    expect(silentMs - unreachableMs).toBeLessThan(3_000)
    silent.close()
    closing.close()
  })

  it("reports in one line that a path is a directory, or that a file is not a database", async () => {
    const directory = createDirectory()
    fs.mkdirSync(path.join(directory, "directory"))
    fs.writeFileSync(path.join(directory, "text.db"), "no database ".repeat(400))
    const options = { cwd: directory }
    await expectFailure(
      ["sqlite:directory", /^cannot use the SQLite file directory: it is a directory$/, options],
      ["sqlite:text.db", /^cannot use the SQLite file text\.db: it is not a SQLite database$/, options],
      [
        "sqlite:text.db/x.db",
        /^cannot use the SQLite file text\.db\/x\.db: a part of its path is not a directory$/,
        options
      ]
    )
  })

  // Root can write everywhere; if the tests run as root, `serve` runs as another user.
  const uid = process.getuid?.() === 0 ? 65_534 : undefined
  const repository = fileURLToPath(new URL("../../package.json", import.meta.url))
  const readAttempt = spawnSync(process.execPath, ["-e", `fs.readFileSync(${JSON.stringify(repository)})`], {
    ...(uid === undefined ? {} : { uid, gid: uid })
  })

  const title = "reports in one line that a file or its directory is read-only"
  it.skipIf(readAttempt.status !== 0)(
    readAttempt.status === 0 ? title : `${title} (skipped: user ${uid} cannot read the repository)`,
    async () => {
      const directory = createDirectory()
      const [inside, file] = [path.join(directory, "new/x.db"), path.join(directory, "x.db")]
      await run(["keys", "issue", "--plan", "Free", "--database", `sqlite:${file}`])
      const expectDenied = async (
        fileMode: number,
        directoryMode: number,
        database: string
      ): Promise<void> => {
        fs.chmodSync(file, fileMode)
        fs.chmodSync(directory, directoryMode)
        const denied = `cannot use the SQLite file ${database}: no permission to write to it or its directory`
        const options = uid === undefined ? {} : { uid }
        await expectFailure([`sqlite:${database}`, new RegExp(`^${escapePattern(denied)}$`), options])
        fs.chmodSync(directory, 0o755)
      }
      await expectDenied(0o444, 0o755, file)
      await expectDenied(0o666, 0o555, file)
      await expectDenied(0o666, 0o555, inside)
    }
  )
})
