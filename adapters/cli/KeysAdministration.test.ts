/** Tests `animal-store keys show`, `set`, `unban`, `log` and `--expires` while servers run on the database. */
import { expect, it } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import * as CommandLine from "./CommandLine.fixture.ts"
import type { IssuedKey } from "./Greeting.fixture.ts"

/** Waits up to a minute for a change, because the machine may be busy. */
const POLL_OPTIONS = { timeout: 60_000 }

const TIME = "20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}Z"

/** Creates a database, and returns functions that run commands and servers on it. */
const open = async (kind: Databases.Kind) => {
  const { address } = await Databases.createForTest(kind)
  const environment = { ANIMAL_STORE_DATABASE: address }
  const keys = (...args: ReadonlyArray<string>) => CommandLine.succeed(["keys", ...args], environment)
  const json = <A>(...args: ReadonlyArray<string>) => CommandLine.json<A>(["keys", ...args], environment)
  const serve = async (keyCache: string, ...args: ReadonlyArray<string>) => {
    const server = await CommandLine.serveJson(["--key-cache", keyCache, ...args], environment)
    return Object.assign((key: string) => server.get("/pets", key), { server })
  }
  return { json, keys, serve }
}

for (const kind of Databases.kinds) {
  Databases.describeOn(kind, "animal-store keys", () => {
    it("set changes the plan and the expiry of a key on every node", async () => {
      const { json, keys, serve } = await open(kind)
      const [uncached, cached] = await Promise.all([serve("0"), serve("2s")])
      const { id, key } = await json<IssuedKey>("issue", "--plan", "Free", "--label", "shop")
      for (const send of [uncached, cached]) {
        expect((await send(key)).headers.get("X-RateLimit-Limit")).toBe("60")
      }

      expect(await keys("set", id, "--plan", "pro")).toBe(
        `${id} is on the Pro plan with 300 requests a minute, 10000 a day; label shop; never expires.\n` +
          "Running servers apply it within 5 seconds (their --key-cache).\n"
      )
      const limit = async (send: typeof cached) => (await send(key)).headers.get("X-RateLimit-Limit")
      expect(await limit(uncached)).toBe("300")
      await expect.poll(() => limit(cached), POLL_OPTIONS).toBe("300")

      expect(await keys("set", id, "--account", "acme", "--metadata", '{"crm":7}')).toContain(
        "; label shop; account acme; never expires."
      )
      const shown = await keys("show", id)
      for (const line of ["  Account    acme\n", '  Metadata   {"crm":7}\n']) expect(shown).toContain(line)
      expect(await json("set", id, "--metadata", "")).toMatchObject({ account: "acme", metadata: null })
      expect(await json("set", id, "--per-minute", "7", "--label", "", "--account", "")).toEqual({
        ...{ id, plan: "Pro", limits: { perMinute: 7, perDay: 10_000 }, label: null },
        ...{ account: null, metadata: null },
        ...{ createdAt: expect.any(Number), revokedAt: null, expiresAt: null },
        lastSeenDay: expect.anything(),
        secrets: [{ createdAt: expect.any(Number), expiresAt: null }]
      })
      expect(await limit(uncached)).toBe("7")

      const before = Date.now()
      const { expiresAt } = await json<{ readonly expiresAt: number }>("set", id, "--expires", "90d")
      expect(expiresAt - 90 * 86_400_000).toBeGreaterThanOrEqual(before)
      expect(expiresAt - 90 * 86_400_000).toBeLessThanOrEqual(Date.now())
      expect((await uncached(key)).status).not.toBe(401)
      expect(await keys("set", id, "--expires", "0")).toMatch(new RegExp(`; expires at ${TIME}\\.\n`))
      expect((await uncached(key)).status).toBe(401)
      await expect.poll(async () => (await cached(key)).status, POLL_OPTIONS).toBe(401)
      expect(await keys("list")).toMatch(new RegExp(`${id} .* expired at ${TIME}\n`))
      await keys("set", id, "--expires", "never", "--plan", "Business")
      expect((await uncached(key)).status).not.toBe(401)
    })

    it("set --per-day changes only the daily limit, and the requests of the day still count", async () => {
      const { json, serve } = await open(kind)
      const send = await serve("0")
      const { id, key } = await json<IssuedKey>("issue", "--plan", "Free")
      const limits = async () => {
        const { headers, status } = await send(key)
        return [status, headers.get("X-RateLimit-Limit"), headers.get("X-RateLimit-Remaining")]
      }
      expect(await limits()).toEqual([200, "60", "59"])
      expect(await json("set", id, "--per-day", "2")).toMatchObject({
        plan: "Free",
        limits: { perMinute: 60, perDay: 2 }
      })
      expect(await limits()).toEqual([200, "2", "0"])
      expect(await limits()).toEqual([429, "2", "0"])
      expect(await json("show", id)).toMatchObject({ limits: { perMinute: 60, perDay: 2 } })
      await json("set", id, "--per-day", "1000")
      expect(await limits()).toEqual([200, "60", expect.any(String)])
    })

    it("show reports the ban of a key, and unban lifts it", async () => {
      const { json, keys, serve } = await open(kind)
      const send = await serve("0", "--test-clock-port", "0")
      const [clock = ""] = await send.server.waitForLog(/http:\S+\/clock/)
      const limits = ["--per-minute", "1", "--per-day", "1000"]
      const { id, key } = await json<IssuedKey>("issue", "--plan", "Enterprise", ...limits)
      const outcome = async () => {
        const response = await send(key)
        const body: unknown = await response.json()
        return response.status === 200 ? "admitted" : (body as { readonly code: string }).code
      }
      expect(await outcome()).toBe("admitted")
      // A strike counts at most once a second.
      const nextSecond = () => fetch(`${clock}/advance`, { method: "POST", body: '{"ms":1000}' })
      while ((await outcome()) !== "api_key_banned") expect((await nextSecond()).status).toBe(200)
      const { bannedUntil } = await json<{ readonly bannedUntil: number }>("show", id)
      expect(bannedUntil).toBeGreaterThan(Date.now())
      const listed = await json<ReadonlyArray<{ readonly id: string }>>("list")
      expect(listed.find((entry) => entry.id === id)).toMatchObject({ id, bannedUntil })
      const until = new Date(bannedUntil).toISOString()
      expect(await keys("list")).toContain(`banned until ${until}`)
      expect(await keys("show", id)).toContain(`  Banned     until ${until}\n`)
      expect(await keys("unban", id)).toBe(
        `Unbanned ${id}, which was banned until ${until}. Running servers apply it immediately.\n`
      )
      expect(await outcome()).not.toBe("api_key_banned")
      expect(await json("unban", id)).toEqual({ id, bannedUntil: null, strikes: expect.any(Number) })
    })

    it("show prints the usage of a key, and log prints every action on it", async () => {
      const { json, keys, serve } = await open(kind)
      const send = await serve("0")
      const { id, key } = await json<IssuedKey>(
        "issue",
        "--plan",
        "Free",
        "--expires",
        "12h",
        "--label",
        "a\u202eb"
      )
      const unused = await keys("show", id)
      expect(unused).toMatch(new RegExp(`^${id}\n {2}State      active, expires at ${TIME}\n`))
      expect(unused).toContain("  Last seen  never\n")
      expect(unused).toContain("  Label      a\\u{202e}b\n")
      expect((await send(key)).status).toBe(200)
      const time = expect.any(Number)
      await expect
        .poll(
          async () => (await json<{ readonly lastSeenDay: string | null }>("show", id)).lastSeenDay,
          POLL_OPTIONS
        )
        .toMatch(/^20[0-9]{2}-[0-9]{2}-[0-9]{2}$/)
      const shown = await json("show", id)
      expect(shown).toEqual({
        ...{ id, plan: "Free", limits: { perMinute: 60, perDay: 1_000 }, label: "a\u202eb" },
        ...{ account: null, metadata: null },
        ...{ createdAt: time, revokedAt: null, expiresAt: time, lastSeenDay: expect.any(String) },
        secrets: [{ createdAt: time, expiresAt: null }],
        minute: { limit: 60, remaining: time, fullAt: time },
        day: { limit: 1_000, used: 1, remaining: 999, endsAt: time },
        ...{ strikes: 0, bannedUntil: null }
      })

      await keys("set", id, "--plan", "Pro", "--expires", "never")
      await keys("unban", id)
      await keys("rotate", id)
      await keys("revoke", id)
      await keys("issue", "--plan", "Free")
      const events = await json<ReadonlyArray<{ readonly action: string; readonly actor: string }>>("log", id)
      expect(events.map(({ action }) => action)).toEqual([
        "issued",
        "changed",
        "unbanned",
        "rotated",
        "revoked"
      ])
      expect(events[1]).toEqual({
        ...{ at: time, actor: expect.stringMatching(/./), keyId: id, action: "changed" },
        changes: {
          plan: { from: "Free", to: "Pro" },
          perMinute: { from: 60, to: 300 },
          perDay: { from: 1_000, to: 10_000 },
          expiresAt: { from: time, to: null }
        }
      })
      expect(new Set(events.map(({ actor }) => actor)).size).toBe(1)
      const lines = (await keys("log")).split("\n")
      // The server itself issued the first key of the database, and `keys issue` the last one.
      expect(lines).toHaveLength(8)
      expect(lines[2]).toMatch(
        new RegExp(
          `^${TIME} {2}\\S+ {2}changed ${id}: plan "Free" → "Pro", perMinute 60 → 300, perDay 1000 → 10000, expiresAt ${TIME} → none$`
        )
      )
      expect(lines[1]).toContain('label "a\\u{202e}b"')
      expect(lines.join("\n")).not.toContain(key.slice(4, 20))
      expect(lines.join("\n")).not.toMatch(/[0-9a-f]{64}/)
    })

    it("--count-per account shares usage and ban among the keys of an account", async () => {
      const { json, keys, serve } = await open(kind)
      const send = await serve("0", "--count-per", "account")
      const plan = ["--plan", "Enterprise", "--per-minute", "3", "--per-day", "50"]
      const [first, second] = [
        await json<IssuedKey>("issue", ...plan, "--account", "acme"),
        await json<IssuedKey>("issue", ...plan, "--account", "acme")
      ]
      for (const { key } of [first, second, first]) expect((await send(key)).status).toBe(200)
      expect((await send(second.key)).status).toBe(429)
      for (const { id } of [first, second]) {
        expect(await json("show", id, "--count-per", "account")).toMatchObject({ day: { used: 3 } })
        expect(await json("show", id)).toMatchObject({ day: { used: 3 } })
      }
      expect(await keys("show", first.id, "--count-per", "account")).toContain(
        "  Counted    with all keys of its account\n"
      )
      await Promise.all(Array.from({ length: 9 }, () => send(second.key)))
      const unban = (...args: ReadonlyArray<string>) =>
        json<{ readonly strikes: number }>("unban", first.id, ...args)
      expect(await unban()).toMatchObject({ strikes: 0 })
      expect((await unban("--count-per", "account")).strikes).toBeGreaterThan(0)
      expect(await unban("--count-per", "account")).toMatchObject({ strikes: 0 })
    })

    it("show reads the usage of a key from the database that --limits names", async () => {
      const { address } = await Databases.createForTest(kind)
      const limits = (await Databases.createForTest(Databases.sqlite)).address
      const databases = ["--database", address, "--limits", limits]
      const { get, keys } = await CommandLine.serveJson([...databases, "--issue-key", "Free"])
      expect((await get("/pets")).status).toBe(200)
      const used = async (...args: ReadonlyArray<string>): Promise<number> => {
        const { day } = await CommandLine.json<{ readonly day: { readonly used: number } }>([
          ...["keys", "show", keys[0]?.id ?? "", ...args]
        ])
        return day.used
      }
      expect(await used(...databases)).toBe(1)
      expect(await used("--database", address)).toBe(0)
    })
  })
}
