/** Tests that what only reads changes nothing, in any state of the database. */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { describe, expect, it, onTestFinished } from "vitest"
import { openAnimalStore } from "../embed/index.ts"
import * as Databases from "../sql/Databases.fixture.ts"
import * as Sqlite from "../sql/Sqlite.ts"
import { json, run, serveJson, succeed } from "./CommandLine.fixture.ts"
import { main } from "./Serve.fixture.ts"

type Database = Databases.Database

const onClient = <A, E>(
  { client }: Database,
  use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>
): Promise<A> => Effect.runPromise(Effect.flatMap(SqlClient.SqlClient, use).pipe(Effect.provide(client)))

const fileOf = ({ address }: Database): string => address.slice("sqlite:".length)

const hash = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex")

/** Returns the names and contents of the files; `-shm` has the locks of readers, so only its name counts. */
const readFiles = (directory: string): ReadonlyArray<string> =>
  fs
    .readdirSync(directory)
    .toSorted()
    .map(
      (name) => `${name} ${name.endsWith("-shm") ? "" : hash(fs.readFileSync(path.join(directory, name)))}`
    )

/** Returns a digest of the catalog and of all rows of a schema, with the transactions that wrote or locked them. */
const readSchema = (database: Database): Promise<string> =>
  onClient(database, (sql) =>
    Effect.gen(function* () {
      const catalogs = yield* Effect.forEach(
        [
          "SELECT oid::text, relname, relfilenode::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace ORDER BY 2",
          "SELECT oid::text, proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace ORDER BY 2"
        ],
        (statement) => sql.unsafe(statement)
      )
      const tables = yield* sql.unsafe<{ readonly name: string }>(
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
      )
      const rows = yield* Effect.forEach(tables, ({ name }) =>
        sql.unsafe(`SELECT xmin::text, xmax::text, ctid::text, t::text FROM ${name} t ORDER BY ctid`)
      )
      return hash(JSON.stringify([catalogs, tables, rows]))
    })
  )

const digest = async (database: Database): Promise<unknown> =>
  database.address.startsWith("sqlite:") ? readFiles(path.dirname(fileOf(database))) : readSchema(database)

/** A state of a database. */
interface State {
  readonly name: string
  /** Brings an empty database into the state. */
  readonly prepare: (database: Database) => Promise<unknown>
  /** What the commands print to standard error if they fail. */
  readonly error: RegExp | undefined
}

