/** Generates small runs of every topology, at loads from idle to overload; there are few keys, so that limits are reached. */
import * as fc from "fast-check"
import { costs, defaults, type Settings } from "./Settings.ts"

const networks = [
  { minMs: 0.02, meanMs: 0.02 },
  { minMs: 0.5, meanMs: 0.5 },
  { minMs: 20, meanMs: 5 }
]

export const settings: fc.Arbitrary<Settings> = fc
  .record({
    seed: fc.nat(),
    nodes: fc.constantFrom(1, 2, 5, 40),
    stores: fc.constantFrom(1, 1, 3),
    rate: fc.constantFrom(100, 1_000, 20_000),
    // Noon, and half a second before midnight.
    startMs: fc.constantFrom(defaults.startMs, Date.UTC(2026, 10, 24) - 500),
    keys: fc.constantFrom(1, 10, 1_000),
    hot: fc.constantFrom(0, 0.5, 1),
    cost: fc.constantFrom(costs.postgresql, costs.redis, { ...costs.postgresql, cores: 4 }),
    network: fc.constantFrom(...networks),
    maxSize: fc.constantFrom(1, 3, 64),
    concurrency: fc.constantFrom(1, 2, 4),
    timeoutMs: fc.constantFrom(20, 1_000)
  })
  // Runs with higher rates are shorter, so that each run has at most about 2,000 requests.
  .map((given) => ({ ...given, failover: undefined, seconds: Math.min(2_000 / given.rate, 10) }))
