/** Tests `animal-store keys`: its output for people and its JSON for scripts. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { describe, expect, it, onTestFinished } from "vitest"
import * as Plan from "../../core/limits/Plan.ts"
import * as Databases from "../sql/Databases.fixture.ts"
import { type Environment, run, start, stop } from "./Serve.fixture.ts"

/** Creates an empty database and returns its address. */
const createDatabase = async (kind: Databases.Kind): Promise<string> => {
  return (await Databases.createForTest(kind)).address
}

/** Runs a `keys` command, expects success, and returns its standard output. */
const keys = async (args: ReadonlyArray<string>, environment?: Environment): Promise<string> => {
  const { code, stderr, stdout } = await run(["keys", ...args], environment)
  expect({ code, stderr }, args.join(" ")).toEqual({ code: 0, stderr: "" })
  return stdout
}

/** Runs a `keys` command with `--json`, and expects exactly one line. */
const keysJson = async <A>(args: ReadonlyArray<string>, environment?: Environment): Promise<A> => {
  const stdout = await keys([...args, "--json"], environment)
  const value: A = JSON.parse(stdout)
  expect(stdout).toBe(`${JSON.stringify(value)}\n`)
  return value
}

type Mistake = readonly [args: ReadonlyArray<string>, message: string]

/** Expects commands to fail with a one-line message and no output. */
const expectFailure = (mistakes: ReadonlyArray<Mistake>, cwd = os.tmpdir()): Promise<unknown> =>
  Promise.all(
    mistakes.map(async ([args, message]) => {
      const { code, stderr, stdout } = await run(["keys", ...args], {}, { cwd })
      expect({ code, stderr, stdout }).toEqual({ code: 1, stderr: `animal-store: ${message}\n`, stdout: "" })
    })
  )

interface Issued {
  readonly id: string
  readonly key: string
}

