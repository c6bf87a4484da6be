/** Tests `animal-store keys`: its output for people and its JSON for scripts. */
import * as fs from "node:fs"
import * as path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import * as Plan from "../../core/limits/Plan.ts"
import * as Databases from "../sql/Databases.fixture.ts"
import { openClient, whileLocked } from "../sql/Nodes.fixture.ts"
import { json, run, serveJson, succeed } from "./CommandLine.fixture.ts"
import * as Directory from "./Directory.fixture.ts"
import type { IssuedKey } from "./Greeting.fixture.ts"
import { flagsOf, variableIn } from "./Help.fixture.ts"
import type { Environment } from "./Serve.fixture.ts"

const keys = (args: ReadonlyArray<string>, environment?: Environment) =>
  succeed(["keys", ...args], environment)

const keysJson = <A>(args: ReadonlyArray<string>, environment?: Environment) =>
  json<A>(["keys", ...args], environment)

type Mistake = readonly [args: ReadonlyArray<string>, message: string]

/** Expects commands to fail with a one-line message and no output. */
const expectFailure = async (mistakes: ReadonlyArray<Mistake>): Promise<void> => {
  for (const [args, message] of mistakes) {
    const stderr = `animal-store: ${message}\n`
    expect(await run(["keys", ...args])).toEqual({ code: 1, stderr, stdout: "" })
  }
}

/** Whether a flag has no variable, because its value is meant for one run of a command. */
const isForOneRun = (command: string, flag: string, description: string): boolean => {
  // The variable has the plans that servers define, not the plan of a key.
  if (flag === "plan") return !description.includes("Repeatable")
  if (["label", "account", "metadata", "force"].includes(flag)) return true
  return command === "set" && ["per-minute", "per-day", "expires"].includes(flag)
}