const states: ReadonlyArray<State> = [
  {
    name: "empty",
    prepare: (database) => onClient(database, (sql) => sql`SELECT 1`),
    error: /: it contains no animal store; 'animal-store serve' or 'animal-store keys issue' creates one\n$/
  },
  {
    name: "of another program",
    prepare: (database) => onClient(database, (sql) => sql`CREATE TABLE pets (id INTEGER PRIMARY KEY)`),
    error:
      /: it belongs to another program: it has the table pets, but no animal store; use another database\n$/
  },
  {
    name: "of an older version",
    // The first version follows schema 0, which has no other tables.
    prepare: (database) =>
      onClient(
        database,
        (sql) => sql`CREATE TABLE animal_store_migrations (
          migration_id integer PRIMARY KEY, created_at timestamp DEFAULT current_timestamp NOT NULL, name text NOT NULL)`
      ),
    error:
      /: its schema 0 is older than this version's \(\d+\); 'animal-store serve' migrates it when it starts\n$/
  },
  {
    name: "of a newer version",
    prepare: async (database) => {
      await issue(database)
      await onClient(
        database,
        (sql) => sql`INSERT INTO animal_store_migrations (migration_id, name) VALUES (99, 'newer')`
      )
    },
    error: /: it was made by a newer animal-store \(schema 99, /
  },
  { name: "current", prepare: (database) => issue(database), error: undefined },
  {
    name: "in use",
    prepare: ({ address }) => serveJson(["--database", address]),
    error: undefined
  }
]

const issue = ({ address }: Database) =>
  json<{ readonly id: string }>(["keys", "issue", "--plan", "Free", "--database", address])

const issued = async (
  kind = Databases.sqlite
): Promise<{ readonly database: Database; readonly id: string }> => {
  const database = await Databases.createForTest(kind)
  return { database, id: (await issue(database)).id }
}

let roles = 0

/** Creates a role with privileges on the schema of a database. */
const asRole = async (
  database: Database,
  grants: ReadonlyArray<string>
): Promise<Pick<Database, "address">> => {
  const role = `animal_store_role_${process.pid}_${roles++}`
  const schema = new URL(database.address).searchParams.get("options")?.split("=")[1] ?? ""
  const statements = [
    `CREATE ROLE ${role} LOGIN PASSWORD 'secret'`,
    `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
    ...grants.map((grant) => grant.replaceAll("$role", role).replaceAll("$schema", schema))
  ]
  await onClient(database, (sql) => Effect.forEach(statements, (statement) => sql.unsafe(statement)))
  onTestFinished(() =>
    onClient(database, (sql) =>
      Effect.asVoid(Effect.andThen(sql.unsafe(`DROP OWNED BY ${role}`), sql.unsafe(`DROP ROLE ${role}`)))
    )
  )
  const url = new URL(database.address)
  url.username = role
  url.password = "secret"
  return { address: url.href }
}

const commandsOn = ({ address }: Database, id: string): ReadonlyArray<ReadonlyArray<string>> =>
  [
    ["keys", "list"],
    ["keys", "list", "--limits", address],
    ["keys", "show", id],
    ["keys", "log"],
    ["export"]
  ].map((command) => [...command, "--database", address])

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "commands that only read", () => {
    it.each(states)("change nothing in a database that is $name", async ({ error, prepare }) => {
      const database = await Databases.createForTest(kind)
      await prepare(database)
      const id = error === undefined ? await firstId(database) : "key_a"
      const before = await digest(database)
      for (const command of commandsOn(database, id)) {
        const { code, stderr } = await run(command)
        expect([code, stderr], command.join(" ")).toEqual(
          error === undefined
            ? [0, expect.not.stringContaining("animal-store:")]
            : [1, expect.stringMatching(error)]
        )
        expect(await digest(database), command.join(" ")).toEqual(before)
      }
    })
  })
}

const firstId = async ({ address }: Database): Promise<string> => {
  const [key] = await json<ReadonlyArray<{ readonly id: string }>>(["keys", "list", "--database", address])
  return key?.id ?? ""
}

describe("commands that only read a SQLite file", () => {
  /** Creates a store, and copies its files with these suffixes while it is in use, as a crash leaves them. */
  const crash = async (
    suffixes: ReadonlyArray<string>
  ): Promise<{ readonly database: Database; readonly id: string }> => {
    const running = await Databases.createForTest(Databases.sqlite)
    const { keys } = await serveJson(["--issue-key", "Free", "--database", running.address])
    const database = await Databases.createForTest(Databases.sqlite)
    for (const suffix of suffixes)
      fs.copyFileSync(`${fileOf(running)}${suffix}`, `${fileOf(database)}${suffix}`)
    return { database, id: keys[0]?.id ?? "" }
  }

  it("change nothing after a crash, and read what is only in its -wal file", async () => {
    const { database, id } = await crash(["", "-wal", "-shm"])
    const before = await digest(database)
    for (const command of commandsOn(database, id))
      expect((await run(command)).code, command.join(" ")).toBe(0)
    expect(await digest(database)).toEqual(before)
    expect(await succeed(["keys", "show", id, "--database", database.address])).toContain(id)
  })

  it("change nothing if its -shm file was not copied, and say what recovers it", async () => {
    const { database, id } = await crash(["", "-wal"])
    const before = await digest(database)
    for (const command of commandsOn(database, id)) {
      expect((await run(command)).stderr).toMatch(
        /: it was not closed properly, or copied while it was in use: start 'animal-store serve' on it once, which recovers it\n$/
      )
    }
    expect(await digest(database)).toEqual(before)
  })

  it("fail instead of reading a file that another process has opened in the meantime", async () => {
    const database = await Databases.createForTest(Databases.sqlite)
    await issue(database)
    const [layer, service] = [Sqlite.client(fileOf(database), "reading"), SqlClient.SqlClient]
    const failure = await Effect.runPromise(
      Effect.gen(function* () {
        const sql = yield* service
        yield* sql`SELECT 1 FROM api_keys`
        const other = new DatabaseSync(fileOf(database))
        other.exec("UPDATE api_keys SET label = 'changed'")
        const error = yield* Effect.flip(sql`SELECT 1 FROM api_keys`)
        other.close()
        return error
      }).pipe(Effect.provide(layer))
    )
    expect(String(failure.reason.cause)).toContain("run the command again")
  })

  // The user root may write to everything.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const runAs = (args: ReadonlyArray<string>) =>
    spawnSync(process.execPath, ["--no-warnings", main, ...args], { ...user, encoding: "utf8", env: {} })
  const canRun = runAs(["--version"]).status === 0

  it.skipIf(!canRun).each([
    ["closed", () => issued()],
    ["crashed", () => crash(["", "-wal", "-shm"])]
  ] as const)(
    "work for a user who may only read, on a file that is %s (skipped if that user cannot run commands)",
    async (_, create) => {
      const { database, id } = await create()
      const directory = path.dirname(fileOf(database))
      for (const name of fs.readdirSync(directory)) fs.chmodSync(path.join(directory, name), 0o444)
      fs.chmodSync(directory, 0o555)
      onTestFinished(() => fs.chmodSync(directory, 0o755))
      const before = await digest(database)
      const { status, stderr, stdout } = runAs(["keys", "list", "--database", database.address])
      expect([status, stderr]).toEqual([0, ""])
      expect(stdout).toContain(id)
      expect(await digest(database)).toEqual(before)
    }
  )
})

// Only a superuser can create the role.
Databases.describeOn(Databases.postgresAlone, "commands that only read", () => {
  it("need only the privilege to select", async () => {
    const { database, id } = await issued(Databases.postgres)
    const { address } = await asRole(database, ["GRANT SELECT ON ALL TABLES IN SCHEMA $schema TO $role"])
    for (const command of commandsOn({ ...database, address }, id)) {
      expect((await run(command)).code, command.join(" ")).toBe(0)
    }
  })
})

describe("a SQLite file of another program", () => {
  it.each(["pets", "bookmarks"])(
    "with the table %s is left untouched by commands that write",
    async (table) => {
      const database = await Databases.createForTest(Databases.sqlite)
      const { address } = database
      const file = new DatabaseSync(fileOf(database))
      file.exec(`CREATE TABLE ${table} (id INTEGER PRIMARY KEY)`)
      file.close()
      const before = await digest(database)
      const source = await issued()
      const animals = path.join(path.dirname(fileOf(source.database)), "animals.ndjson")
      fs.writeFileSync(animals, '{"name":"Rex","categoryId":1}\n')
      for (const command of [
        ["serve", "--port", "0", "--database", address],
        ["serve", "--port", "0", "--database", source.database.address, "--limits", address],
        ["keys", "issue", "--plan", "Free", "--database", address],
        ["import", animals, "--database", address],
        ["copy", "--from", source.database.address, "--to", address]
      ]) {
        const { code, stderr } = await run(command)
        expect([code, stderr], command.join(" ")).toEqual([
          1,
          expect.stringContaining(
            `: it belongs to another program: it has the table ${table}, but no animal store; `
          )
        ])
        expect(await digest(database), command.join(" ")).toEqual(before)
      }
    }
  )
})

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "copy", () => {
    it("creates no store in a source without one", async () => {
      const [source, target] = [await Databases.createForTest(kind), await issued()]
      await onClient(source, (sql) => sql`SELECT 1`)
      const before = await digest(source)
      const { stderr } = await run(["copy", "--from", source.address, "--to", target.database.address])
      expect(stderr).toMatch(/^animal-store: --from .*: it contains no animal store; /)
      expect(await digest(source)).toEqual(before)
    })
  })
}

it("commands end quietly if the reader of their output has gone, but not if a secret is lost", async () => {
  const { database, id } = await issued()
  const gone = Object.assign(new Error("write EPIPE"), { code: "EPIPE" })
  const failure = { stdout: gone }
  const address = ["--database", database.address]
  await run(["import", "-", ...address], {}, { input: '{"name":"Rex","categoryId":1}\n' })
  for (const command of commandsOn(database, id)) {
    expect(await run(command, {}, { failure }), command.join(" ")).toEqual({
      code: 141,
      stdout: "",
      stderr: ""
    })
  }
  const lost = await run(["keys", "rotate", id, ...address], {}, { failure })
  expect([lost.code, lost.stderr]).toEqual([1, expect.stringContaining(`the new secret of ${id} is lost`)])
  const stopped = await run(["serve", "--port", "0", ...address], {}, { failure })
  expect([stopped.code, stopped.stderr]).toEqual([1, expect.stringMatching(/EPIPE; the server stops\n/)])
})

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "/readyz", () => {
    it("writes nothing, neither a row nor a byte of a file, also to a separate database for limits", async () => {
      const [database, limits] = [await Databases.createForTest(kind), await Databases.createForTest(kind)]
      const store = await openAnimalStore({ database: database.address, limits: limits.address })
      onTestFinished(() => store.close())
      const ready = async () => {
        // Each store probes once per second.
        const other = await openAnimalStore({
          database: database.address,
          limits: limits.address,
          logLevel: "none"
        })
        const { status } = await other.fetch(new Request("http://localhost/readyz"))
        await other.close()
        return status
      }
      // Opening another store may write too, so the first one is compared with the second one.
      expect(await ready()).toBe(200)
      const before = [await digest(database), await digest(limits)]
      expect((await store.fetch(new Request("http://localhost/readyz"))).status).toBe(200)
      expect([await digest(database), await digest(limits)]).toEqual(before)
      await onClient(limits, (sql) => sql.unsafe("ALTER TABLE rate_limits RENAME TO gone"))
      expect(await ready()).toBe(503)
    })
  })
}

Databases.describeOn(Databases.postgresAlone, "/readyz", () => {
  it.each(["SELECT ON rate_limits", "INSERT ON rate_limits", "UPDATE ON rate_limits", "INSERT ON pets"])(
    "returns 503 without the privilege %s",
    async (privilege) => {
      const { database } = await issued(Databases.postgres)
      const { address } = await asRole(database, [
        "GRANT ALL ON ALL TABLES IN SCHEMA $schema TO $role",
        `REVOKE ${privilege.replace("ON ", "ON $schema.")} FROM $role`
      ])
      const store = await openAnimalStore({ database: address, logLevel: "none" })
      onTestFinished(() => store.close())
      expect((await store.fetch(new Request("http://localhost/readyz"))).status).toBe(503)
    }
  )
})
