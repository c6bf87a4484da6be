/**
 * Simulates many nodes on shared stores, in virtual time: clients send requests at random times, nodes count them with
 * the batches of the storage adapters, stores decide with the step function of the core, and an oracle judges the run.
 * The settings determine a run completely.
 */
import * as Batch from "../../adapters/storage/Batch.ts"
import * as BanPolicy from "../../core/limits/BanPolicy.ts"
import type { Policy, Verdict } from "../../core/limits/RateLimit.ts"
import * as Distributions from "./Distributions.ts"
import * as Keys from "./Keys.ts"
import * as Oracle from "./Oracle.ts"
import type { Settings } from "./Settings.ts"
import { type Batching, make as makeNode, type SimulatedNode } from "./SimulatedNode.ts"
import * as StoreModel from "./StoreModel.ts"
import * as VirtualTime from "./VirtualTime.ts"

/** The results of a run; times are in milliseconds. */
export interface Report {
  readonly requests: number
  readonly admitted: number
  readonly limited: number
  readonly banned: number
  readonly unavailable: number
  readonly overAdmissions: number
  /** Number of keys with an admission over their limits. */
  readonly overKeys: number
  /** Number of admissions whose counts were lost in a failover. */
  readonly lostAdmissions: number
  /**
   * Admitted requests as a share of the requests that an ideal limiter would have admitted; slightly above 1 if
   * requests are decided later than they arrive.
   */
  readonly shareOfAllowed: number
  readonly keys: number
  readonly statements: number
  readonly statementsPerRequest: number
  /** The number of members per statement. */
  readonly batch: { readonly mean: number; readonly p50: number; readonly p99: number; readonly max: number }
  readonly latency: { readonly p50: number; readonly p99: number; readonly max: number }
  /** Share of the time for which the cores were busy: the mean over all stores, and that of the busiest store. */
  readonly utilization: { readonly mean: number; readonly max: number }
  readonly mistakes: Oracle.Mistakes
}

/** A report, and the number of events of the run. */
export interface Run {
  readonly report: Report
  readonly events: number
}

/** The purposes of the streams of random numbers. */
const purposes = { arrivals: 1, keys: 2, nodes: 3, network: 4, skew: 5, retries: 6, store: 100 } as const

/** Runs a simulation; tests pass faulty batching. */
export const run = (settings: Settings, batching: Batching = Batch.make): Run => {
  const { clock, failover, nodes, rate, seconds, seed, skewMs, startMs, stores } = settings
  const stream = (purpose: number) => Distributions.stream(seed, purpose)
  const random = {
    arrivals: stream(purposes.arrivals),
    keys: stream(purposes.keys),
    nodes: stream(purposes.nodes),
    network: stream(purposes.network),
    skew: stream(purposes.skew),
    retries: stream(purposes.retries)
  }
  const endMs = seconds * 1_000
  const time = VirtualTime.make(startMs)
  const oracle = Oracle.make(startMs, Keys.planOf)
  const models = Array.from({ length: stores }, (_, index) =>
    StoreModel.make(
      time,
      stream(purposes.store + index),
      { cost: settings.cost, startMs, endMs, failover: index === 0 ? failover : undefined },
      oracle.onStepped
    )
  )
  const options = {
    batching,
    stores: models,
    storeOf: (key: number) => Keys.storeOf(key, stores),
    maxSize: settings.maxSize,
    concurrency: settings.concurrency,
    timeoutMs: settings.timeoutMs,
    delayMs: () => Distributions.delay(random.network, settings.network),
    onSent: oracle.onSent,
    onReceived: oracle.onReceived
  }
  const cluster = Array.from({ length: nodes }, (_, index) => ({
    count: makeNode(time, index, options),
    skewMs: Math.round((2 * random.skew() - 1) * skewMs)
  }))
  const drawNode = (): { readonly count: SimulatedNode; readonly skewMs: number } => {
    const node = cluster[Math.floor(random.nodes() * nodes)]
    if (node === undefined) throw new Error("the list of nodes is empty")
    return node
  }

  const send = (key: number): void => {
    const node = drawNode()
    const now = clock === "nodes" ? startMs + Math.floor(time.now()) + node.skewMs : undefined
    const request = oracle.onArrived(key, time.now())
    const policy: Policy = { plan: Keys.planOf(key), ban: BanPolicy.standard }
    node.count({ request, key, policy, now }, (verdict) => {
      oracle.onEnded(request, verdict, time.now())
      if (verdict?.outcome === "limited") retry(key, verdict)
    })
  }
  const retry = (key: number, { retryAfter }: Verdict): void => {
    if (random.retries() >= settings.retries || time.now() + retryAfter * 1_000 > endMs) return
    time.after(retryAfter * 1_000, () => send(key))
  }

  const drawRank = Distributions.zipf(settings.keys, settings.exponent)
  const arrive = (): void => {
    time.after((Distributions.exponential(random.arrivals) * 1_000) / rate, () => {
      if (time.now() > endMs) return
      send(random.keys() < settings.hot ? Keys.HOT : drawRank(random.keys))
      arrive()
    })
  }
  arrive()
  const events = time.run()
  return {
    events,
    report: reportOf(
      oracle.judge(),
      models.map((model) => model.figures()),
      settings
    )
  }
}

const reportOf = (
  { allowed, keys, latencies, mistakes, outcomes, over, requests }: Oracle.Judgment,
  stores: ReadonlyArray<StoreModel.StoreFigures>,
  { cost, seconds }: Settings
): Report => {
  const sum = (of: (figures: StoreModel.StoreFigures) => number): number =>
    stores.reduce((total, figures) => total + of(figures), 0)
  const statements = sum((figures) => figures.statements)
  const utilizations = stores.map(({ busyMs }) => busyMs / (seconds * 1_000 * cost.cores))
  return {
    requests,
    ...outcomes,
    overAdmissions: over.admissions,
    overKeys: over.keys,
    lostAdmissions: sum((figures) => figures.lostAdmissions),
    shareOfAllowed: allowed === 0 ? 1 : outcomes.admitted / allowed,
    keys,
    statements,
    statementsPerRequest: statements / requests,
    batch: sizesOf(stores),
    latency: {
      p50: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
      p99: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
      max: latencies.at(-1) ?? 0
    },
    utilization: {
      mean: utilizations.reduce((total, share) => total + share, 0) / utilizations.length,
      max: Math.max(...utilizations)
    },
    mistakes
  }
}

/** Computes the mean and the percentiles of the sizes of all statements. */
const sizesOf = (stores: ReadonlyArray<StoreModel.StoreFigures>): Report["batch"] => {
  const counts = new Map<number, number>()
  for (const { sizes } of stores) {
    for (const [size, count] of sizes) counts.set(size, (counts.get(size) ?? 0) + count)
  }
  const ascending = [...counts].toSorted(([first], [second]) => first - second)
  const total = ascending.reduce((sum, [, count]) => sum + count, 0)
  const sizeAt = (share: number): number => {
    let seen = 0
    for (const [size, count] of ascending) {
      seen += count
      if (seen >= total * share) return size
    }
    return 0
  }
  const members = ascending.reduce((sum, [size, count]) => sum + size * count, 0)
  return {
    mean: members / Math.max(total, 1),
    p50: sizeAt(0.5),
    p99: sizeAt(0.99),
    max: ascending.at(-1)?.[0] ?? 0
  }
}