const serve = async (database: string, keyCache: string) => {
  const args = ["--json", "--port", "0", "--database", database, "--key-cache", keyCache]
  const server = await start(args)
  onTestFinished(async () => void (await stop(server, "SIGKILL")))
  const { url }: { readonly url: string } = JSON.parse(server.greeting)
  return async (key: string): Promise<number> =>
    (await fetch(`${url}/pets`, { headers: { Authorization: `Bearer ${key}` } })).status
}

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "animal-store keys", () => {
    it("issues, rotates and revokes keys while servers are running", async () => {
      const address = await createDatabase(kind)
      const database = ["--database", address]
      const [uncached, cached] = await Promise.all([serve(address, "0"), serve(address, "2s")])
      const statuses = async (key: string) => [await uncached(key), await cached(key)]

      const issued = await keysJson<Issued>(["issue", "--plan", "PRO", ...database])
      expect(await statuses(issued.key)).toEqual([200, 200])

      const rotated = await keysJson<Issued>(["rotate", issued.id, "--overlap", "1h", ...database])
      expect(rotated.id).toBe(issued.id)
      expect([...(await statuses(issued.key)), ...(await statuses(rotated.key))]).toEqual([
        200, 200, 200, 200
      ])

      // With overlap 0, a second rotation expires both old secrets immediately.
      const latest = await keysJson<Issued>(["rotate", issued.id, "--overlap", "0", ...database])
      expect([await uncached(issued.key), await uncached(rotated.key)]).toEqual([401, 401])
      expect(await statuses(latest.key)).toEqual([200, 200])

      const revoking = keys(["revoke", issued.id, ...database])
      // Constant requests keep the key in the cache.
      let isRevoking = true
      const revoked = revoking.finally(() => {
        isRevoking = false
      })
      while (isRevoking) {
        expect([200, 401]).toContain(await cached(latest.key))
        await sleep(50)
      }
      expect(await revoked).toBe(
        `Revoked ${issued.id}. Running servers reject it within 5 seconds (their --key-cache).\n`
      )
      expect(await uncached(latest.key)).toBe(401)
      const revokedAt = performance.now()
      while ((await cached(latest.key)) === 200) await sleep(50)
      expect(performance.now() - revokedAt).toBeLessThan(4_000)
    })

    it("prints exactly the documented fields with --json", async () => {
      const environment = { ANIMAL_STORE_DATABASE: await createDatabase(kind) }
      const secret = expect.stringMatching(/^ast_[0-9A-Za-z]{33}$/)
      const time = expect.any(Number)
      const before = Date.now()
      const label = "till №1\n\u202e"
      const first = await keysJson<Issued>(["issue", "--plan", "Free", "--label", label], environment)
      expect(first).toEqual({
        ...{ id: expect.stringMatching(/^key_/), plan: "Free", limits: { perMinute: 60, perDay: 1_000 } },
        ...{ label, expiresAt: null, key: secret }
      })
      const numbers = ["--per-minute", "5", "--per-day", "50"]
      const second = await keysJson<Issued>(["issue", "--plan", "enterprise", ...numbers], environment)
      expect(second).toEqual({
        ...{ id: expect.stringMatching(/^key_/), plan: "Enterprise", limits: { perMinute: 5, perDay: 50 } },
        ...{ label: null, expiresAt: null, key: secret }
      })
      const rotated = await keysJson<Issued & { readonly oldKeyExpiresAt: number }>(
        ["rotate", first.id, "--overlap", "7d"],
        environment
      )
      const { oldKeyExpiresAt } = rotated
      expect(rotated).toEqual({ id: first.id, plan: "Free", key: secret, oldKeyExpiresAt: time })
      expect(oldKeyExpiresAt - 7 * 86_400_000).toBeGreaterThanOrEqual(before)
      expect(oldKeyExpiresAt - 7 * 86_400_000).toBeLessThanOrEqual(Date.now())
      const revoked = await keysJson<{ readonly revokedAt: number }>(["revoke", second.id], environment)
      expect(revoked).toEqual({ id: second.id, revokedAt: time })
      expect(await keysJson(["revoke", second.id], environment)).toEqual(revoked)

      const list = await keys(["list", "--json"], environment)
      expect(JSON.parse(list)).toEqual([
        {
          ...{ id: first.id, plan: "Free", limits: { perMinute: 60, perDay: 1_000 }, label },
          ...{ createdAt: time, revokedAt: null, expiresAt: null, lastSeenDay: null, bannedUntil: null },
          secrets: [
            { createdAt: time, expiresAt: null },
            { createdAt: time, expiresAt: oldKeyExpiresAt }
          ]
        },
        {
          ...{ id: second.id, plan: "Enterprise", limits: { perMinute: 5, perDay: 50 }, label: null },
          ...{ createdAt: time, revokedAt: revoked.revokedAt, expiresAt: null, lastSeenDay: null },
          bannedUntil: null,
          secrets: [{ createdAt: time, expiresAt: null }]
        }
      ])
      const table = await keys(["list"], environment)
      for (const output of [list, table]) {
        for (const { key } of [first, second, rotated]) expect(output).not.toContain(key.slice(4, 20))
        expect(output).not.toMatch(/[0-9a-f]{64}/)
      }
      const timePattern = "20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}Z"
      const lines = [
        / +PER MINUTE +PER DAY +CREATED +STATE +LABEL$/,
        new RegExp(
          `^${first.id} +Free +60 +1000 +${timePattern} +rotating until ${timePattern} +till №1\\\\u\\{a\\}\\\\u\\{202e\\}$`
        ),
        new RegExp(`^${second.id} +Enterprise +5 +50 +${timePattern} +revoked at ${timePattern}$`),
        /^$/
      ]
      expect(table.split("\n")).toEqual(lines.map((line) => expect.stringMatching(line)))
    })
  })
}

