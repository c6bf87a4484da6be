/** Checks key administration on every store: random histories match a model; plan changes under load obey limits. */
import * as os from "node:os"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Metadata } from "../../core/access/Metadata.ts"
import type * as Plan from "../../core/limits/Plan.ts"
import type { AnimalStore } from "./index.ts"
import * as Stores from "./Stores.fixture.ts"

const DAY = 86_400_000
const START = 20_500 * DAY + 9 * 3_600_000

const open = (address: string, now: () => number): Promise<AnimalStore> =>
  Stores.open({ database: address, now, keyCacheMs: 0, databaseTimeoutMs: 20_000 })

const requests = fc.integer({ min: 1, max: 20 })
const limits = fc.record({ perMinute: requests, perDay: requests })

interface Texts {
  readonly label: string | null
  readonly account: string | null
  readonly metadata: Metadata | null
}

type Command =
  | { readonly do: "issue"; readonly limits: Plan.Plan; readonly inMs: number | undefined }
  | ({ readonly do: "set"; readonly key: number; readonly limits: Plan.Plan } & Texts)
  | { readonly do: "expire"; readonly key: number; readonly inMs: number }
  | { readonly do: "revoke"; readonly key: number }
  | { readonly do: "unban"; readonly key: number }
  | { readonly do: "request"; readonly key: number }
  | { readonly do: "wait"; readonly ms: number }

const key = fc.nat(2)

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    do: fc.constant("issue" as const),
    limits,
    inMs: fc.option(fc.integer({ min: 1, max: DAY }), { nil: undefined })
  }),
  fc.record({
    do: fc.constant("set" as const),
    key,
    limits,
    label: fc.constantFrom(null, "shop", "till №1"),
    account: fc.constantFrom(null, "acme", "Ümlaut № 1"),
    metadata: fc.constantFrom(null, {}, { crm: [{ id: 7, "a\u0000": "\ud800" }, 1e21, null, true] })
  }),
  fc.record({ do: fc.constant("expire" as const), key, inMs: fc.nat(DAY) }),
  fc.record({ do: fc.constant("revoke" as const), key }),
  fc.record({ do: fc.constant("unban" as const), key }),
  { weight: 4, arbitrary: fc.record({ do: fc.constant("request" as const), key }) },
  fc.record({ do: fc.constant("wait" as const), ms: fc.nat(DAY) })
)

interface Model extends Texts {
  readonly id: string
  readonly key: string
  limits: Plan.Plan
  expiresAt: number | undefined
  revokedAt: number | undefined
  /** Number of admitted requests by day since the epoch. */
  readonly used: Map<number, number>
  readonly actions: Array<string>
}

const sendList = async (store: AnimalStore, key: string) =>
  store.fetch(
    new Request("http://store.test/v1/pets?limit=1", { headers: { Authorization: `Bearer ${key}` } })
  )

