/** Counts requests with `rate-limiter-flexible`: for each plan, a limiter of the minute and one of the day. */
import type { Redis } from "ioredis"
import type { Pool } from "pg"
import {
  type IRateLimiterStoreOptions,
  RateLimiterPostgres,
  RateLimiterRedis,
  RateLimiterRes,
  RateLimiterUnion
} from "rate-limiter-flexible"
import { callers } from "../Catalogue.ts"
import type { Count } from "./FastifyApp.ts"

/** The windows; their names are prefixes of keys, or names of tables. */
const windows = [
  { name: "minute", seconds: 60, pointsOf: "perMinute" },
  { name: "day", seconds: 86_400, pointsOf: "perDay" }
] as const

type Limiter = RateLimiterPostgres | RateLimiterRedis

/** Returns the longest wait of the exceeded limits; rethrows a rejection for another reason. */
const longestWait = (rejection: unknown): number => {
  const waits = Object.values(rejection ?? {}).map((result) =>
    result instanceof RateLimiterRes ? result.msBeforeNext : Number.NaN
  )
  const wait = Math.max(...waits)
  if (!Number.isFinite(wait)) throw rejection
  return wait
}

const make = async (
  create: (options: Omit<IRateLimiterStoreOptions, "storeClient">) => Promise<Limiter>
): Promise<Count> => {
  const byPlan = new Map<number, RateLimiterUnion>()
  for (const caller of callers.values()) {
    if (byPlan.has(caller.perMinute)) continue
    const limiters: Array<Limiter> = []
    for (const { name, pointsOf, seconds } of windows) {
      const points = caller[pointsOf]
      // Requests over the limit are denied without a query, which the documentation recommends.
      limiters.push(
        await create({ keyPrefix: name, points, duration: seconds, inMemoryBlockOnConsumed: points })
      )
    }
    byPlan.set(caller.perMinute, new RateLimiterUnion(...limiters))
  }
  return async ({ id, perMinute }) => {
    try {
      const minute = (await byPlan.get(perMinute)?.consume(id))?.minute
      if (minute === undefined) throw new Error(`no limiter for a plan of ${perMinute}`)
      return { isAdmitted: true, remaining: minute.remainingPoints, resetsInMs: minute.msBeforeNext }
    } catch (rejection) {
      return { isAdmitted: false, remaining: 0, resetsInMs: longestWait(rejection) }
    }
  }
}

/** Counts in tables of a PostgreSQL database, which are created. */
export const inPostgres = (pool: Pool): Promise<Count> =>
  make(
    (options) =>
      new Promise((resolve, reject) => {
        const limiter = new RateLimiterPostgres({ ...options, storeClient: pool }, (error?: Error) =>
          error ? reject(error) : resolve(limiter)
        )
      })
  )

/** Counts in Redis. */
export const inRedis = (client: Redis): Promise<Count> =>
  make(async (options) => new RateLimiterRedis({ ...options, storeClient: client }))