const serve = async (database: string, keyCache: string) => {
  const { get } = await serveJson(["--database", database, "--key-cache", keyCache])
  return async (key: string): Promise<number> => (await get("/pets", key)).status
}

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "animal-store keys", () => {
    it("issues, rotates and revokes keys while servers are running", async () => {
      const { address } = await Databases.createForTest(kind)
      const database = ["--database", address]
      const [uncached, cached] = await Promise.all([serve(address, "0"), serve(address, "2s")])
      const statuses = async (key: string) => [await uncached(key), await cached(key)]

      const issued = await keysJson<IssuedKey>(["issue", "--plan", "PRO", ...database])
      expect(await statuses(issued.key)).toEqual([200, 200])

      const rotated = await keysJson<IssuedKey>(["rotate", issued.id, "--overlap", "1h", ...database])
      expect(rotated.id).toBe(issued.id)
      expect([...(await statuses(issued.key)), ...(await statuses(rotated.key))]).toEqual([
        200, 200, 200, 200
      ])

      // With overlap 0, a second rotation expires both old secrets immediately.
      const again = ["rotate", issued.id, "--overlap", "0", ...database]
      const refused = await run(["keys", ...again])
      expect(refused).toMatchObject({ code: 1, stdout: "" })
      expect(refused.stderr).toMatch(
        new RegExp(
          `^animal-store: the secret of ${issued.id} that was issued at \\S+Z works until \\S+Z; another rotation ends it now, and requires --force\n$`
        )
      )
      expect(await statuses(issued.key)).toEqual([200, 200])
      const latest = await keysJson<IssuedKey>([...again, "--force"])
      expect([await uncached(issued.key), await uncached(rotated.key)]).toEqual([401, 401])
      expect(await statuses(latest.key)).toEqual([200, 200])

      expect(await keys(["revoke", issued.id, ...database])).toBe(
        `Revoked ${issued.id}. Running servers reject it within 5 seconds (their --key-cache).\n`
      )
      expect(await uncached(latest.key)).toBe(401)
      // Constant requests keep the key in the cache, but do not extend its time there.
      while ((await cached(latest.key)) === 200) await sleep(50)
    })

    it("prints exactly the documented fields with --json", async () => {
      const environment = { ANIMAL_STORE_DATABASE: (await Databases.createForTest(kind)).address }
      const secret = expect.stringMatching(/^ast_[0-9A-Za-z]{33}$/)
      const time = expect.any(Number)
      const before = Date.now()
      const label = "till №1\n\u202e"
      const first = await keysJson<IssuedKey>(["issue", "--plan", "Free", "--label", label], environment)
      expect(first).toEqual({
        ...{ id: expect.stringMatching(/^key_/), plan: "Free", limits: { perMinute: 60, perDay: 1_000 } },
        ...{ label, account: null, metadata: null, expiresAt: null, key: secret, oldKeyExpiresAt: null }
      })
      const numbers = ["--per-minute", "5", "--per-day", "50"]
      const owner = ["--account", "acme", "--metadata", '{"crm":{"id":7}}']
      const second = await keysJson<IssuedKey>(
        ["issue", "--plan", "enterprise", ...numbers, ...owner],
        environment
      )
      const owned = { account: "acme", metadata: { crm: { id: 7 } } }
      expect(second).toEqual({
        ...{ id: expect.stringMatching(/^key_/), plan: "Enterprise", limits: { perMinute: 5, perDay: 50 } },
        ...{ label: null, ...owned, expiresAt: null, key: secret, oldKeyExpiresAt: null }
      })
      const rotated = await keysJson<IssuedKey & { readonly oldKeyExpiresAt: number }>(
        ["rotate", first.id, "--overlap", "7d"],
        environment
      )
      const { oldKeyExpiresAt } = rotated
      expect(rotated).toEqual({ ...first, key: secret, oldKeyExpiresAt: time })
      expect(oldKeyExpiresAt - 7 * 86_400_000).toBeGreaterThanOrEqual(before)
      expect(oldKeyExpiresAt - 7 * 86_400_000).toBeLessThanOrEqual(Date.now())
      const revoked = await keysJson<{ readonly revokedAt: number }>(["revoke", second.id], environment)
      expect(revoked).toEqual({ id: second.id, revokedAt: time })
      expect(await keysJson(["revoke", second.id], environment)).toEqual(revoked)

      const list = await keys(["list", "--json"], environment)
      expect(JSON.parse(list)).toEqual([
        {
          ...{ id: first.id, plan: "Free", limits: { perMinute: 60, perDay: 1_000 }, label },
          ...{ account: null, metadata: null },
          ...{ createdAt: time, revokedAt: null, expiresAt: null, lastSeenDay: null, bannedUntil: null },
          secrets: [
            { createdAt: time, expiresAt: null },
            { createdAt: time, expiresAt: oldKeyExpiresAt }
          ]
        },
        {
          ...{ id: second.id, plan: "Enterprise", limits: { perMinute: 5, perDay: 50 }, label: null },
          ...owned,
          ...{ createdAt: time, revokedAt: revoked.revokedAt, expiresAt: null, lastSeenDay: null },
          bannedUntil: null,
          secrets: [{ createdAt: time, expiresAt: null }]
        }
      ])
      expect(JSON.parse(await keys(["list", "--json", "--account", "acme"], environment))).toEqual(
        JSON.parse(list).slice(1)
      )
      expect(await keys(["list", "--account", "Acme\n"], environment)).toMatch(
        /^There are no keys of the account Acme\\u\{a\} in /
      )
      const table = await keys(["list"], environment)
      for (const output of [list, table]) {
        for (const { key } of [first, second, rotated]) expect(output).not.toContain(key.slice(4, 20))
        expect(output).not.toMatch(/[0-9a-f]{64}/)
      }
      const timePattern = "20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}Z"
      const lines = [
        / +PER MINUTE +PER DAY +CREATED +STATE +ACCOUNT +LABEL$/,
        new RegExp(
          `^${first.id} +Free +60 +1000 +${timePattern} +rotating until ${timePattern} +till №1\\\\u\\{a\\}\\\\u\\{202e\\}$`
        ),
        new RegExp(`^${second.id} +Enterprise +5 +50 +${timePattern} +revoked at ${timePattern} +acme$`),
        /^$/
      ]
      expect(table.split("\n")).toEqual(lines.map((line) => expect.stringMatching(line)))
    })
  })
}

