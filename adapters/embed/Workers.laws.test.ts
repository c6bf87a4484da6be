/** Checks on every store when workers that share a key are banned; see also `core/limits/Workers.laws.test.ts`. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as Plan from "../../core/limits/Plan.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as Workers from "../../core/limits/Workers.fixture.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import { Memory } from "../memory/index.ts"
import * as Databases from "../sql/Databases.fixture.ts"

const SECOND = 1_000
const MINUTE = 60_000
const DAY = 86_400_000
const START = 20_500 * DAY

/** The stores under test, each empty and with a clock that the test controls. */
const stores = [
  {
    name: "memory",
    missing: undefined,
    layer: Effect.succeed(Memory.layerWith({ clock: "service" }))
  },
  ...Databases.kinds.map(({ create, missing, name }) => ({
    name,
    missing,
    layer: Effect.map(create, (database) => database.stores({ clock: "service" }))
  }))
]

/** Runs a simulation of workers that share one key, and returns their requests with the verdicts. */
const run = (
  { layer }: (typeof stores)[number],
  simulation: Workers.Simulation,
  plan: Plan.Plan
): Promise<ReadonlyArray<Workers.Sent>> =>
  Effect.gen(function* () {
    let time = START
    const machine = yield* Clock.Clock
    const clock: Clock.Clock = {
      currentTimeMillisUnsafe: () => time,
      currentTimeMillis: Effect.sync(() => time),
      currentTimeNanosUnsafe: () => BigInt(time) * 1_000_000n,
      currentTimeNanos: Effect.sync(() => BigInt(time) * 1_000_000n),
      monotonicTimeNanosUnsafe: () => machine.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: machine.monotonicTimeNanos,
      sleep: (duration) => machine.sleep(duration)
    }
    const built = Effect.provideService(Layer.build(yield* layer), Clock.Clock, clock)
    const limits = Context.get(yield* built, RateLimitStore)
    const policy = { plan, ban: BanPolicy.standard }
    return yield* Effect.promise(() =>
      Workers.runAsync(simulation, (now) => {
        time = now
        return Effect.runPromise(
          limits.consume?.("key:a", now, policy) ??
            limits.modify("key:a", (state) => RateLimit.step(state, now, policy))
        )
      })
    )
  }).pipe(Effect.scoped, Effect.runPromise)

/** Returns how late a worker retries, in milliseconds below `max`; it differs for each number of seconds. */
const lateness = (retryAfterMs: number, max: number): number =>
  max === 0 ? 0 : ((retryAfterMs / SECOND) * 137) % max

const bans = (sent: ReadonlyArray<Workers.Sent>) => sent.filter(({ verdict }) => verdict.outcome === "banned")

for (const store of stores) {
  const title = `workers on ${store.name}${store.missing === undefined ? "" : ` (skipped, ${store.missing})`}`
  describe.skipIf(store.missing !== undefined)(title, () => {
    it("are not banned if they respect Retry-After: 6 workers at 6 per minute for an hour, in any phase", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.nat(MINUTE), { minLength: 6, maxLength: 6 }),
          fc.constantFrom(0, 500),
          async (phases, jitterMs) => {
            const sent = await run(
              store,
              Workers.closedLoop({
                starts: phases.map((phase) => START + phase),
                end: START + 60 * MINUTE,
                work: () => 1,
                wait: (retryAfterMs) => retryAfterMs + lateness(retryAfterMs, jitterMs)
              }),
              { perMinute: 6, perDay: Plan.maxRequests }
            )
            expect(bans(sent)).toEqual([])
            expect(sent.at(-1)?.now).toBeGreaterThan(START + 58 * MINUTE)
          }
        ),
        { numRuns: 5 }
      )
    })

    it("are not banned if they respect Retry-After: 60 workers at 60 per minute, up to 500 ms late", async () => {
      const sent = await run(
        store,
        Workers.closedLoop({
          starts: Array.from({ length: 60 }, (_, worker) => START + worker * 37),
          end: START + 8 * MINUTE,
          work: () => 1,
          wait: (retryAfterMs) => retryAfterMs + lateness(retryAfterMs, 500)
        }),
        { perMinute: 60, perDay: Plan.maxRequests }
      )
      expect(bans(sent)).toEqual([])
      expect(sent.at(-1)?.now).toBeGreaterThan(START + 6 * MINUTE)
    })

    it("are not banned within an hour if they wait at most 30 s, at one request per minute", async () => {
      const sent = await run(
        store,
        Workers.closedLoop({
          starts: [START],
          end: START + 60 * MINUTE,
          work: () => 1,
          wait: (retryAfterMs) => Math.min(retryAfterMs, 30 * SECOND)
        }),
        { perMinute: 1, perDay: Plan.maxRequests }
      )
      expect(bans(sent)).toEqual([])
    })

    it("are admitted after a denial if they retry exactly after Retry-After", async () => {
      const plan = { perMinute: 20, perDay: Plan.maxRequests }
      const first = await run(store, Workers.burst(START, 40), plan)
      const retried = first.slice(40)
      expect(retried).toHaveLength(20)
      expect(retried.filter(({ verdict }) => verdict.outcome !== "admitted")).toEqual([])
    })

    it("are banned within three minutes at a constant rate of four times the limit", async () => {
      const plan = { perMinute: 60, perDay: Plan.maxRequests }
      const sent = await run(store, Workers.constantRate(START, START + 10 * MINUTE, 240), plan)
      expect(bans(sent)[0]?.now).toBeLessThanOrEqual(START + 3 * MINUTE)
    })

    it("are not banned if eight of them retry every 30 s after the daily limit is exhausted", async () => {
      const simulation = Workers.closedLoop({
        starts: Array.from({ length: 8 }, (_, worker) => START + worker * SECOND),
        end: START + 30 * MINUTE,
        work: () => 1,
        wait: () => 30 * SECOND
      })
      expect(bans(await run(store, simulation, { perMinute: 60, perDay: 1 }))).toEqual([])
    })

    it("are banned within ten minutes if one retries every second after the daily limit of a Free key is exhausted", async () => {
      const simulation = Workers.closedLoop({
        starts: [START],
        end: START + 20 * MINUTE,
        work: () => 1,
        wait: () => SECOND
      })
      const [ban] = bans(await run(store, simulation, { ...Plan.standard.Free, perDay: 1 }))
      expect(ban?.now).toBeLessThanOrEqual(START + 10 * MINUTE)
    })
  })
}
