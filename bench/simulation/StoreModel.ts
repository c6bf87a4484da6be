/**
 * Models a store of rate-limit states with a given capacity. It computes states with `RateLimit.step`; PostgreSQL and
 * Redis use functions whose equivalence the adapters' laws verify.
 *
 * A statement takes a fixed time plus a time per member, on one of the store's cores. While it runs, other statements
 * with one of its keys wait, as they would for row locks. Its steps are computed when it ends, by the store's clock.
 */
import type * as RateLimit from "../../core/limits/RateLimit.ts"
import { step } from "../../core/limits/RateLimit.ts"
import type { Random } from "../http/Random.ts"
import * as Distributions from "./Distributions.ts"
import type { Failover, StoreCost } from "./Settings.ts"
import type { VirtualTime } from "./VirtualTime.ts"

/** A request to count. */
export interface Count {
  readonly request: number
  readonly key: number
  readonly policy: RateLimit.Policy
  /** The node's time in epoch milliseconds; `undefined` if the store's clock is used. */
  readonly now: number | undefined
}

/** The result of a statement: the verdicts in the order of its counts, or "lost" if the connection was lost. */
export type Result = ReadonlyArray<RateLimit.Verdict> | "lost"

/** Observes each step when it is computed; `atMs` is the true time, in epoch milliseconds. */
export type OnStep = (count: Count, verdict: RateLimit.Verdict, atMs: number) => void

/** The figures of a store. */
export interface StoreFigures {
  readonly statements: number
  /** The number of statements for each number of members. */
  readonly sizes: ReadonlyMap<number, number>
  /** The sum of the milliseconds for which each core was busy. */
  readonly busyMs: number
  /** Number of states. */
  readonly states: number
  /** Number of admissions whose counts were lost in a failover. */
  readonly lostAdmissions: number
}

/** A store. */
export interface StoreModel {
  readonly submit: (counts: ReadonlyArray<Count>, done: (result: Result) => void) => void
  readonly figures: () => StoreFigures
}

/** The settings of a store. */
export interface StoreOptions {
  readonly cost: StoreCost
  readonly startMs: number
  /** Milliseconds after the start until which `busyMs` is measured. */
  readonly endMs: number
  readonly failover: Failover | undefined
}

interface Statement {
  readonly counts: ReadonlyArray<Count>
  readonly done: (result: Result) => void
  isLost: boolean
}

/** A step that a failover may undo. */
interface LoggedStep {
  readonly atMs: number
  readonly key: number
  readonly before: RateLimit.State | undefined
  readonly isAdmitted: boolean
}

/** The share of a statement's duration that is random, with an exponential distribution. */
const RANDOM_SHARE = 0.1

/** Creates an empty store; the first count of a key creates its state. */
export const make = (
  time: VirtualTime,
  random: Random,
  { cost, endMs, failover, startMs }: StoreOptions,
  onStep: OnStep
): StoreModel => {
  const states = new Map<number, RateLimit.State>()
  const locked = new Set<number>()
  const running = new Set<Statement>()
  const sizes = new Map<number, number>()
  let waiting: Array<Statement> = []
  let log: Array<LoggedStep> = []
  let isUnavailable = false
  let busyMs = 0
  let lostAdmissions = 0

  const execute = ({ counts }: Statement): ReadonlyArray<RateLimit.Verdict> => {
    const atMs = startMs + Math.floor(time.now())
    const mayBeLost = failover !== undefined && time.now() < failover.atMs
    return counts.map((count) => {
      const before = states.get(count.key)
      const [verdict, after] = step(before, count.now ?? atMs, count.policy)
      states.set(count.key, after)
      if (mayBeLost && time.now() > failover.atMs - failover.lostMs) {
        log.push({ atMs: time.now(), key: count.key, before, isAdmitted: verdict.outcome === "admitted" })
      }
      onStep(count, verdict, atMs)
      return verdict
    })
  }

  const isFree = ({ counts }: Statement): boolean => counts.every(({ key }) => !locked.has(key))

  const dispatch = (): void => {
    while (running.size < cost.cores) {
      const index = waiting.findIndex(isFree)
      const [statement] = index < 0 ? [] : waiting.splice(index, 1)
      if (statement === undefined) return
      begin(statement)
    }
  }

  const begin = (statement: Statement): void => {
    const { counts } = statement
    running.add(statement)
    for (const { key } of counts) locked.add(key)
    sizes.set(counts.length, (sizes.get(counts.length) ?? 0) + 1)
    const meanMs = (cost.statementMicros + cost.memberMicros * counts.length) / 1_000
    const durationMs = meanMs * (1 - RANDOM_SHARE + RANDOM_SHARE * Distributions.exponential(random))
    busyMs += Math.max(Math.min(time.now() + durationMs, endMs) - time.now(), 0)
    time.after(durationMs, () => {
      if (statement.isLost) return
      const verdicts = execute(statement)
      running.delete(statement)
      for (const { key } of counts) locked.delete(key)
      dispatch()
      statement.done(verdicts)
    })
  }

  const failOver = ({ atMs, awayMs, lostMs }: Failover): void => {
    isUnavailable = true
    const interrupted = [...running, ...waiting]
    for (const statement of running) statement.isLost = true
    running.clear()
    locked.clear()
    waiting = []
    // From the latest to the earliest, so that the oldest of several states of a key is restored.
    for (const logged of log.toReversed()) {
      if (logged.atMs <= atMs - lostMs) break
      if (logged.before === undefined) states.delete(logged.key)
      else states.set(logged.key, logged.before)
      if (logged.isAdmitted) lostAdmissions++
    }
    log = []
    for (const { done } of interrupted) done("lost")
    time.after(awayMs, () => {
      isUnavailable = false
    })
  }
  if (failover !== undefined) time.after(failover.atMs, () => failOver(failover))

  return {
    submit: (counts, done) => {
      if (isUnavailable) return done("lost")
      waiting.push({ counts, done, isLost: false })
      dispatch()
    },
    figures: () => ({
      statements: [...sizes.values()].reduce((sum, count) => sum + count, 0),
      sizes,
      busyMs,
      states: states.size,
      lostAdmissions
    })
  }
}
