/**
 * Models a store of rate-limit states with a given capacity. It computes states with `RateLimit.step`; PostgreSQL and
 * Redis use functions whose equivalence the adapters' laws verify.
 *
 * A statement takes a fixed time plus a time per member, on one of the store's cores. While it runs, other statements
 * with one of its keys wait, as they would for row locks. Its steps are computed when it ends, by the store's clock.
 */
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import * as Random from "../Random.ts"
import type { Request } from "./Oracle.ts"
import type { Failover, Settings } from "./Settings.ts"
import type { VirtualTime } from "./VirtualTime.ts"

/** The result of a statement: the verdicts in the order of its requests, or "lost" if the connection was lost. */
export type Result = ReadonlyArray<RateLimit.Verdict> | "lost"

interface Statement {
  readonly requests: ReadonlyArray<Request>
  readonly done: (result: Result) => void
}

/** The share of a statement's duration that is random, with an exponential distribution. */
const RANDOM_SHARE = 0.1

export type Store = ReturnType<typeof make>

/** Creates an empty store; the first count of a key creates its state. */
export const make = (
  time: VirtualTime,
  random: Random.Random,
  { cost, seconds, startMs }: Settings,
  failover: Failover | undefined
) => {
  let states = new Map<number, RateLimit.State>()
  let admissions = 0
  let isAway = false
  let waiting: Array<Statement> = []
  const locked = new Set<number>()
  const running = new Set<Statement>()

  const step = (request: Request): RateLimit.Verdict => {
    const atMs = startMs + Math.floor(time.now)
    const policy = { plan: request.plan, ban: BanPolicy.standard }
    const [verdict, after] = RateLimit.step(states.get(request.key), atMs, policy)
    states.set(request.key, after)
    if (verdict.outcome === "admitted") admissions++
    request.steppedMs = atMs
    return verdict
  }

  const dispatch = (): void => {
    while (running.size < cost.cores) {
      const index = waiting.findIndex(({ requests }) => requests.every(({ key }) => !locked.has(key)))
      const [statement] = index < 0 ? [] : waiting.splice(index, 1)
      if (statement === undefined) return
      begin(statement)
    }
  }

  const begin = (statement: Statement): void => {
    const { done, requests } = statement
    running.add(statement)
    for (const { key } of requests) locked.add(key)
    store.sizes.push(requests.length)
    const meanMs = (cost.statementMicros + cost.memberMicros * requests.length) / 1_000
    const ms = meanMs * (1 - RANDOM_SHARE + RANDOM_SHARE * Random.exponential(random))
    store.busyMs += Math.max(Math.min(ms, seconds * 1_000 - time.now), 0)
    time.after(ms, () => {
      // A failover has interrupted it.
      if (!running.has(statement)) return
      const verdicts = requests.map(step)
      running.delete(statement)
      for (const { key } of requests) locked.delete(key)
      dispatch()
      done(verdicts)
    })
  }

  /** Loses what has changed since a copy of the states was made, and interrupts all statements. */
  const fail = (copy: typeof states, copiedAdmissions: number, awayMs: number): void => {
    states = copy
    store.lostAdmissions = admissions - copiedAdmissions
    isAway = true
    time.after(awayMs, () => {
      isAway = false
    })
    const interrupted = [...running, ...waiting]
    running.clear()
    locked.clear()
    waiting = []
    for (const { done } of interrupted) done("lost")
  }
  if (failover !== undefined) {
    const { atMs, awayMs } = failover
    const lostMs = Math.min(failover.lostMs, atMs)
    time.after(atMs - lostMs, () => {
      const [copy, copiedAdmissions] = [new Map(states), admissions]
      time.after(lostMs, () => fail(copy, copiedAdmissions, awayMs))
    })
  }

  const store = {
    /** The number of members of each statement. */
    sizes: [] as number[],
    /** The sum of the milliseconds for which each core was busy, until the end of the load. */
    busyMs: 0,
    /** Number of admissions whose counts were lost in a failover. */
    lostAdmissions: 0,
    submit: (requests: ReadonlyArray<Request>, done: (result: Result) => void): void => {
      if (isAway) done("lost")
      else {
        waiting.push({ requests, done })
        dispatch()
      }
    }
  }
  return store
}