describe("animal-store keys", () => {
  it("issue fails and names the key if the secret cannot be printed", async () => {
    const database = ["--database", (await Databases.createForTest(Databases.sqlite)).address]
    const failure = { stdout: new Error("ENOSPC: no space left on device") }
    const failed = await run(["keys", "issue", "--plan", "Free", ...database], {}, { failure })
    const [{ id } = { id: "" }] = await keysJson<ReadonlyArray<IssuedKey>>(["list", ...database])
    expect(failed).toEqual({
      ...{ code: 1, stdout: "" },
      stderr:
        "animal-store: cannot write to standard output: ENOSPC: no space left on device; " +
        `the new secret of ${id} is lost: revoke it, or rotate it if it is a key\n`
    })
  })

  it("prints readable output and reads settings from environment variables; only issue creates a database", async () => {
    const directory = Directory.create()
    const file = path.join(directory, "data/animals.db")
    const database = { ANIMAL_STORE_DATABASE: `sqlite:${file}` }
    const commandsOnExistingDatabase = [
      ...[["list"], ["log"], ["rotate", "key_x"], ["revoke", "key_x"], ["show", "key_x"]],
      ...[
        ["unban", "key_x"],
        ["set", "key_x", "--plan", "Pro"]
      ]
    ]
    for (const args of commandsOnExistingDatabase) {
      expect(await run(["keys", ...args], database)).toEqual({
        ...{ code: 1, stdout: "" },
        stderr: `animal-store: --database (ANIMAL_STORE_DATABASE): there is no database at ${file}; pass the address that the server uses, or create one with 'animal-store serve'\n`
      })
    }
    expect(fs.readdirSync(directory)).toEqual([])
    const issued = await keys(["issue", "--plan", "pro", "--label", "shop\u202e"], {
      ...database,
      ANIMAL_STORE_PER_MINUTE: "7",
      ANIMAL_STORE_PER_DAY: "70",
      ANIMAL_STORE_DATABASE_TIMEOUT: "3s"
    })
    const pattern =
      /^Issued (key_\w+) for shop\\u\{202e\}: 7 requests a minute, 70 a day\.\n\n {2}Pro key, shown only now: ast_\w{33}\n\n$/
    expect(issued).toMatch(pattern)
    const id = pattern.exec(issued)?.[1] ?? ""
    const before = Date.now()
    const rotated = await keys(["rotate", id], { ...database, ANIMAL_STORE_OVERLAP: "30m" })
    const until = new RegExp(
      `^Rotated ${id}\\. The old key works until (\\S+Z)\\.\n\n {2}Pro key, shown only now: ast_\\w{33}\n\n$`
    )
    expect(rotated).toMatch(until)
    const expiresAt = Date.parse(until.exec(rotated)?.[1] ?? "") - 30 * 60_000
    expect(expiresAt).toBeGreaterThanOrEqual(before)
    expect(expiresAt).toBeLessThanOrEqual(Date.now())
    expect(fs.readdirSync(directory)).toEqual(["data"])
  })

  it("set, rotate and list ignore variables that name what one run does", async () => {
    const database = ["--database", (await Databases.createForTest(Databases.sqlite)).address]
    const variables = {
      ...{ ANIMAL_STORE_EXPIRES: "0", ANIMAL_STORE_PER_MINUTE: "7", ANIMAL_STORE_PER_DAY: "70" },
      ...{ ANIMAL_STORE_ACCOUNT: "other", ANIMAL_STORE_METADATA: "{}", ANIMAL_STORE_LABEL: "other" },
      ANIMAL_STORE_FORCE: "true"
    }
    const { id } = await keysJson<IssuedKey>(["issue", "--plan", "Free", "--account", "acme", ...database])
    expect(await keysJson(["set", id, "--label", "two", ...database], variables)).toMatchObject({
      ...{ label: "two", account: "acme", metadata: null, expiresAt: null },
      limits: { perMinute: 60, perDay: 1_000 }
    })
    expect((await run(["keys", "set", id, ...database], variables)).stderr).toMatch(/: pass at least one of /)
    await keys(["rotate", id, ...database])
    const again = await run(["keys", "rotate", id, ...database], variables)
    expect(again.stderr).toMatch(/ requires --force\n$/)
    expect(await keysJson(["list", ...database], variables)).toHaveLength(1)
  })

  it("describes each command and the environment variable of each flag in the help", async () => {
    const help = async (...args: ReadonlyArray<string>) => {
      const { code, stdout } = await run(["keys", ...args, "--help"])
      expect(code).toBe(0)
      return stdout
    }
    const commands = ["issue", "list", "show", "set", "unban", "rotate", "revoke", "log"]
    const [group = "", ...pages] = await Promise.all([help(), ...commands.map((command) => help(command))])
    for (const [index, command] of commands.entries()) {
      expect(group).toMatch(new RegExp(`^ {2}${command}\n {6}[A-Z][^]*?\\.\n`, "m"))
      const flags = flagsOf(pages[index] ?? "")
      const names = flags.map(([flag]) => flag)
      expect(names).toEqual(expect.arrayContaining(["database", "database-timeout", "json"]))
      for (const [flag, description] of flags) {
        if (isForOneRun(command, flag, description)) continue
        expect(variableIn(description)).toBe(`ANIMAL_STORE_${flag.toUpperCase().replaceAll("-", "_")}`)
      }
    }
  })

  it("reports invalid input in one line, without creating a database", async () => {
    const directory = Directory.create()
    const inDirectory = ["--database", `sqlite:${path.join(directory, "x.db")}`]
    const limitError = "must be a whole number from 1 to 1000000000"
    const secret = "ast_0123456789abcdefghijABCDEFGHIJ0123456"
    const mistakes: ReadonlyArray<Mistake> = [
      [["issue", "--plan", "Gold"], `--plan: must be one of ${Plan.names.join(", ")}; got "Gold"`],
      [["issue", "--plan", "enterprise"], "Enterprise needs both --per-minute and --per-day"],
      [["issue", "--plan", "Free", "--per-minute", "0"], `--per-minute: ${limitError}; got "0"`],
      [["issue", "--plan", "Free", "--per-day", "1000000001"], `--per-day: ${limitError}; got "1000000001"`],
      [["issue", "--plan", "Free", "--label", " "], '--label: must not consist only of white space; got " "'],
      [
        ["rotate", "key_none", "--overlap", "1x"],
        '--overlap: must be a duration from 0 to 3650d, such as 500ms, 30s or 24h; got "1x"'
      ],
      ...["rotate", "revoke", "show", "set", "unban", "log"].map(
        (command): Mistake => [[command, secret], "id: must be an id (key_…, adm_…), not a secret"]
      ),
      [["show", "asa_0123456789"], "id: must be an id (key_…, adm_…), not a secret"],
      [
        ["set", "key_x"],
        "pass at least one of --plan, --per-minute, --per-day, --label, --account, --metadata and --expires"
      ],
      [["issue", "--plan", "Free", "--account", ""], '--account: must not be empty; got ""'],
      [
        ["issue", "--plan", "Free", "--metadata", "{crm:7}"],
        '--metadata: must be a JSON object; got "{crm:7}"'
      ],
      [
        ["set", "key_x", "--metadata", "[]"],
        '--metadata: must be a JSON object with at most 32 levels; got "[]"'
      ],
      [
        ["set", "key_x", "--expires", "soon"],
        '--expires: must be a duration from 0 to 36500d, such as 500ms, 30s or 24h, or never; got "soon"'
      ],
      [
        ["issue", "--plan", "Free", "--expires", "0"],
        '--expires: must be a duration from 1ms to 36500d, such as 500ms, 30s or 24h, or never; got "0"'
      ],
      [
        ["list", "--limits", "memory:"],
        "--limits (ANIMAL_STORE_LIMITS): a memory: database has no limits to manage, because it exists only within one process"
      ],
      [
        ["list", "--database", "memory:"],
        "--database (ANIMAL_STORE_DATABASE): a memory: database has no keys to manage, because it exists only within one process"
      ]
    ]
    await expectFailure(
      mistakes.map(([args, message]) => [
        args.includes("memory:") ? args : [...args, ...inDirectory],
        message
      ])
    )
    expect(fs.readdirSync(directory)).toEqual([])
  })

  it("reports unknown or revoked keys in one line, and changes nothing", async () => {
    const database = ["--database", (await Databases.createForTest(Databases.sqlite)).address]
    const { id } = await keysJson<IssuedKey>(["issue", "--plan", "Business", ...database])
    await keys(["revoke", id, ...database])
    const before = await keys(["list", "--json", ...database])
    await expectFailure([
      [["rotate", "key_none", ...database], "the API key key_none does not exist"],
      [["revoke", "key_none\n\x9b", ...database], "the API key key_none\\u{a}\\u{9b} does not exist"],
      ...["show", "unban", "log"].map(
        (command): Mistake => [[command, "key_none", ...database], "the API key key_none does not exist"]
      ),
      [["set", "key_none", "--label", "x", ...database], "the API key key_none does not exist"],
      [["rotate", id, ...database], `the API key ${id} is revoked`],
      [["unban", id, ...database], `the API key ${id} is revoked`],
      [["set", id, "--plan", "Pro", ...database], `the API key ${id} is revoked`],
      [
        ["list", ...database, "--limits", "sqlite:/nowhere/limits.db"],
        "--limits (ANIMAL_STORE_LIMITS): there is no database at /nowhere/limits.db; pass the address that the server uses, or create one with 'animal-store serve'"
      ]
    ])
    expect(await keys(["list", "--json", ...database])).toBe(before)
  })

  it("reports an unreachable database in one line", async () => {
    const database = "postgres://postgres:s3cret@127.0.0.1:1/animals"
    const message =
      "--database (ANIMAL_STORE_DATABASE): cannot reach the PostgreSQL server at 127.0.0.1:1: connect ECONNREFUSED"
    await expectFailure([[["list", "--database", database], message]])
  })
})

