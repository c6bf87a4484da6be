/** Checks that keys of an account count as one key if `countPer` is "account", on every store. */
import * as fc from "fast-check"
import { afterAll, describe, expect, it } from "vitest"
import * as RedisServers from "../redis/RedisServers.fixture.ts"
import * as Databases from "../sql/Databases.fixture.ts"
import type { AnimalStore, AnimalStoreOptions } from "./index.ts"
import * as Stores from "./Stores.fixture.ts"

const DAY = 86_400_000
const START = 20_500 * DAY + 9 * 3_600_000

type Addresses = Pick<AnimalStoreOptions, "database" | "limits">

interface Kind extends Omit<Stores.Kind, "address"> {
  readonly addresses: () => Promise<Addresses>
}

let redis: RedisServers.Server | undefined

const kinds: ReadonlyArray<Kind> = [
  ...Stores.kinds.map((kind) => ({ ...kind, addresses: async () => ({ database: await kind.address() }) })),
  {
    ...{ name: "SQLite and Redis", system: "sqlite", missing: RedisServers.redis.missing },
    addresses: async () => {
      redis ??= await RedisServers.start(RedisServers.redis)
      return { database: (await Databases.createForTest(Databases.sqlite)).address, limits: redis.address }
    }
  }
]

afterAll(() => redis?.stop())

let now = START

const open = (addresses: Addresses, countPer: AnimalStoreOptions["countPer"]) =>
  Stores.open({
    ...addresses,
    countPer,
    now: () => now,
    keyCacheMs: 0,
    databaseTimeoutMs: 20_000,
    ban: { strikes: 3, strikeIntervalMs: 100 }
  })

/** Sends a request that counts as `cost`, and returns its status and the headers about limits. */
const send = async (store: AnimalStore, key: string, cost = 1) => {
  const request = new Request("http://test/orders", { headers: { Authorization: `Bearer ${key}` } })
  const admission = await store.admit(request, { cost })
  const headers = new Headers(admission.admitted ? admission.headers : admission.response.headers)
  const names = [
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "Retry-After",
    "RateLimit"
  ]
  const code = admission.admitted ? "admitted" : /"code":"(\w+)"/.exec(await admission.response.text())?.[1]
  return [code, ...names.map((name) => headers.get(name))]
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("request" as const),
      key: fc.nat(2),
      cost: fc.integer({ min: 1, max: 3 })
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.oneof(fc.nat(3_000), fc.nat(DAY)) })
  },
  fc.record({ do: fc.constant("unban" as const), key: fc.nat(2) })
)

const accounts = fc.oneof(
  fc.constantFrom("acme", "Acme", " acme", 'a",{}\\', "key:x", "network:1.2.3.4", "ä\u0301\u{1f600}'; --"),
  fc.constant("\u{10ffff}".repeat(240))
)

const limits = fc.record({
  perMinute: fc.integer({ min: 3, max: 6 }),
  perDay: fc.integer({ min: 3, max: 20 })
})

for (const kind of kinds) {
  describe.skipIf(kind.missing !== undefined)(`keys of an account ${Stores.titleEnd(kind)}`, () => {
    it("have the responses, the usage and the bans of one key, and a key without an account its own", async () => {
      const together = await open(await kind.addresses(), "account")
      const alone = await open(await kind.addresses(), "key")
      let runs = 0
      await fc.assert(
        fc.asyncProperty(
          accounts,
          limits,
          fc.array(step, { maxLength: 40, size: "max" }),
          async (name, plan, steps) => {
            const account = `${name} ${runs++}`
            const issue = (store: AnimalStore, given = {}) =>
              store.keys.issue({ plan: "Enterprise", limits: plan, ...given })
            const keys = [
              await issue(together, { account }),
              await issue(together, { account }),
              await issue(together, { account })
            ]
            const [one, other, otherAlone] = [await issue(alone), await issue(together), await issue(alone)]
            for (const taken of steps) {
              if (taken.do === "wait") {
                now += taken.ms
                continue
              }
              const key = keys[taken.key] ?? one
              if (taken.do === "unban") {
                const [unbanned, expected] = [
                  await together.keys.unban(key.id),
                  await alone.keys.unban(one.id)
                ]
                expect(unbanned.usage).toEqual(expected.usage)
              } else {
                expect(await send(together, key.key, taken.cost)).toEqual(
                  await send(alone, one.key, taken.cost)
                )
              }
            }
            const { usage } = await alone.keys.show(one.id)
            for (const { id, key } of keys) {
              expect((await together.keys.show(id)).usage).toEqual(usage)
              expect((await together.keys.verify(key))?.usage).toEqual(usage)
            }
            expect(await send(together, other.key)).toEqual(await send(alone, otherAlone.key))
          }
        ),
        { numRuns: kind.name === "memory" ? 100 : 15 }
      )
    }, 120_000)
  })

  describe.skipIf(kind.missing !== undefined || kind.name === "memory")(
    `usage ${Stores.titleEnd(kind)}`,
    () => {
      it("is kept when the setting changes: the larger one of the account and its key", async () => {
        const addresses = await kind.addresses()
        const used = async (store: AnimalStore, id: string) => (await store.keys.show(id)).usage
        await fc.assert(
          fc.asyncProperty(fc.nat(5), fc.nat(5), fc.nat(60_000), async (a, b, ms) => {
            const account = `customer ${now}`
            const counts = [a, b]
            const separate = await open(addresses, "key")
            const issue = () => separate.keys.issue({ plan: "Free", account })
            const keys = [await issue(), await issue()] as const
            for (const [index, { key }] of keys.entries()) {
              for (let sent = 0; sent < (counts[index] ?? 0); sent++) await send(separate, key)
            }
            now += ms
            const usages = [await used(separate, keys[0].id), await used(separate, keys[1].id)] as const
            await separate.close()

            const together = await open(addresses, "account")
            expect(await used(together, keys[0].id)).toEqual(usages[0])
            await send(together, keys[0].key)
            await send(together, keys[1].key)
            const shared = await used(together, keys[1].id)
            expect(shared.day.used).toBe(Math.max(a + 1, b) + 1)
            expect(await used(together, keys[0].id)).toEqual(shared)
            await together.close()

            const again = await open(addresses, "key")
            for (const { id, key } of keys) {
              expect(await used(again, id)).toEqual(shared)
              await send(again, key)
              expect((await used(again, id)).day.used).toBe(shared.day.used + 1)
            }
            await again.close()
            now += 61_000
          }),
          { numRuns: 5 }
        )
      }, 120_000)

      it("moves with a key to another account, without the ban", async () => {
        const store = await open(await kind.addresses(), "account")
        const limits = { perMinute: 3, perDay: 1_000 }
        const issue = (account?: string) => store.keys.issue({ plan: "Enterprise", limits, account })
        const [acme, zeta, free] = [await issue("acme"), await issue("zeta"), await issue()]
        const outcome = async ({ key }: { readonly key: string }) => (await send(store, key))[0]
        expect(await outcome(zeta)).toBe("admitted")
        while ((await outcome(acme)) !== "api_key_banned") now += 200
        const { day } = (await store.keys.show(acme.id)).usage

        await store.keys.set(acme.id, { account: "zeta" })
        expect((await store.keys.show(zeta.id)).usage).toMatchObject({ day, bannedUntil: undefined })
        expect(await outcome(zeta)).toBe("rate_limit_exceeded")
        await store.keys.set(zeta.id, { account: null })
        expect((await store.keys.show(zeta.id)).usage.day).toEqual(day)
        expect((await store.keys.show(free.id)).usage.day.used).toBe(0)
      })
    }
  )
}