describe("animal-store keys", () => {
  it.skipIf(!fs.existsSync("/dev/full"))(
    "issue fails and names the key if the secret cannot be printed (needs /dev/full)",
    async () => {
      const database = await createDatabase(Databases.sqlite)
      const main = fileURLToPath(new URL("./main.ts", import.meta.url))
      const { status, stderr } = spawnSync(
        process.execPath,
        [main, "keys", "issue", "--plan", "Free", "--database", database],
        { stdio: ["ignore", fs.openSync("/dev/full", "w"), "pipe"], encoding: "utf8" }
      )
      const [{ id } = { id: "" }] = await keysJson<ReadonlyArray<Issued>>(["list", "--database", database])
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringMatching(
          new RegExp(
            `^animal-store: cannot write to standard output: ENOSPC.*; the new secret of ${id} is lost: .*\n$`
          )
        )
      })
    }
  )

  it("prints readable output and reads flags from environment variables; only issue creates a database", async () => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-"))
    onTestFinished(async () => fs.rmSync(directory, { recursive: true }))
    const output = async (args: ReadonlyArray<string>, environment?: Environment) => {
      const { code, stderr, stdout } = await run(["keys", ...args], environment, { cwd: directory })
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      return stdout
    }
    const commandsOnExistingDatabase = [
      ...[["list"], ["log"], ["rotate", "key_x"], ["revoke", "key_x"], ["show", "key_x"]],
      ...[
        ["unban", "key_x"],
        ["set", "key_x", "--plan", "Pro"]
      ]
    ]
    for (const args of commandsOnExistingDatabase) {
      expect(await run(["keys", ...args], {}, { cwd: directory })).toMatchObject({
        code: 1,
        stdout: "",
        stderr:
          "animal-store: --database (ANIMAL_STORE_DATABASE): there is no database at ./data/animal-store.db\n"
      })
    }
    expect(fs.readdirSync(directory)).toEqual([])
    const issued = await output(["issue"], {
      ANIMAL_STORE_PLAN: "pro",
      ANIMAL_STORE_PER_MINUTE: "7",
      ANIMAL_STORE_PER_DAY: "70",
      ANIMAL_STORE_LABEL: "shop\u202e",
      ANIMAL_STORE_DATABASE_TIMEOUT: "3s"
    })
    const pattern =
      /^Issued (key_\w+) for shop\\u\{202e\}: 7 requests a minute, 70 a day\.\n\n {2}Pro key, shown only now: ast_\w{33}\n\n$/
    expect(issued).toMatch(pattern)
    const id = pattern.exec(issued)?.[1] ?? ""
    const before = Date.now()
    const rotated = await output(["rotate", id], { ANIMAL_STORE_OVERLAP: "30m" })
    const until = new RegExp(
      `^Rotated ${id}\\. The old key works until (\\S+Z)\\.\n\n {2}Pro key, shown only now: ast_\\w{33}\n\n$`
    )
    expect(rotated).toMatch(until)
    const expiresAt = Date.parse(until.exec(rotated)?.[1] ?? "") - 30 * 60_000
    expect(expiresAt).toBeGreaterThanOrEqual(before)
    expect(expiresAt).toBeLessThanOrEqual(Date.now())
    expect(fs.readdirSync(directory)).toEqual(["data"])
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
      expect(group).toMatch(new RegExp(`^ +${command} +[A-Z].*\\.$`, "m"))
      const flags = [...(pages[index] ?? "").matchAll(/^ +--([a-z-]+) .*\[(ANIMAL_STORE_[A-Z_]+)\]$/gm)]
      const names = flags.map(([, flag]) => flag)
      expect(names).toEqual(expect.arrayContaining(["database", "database-timeout", "json"]))
      for (const [, flag = "", variable] of flags) {
        expect(variable).toBe(`ANIMAL_STORE_${flag.toUpperCase().replaceAll("-", "_")}`)
      }
    }
  })

  it("reports invalid input in one line, without creating a database", async () => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-"))
    onTestFinished(async () => fs.rmSync(directory, { recursive: true }))
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
        (command): Mistake => [[command, secret], "id: must be the id of a key (key_…), not the key itself"]
      ),
      [["set", "key_x"], "pass at least one of --plan, --per-minute, --per-day, --label and --expires"],
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
    await expectFailure(mistakes, directory)
    expect(fs.readdirSync(directory)).toEqual([])
  })

  it("reports unknown or revoked keys in one line, and changes nothing", async () => {
    const database = ["--database", await createDatabase(Databases.sqlite)]
    const { id } = await keysJson<Issued>(["issue", "--plan", "Business", ...database])
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
        "--limits (ANIMAL_STORE_LIMITS): there is no database at /nowhere/limits.db"
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