for (const kind of Stores.kinds) {
  const { address, missing, name } = kind
  describe.skipIf(missing !== undefined)(`keys ${Stores.titleEnd(kind)}`, () => {
    it("are issued, changed, revoked, shown, verified and logged by random commands as the model predicts", async () => {
      let now = START
      const store = await open(await address(), () => now)
      const run = async (commands: ReadonlyArray<Command>): Promise<void> => {
        now = Math.ceil(now / DAY) * DAY + 9 * 3_600_000
        const models: Array<Model> = []
        for (const step of commands) {
          if (step.do === "wait") {
            now += step.ms
            continue
          }
          if (step.do === "issue") {
            const issued = await store.keys.issue({
              plan: "Enterprise",
              limits: step.limits,
              expires: step.inMs === undefined ? "never" : { inMs: step.inMs }
            })
            models.push({
              ...{ id: issued.id, key: issued.key, limits: step.limits },
              ...{ label: null, account: null, metadata: null },
              expiresAt: step.inMs === undefined ? undefined : now + step.inMs,
              ...{ revokedAt: undefined, used: new Map(), actions: ["issued"] }
            })
            continue
          }
          const model = models[step.key]
          if (model === undefined) continue
          const isRevoked = model.revokedAt !== undefined
          if (step.do === "request") {
            const isValid = !isRevoked && (model.expiresAt === undefined || now < model.expiresAt)
            const response = await sendList(store, model.key)
            expect(response.status === 401).toBe(!isValid)
            const day = Math.floor(now / DAY)
            if (response.status === 200) model.used.set(day, (model.used.get(day) ?? 0) + 1)
          } else if (step.do === "revoke") {
            await store.keys.revoke(model.id)
            model.revokedAt ??= now
            if (!isRevoked) model.actions.push("revoked")
          } else if (isRevoked) {
            const change =
              step.do === "unban" ? store.keys.unban(model.id) : store.keys.set(model.id, { label: "late" })
            await expect(change).rejects.toMatchObject({ _tag: "ApiKeyRevoked" })
          } else if (step.do === "unban") {
            await store.keys.unban(model.id)
            model.actions.push("unbanned")
          } else {
            const before = { ...model }
            if (step.do === "set") {
              const { account, label, limits, metadata } = step
              Object.assign(model, { account, label, limits, metadata })
              await store.keys.set(model.id, { account, label, limits, metadata })
            } else {
              model.expiresAt = now + step.inMs
              await store.keys.set(model.id, { expires: { inMs: step.inMs } })
            }
            const isUnchanged =
              before.limits.perMinute === model.limits.perMinute &&
              before.limits.perDay === model.limits.perDay &&
              before.label === model.label &&
              before.account === model.account &&
              before.metadata === model.metadata &&
              before.expiresAt === model.expiresAt
            if (!isUnchanged) model.actions.push("changed")
          }
        }
        const isOurs = ({ id }: { readonly id: string }) => models.some((model) => model.id === id)
        const listed = (await store.keys.list()).filter(isOurs)
        expect((await store.keys.list({ account: "acme" })).filter(isOurs)).toEqual(
          listed.filter(({ account }) => account === "acme")
        )
        expect(listed).toHaveLength(models.length)
        for (const [index, model] of models.entries()) {
          const verified = await store.keys.verify(model.key)
          const shown = await store.keys.show(model.id)
          expect(listed[index]).toMatchObject({ id: model.id, usage: shown.usage })
          const { account, expiresAt, label, limits, metadata, revokedAt } = model
          expect(shown).toMatchObject({ expiresAt, limits, revokedAt, label: label ?? undefined })
          expect([shown.account, shown.metadata]).toEqual([account ?? undefined, metadata ?? undefined])
          const isExpired = expiresAt !== undefined && expiresAt <= now
          expect(verified).toEqual(revokedAt !== undefined || isExpired ? undefined : shown)
          const used = model.used.get(Math.floor(now / DAY)) ?? 0
          expect(shown.usage.day).toMatchObject({ used, remaining: Math.max(limits.perDay - used, 0) })
          const log = await store.keys.log(model.id)
          expect(log.map(({ action }) => action)).toEqual(model.actions)
        }
      }
      await fc.assert(
        fc.asyncProperty(
          fc
            .array(command, { maxLength: 25, size: "max" })
            .map((rest) => [
              { do: "issue" as const, limits: { perMinute: 5, perDay: 9 }, inMs: undefined },
              ...rest
            ]),
          run
        ),
        { numRuns: name === "memory" ? 100 : 15 }
      )
    }, 120_000)

    it("have the actor of a change in the log, and the day of their last use in the list", async () => {
      const store = await open(await address(), () => START)
      const used = await store.keys.issue({ plan: "Free" })
      const unused = await store.keys.issue({ plan: "Free" })
      expect((await sendList(store, used.key)).status).toBe(200)
      const days = async () => (await store.keys.list()).map(({ lastSeenDay }) => lastSeenDay)
      await expect.poll(days, { timeout: 60_000 }).toEqual([20_500, undefined])
      const [event] = await store.keys.log(unused.id)
      expect(event?.actor).toBe(os.userInfo().username)
      expect(event?.actor).not.toBe("unknown")
      expect(event?.actor).toMatch(/./)
    })
  })
}