Databases.describeOn(Databases.postgres, "animal-store keys, if a statement waits for a lock", () => {
  /** Issues a key, and runs a command on it while another program has locked a table of `locked`. */
  const runLocked = async (command: string, locked: "database" | "limits") => {
    const create = () => Databases.createForTest(Databases.postgres)
    const databases = { database: await create(), limits: await create() }
    const database = ["--database", databases.database.address]
    const { id } = await keysJson<IssuedKey>(["issue", "--plan", "Free", ...database])
    await keysJson(["issue", "--plan", "Free", "--database", databases.limits.address])
    const flags = command === "unban" ? ["--limits", databases.limits.address] : []
    const args = ["keys", command, id, ...database, ...flags, "--database-timeout", "2s"]
    const result = await Effect.runPromise(
      openClient(databases[locked]).pipe(
        Effect.flatMap((sql) =>
          whileLocked(
            sql,
            locked === "database" ? "api_keys" : "rate_limits",
            Effect.promise(() => run(args))
          )
        ),
        Effect.scoped
      )
    )
    return { id, ...result }
  }

  it.each(["rotate", "revoke"])("%s reports that the change may have been applied", async (command) => {
    const { code, id, stderr } = await runLocked(command, "database")
    expect([code, stderr]).toEqual([
      1,
      "animal-store: --database (ANIMAL_STORE_DATABASE): the database did not respond within 2000 ms; " +
        `the change may have been applied; see 'animal-store keys log ${id}'\n`
    ])
  })

  it("unban names the flags of both databases, because either may have failed", async () => {
    const { code, id, stderr } = await runLocked("unban", "limits")
    expect([code, stderr]).toEqual([
      1,
      "animal-store: --limits (ANIMAL_STORE_LIMITS) or --database (ANIMAL_STORE_DATABASE): " +
        "the database did not respond within 2000 ms; " +
        `the change may have been applied; see 'animal-store keys log ${id}'\n`
    ])
  })
})
