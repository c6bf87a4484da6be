/**
 * Simulates many nodes on shared stores, in virtual time: clients send requests at random times, nodes count them with
 * the batches and deadlines of the storage adapters, stores decide with the step function of the core, and an oracle
 * judges the run. The settings determine a run completely.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Batch from "../../adapters/storage/Batch.ts"
import * as BoundedCall from "../../adapters/storage/BoundedCall.ts"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import * as Plan from "../../core/limits/Plan.ts"
import type { Verdict } from "../../core/limits/RateLimit.ts"
import * as Random from "../Random.ts"
import * as Oracle from "./Oracle.ts"
import type { Settings } from "./Settings.ts"
import * as Store from "./Store.ts"
import { VirtualTime } from "./VirtualTime.ts"

/** The results of a run. */
export type Report = ReturnType<typeof run>

/** The function with which nodes create their batches; tests pass observed and faulty ones. */
export type Batching = typeof Batch.make<Oracle.Request, Verdict, "lost">

/** The rank of the hot key; the others have ranks from 1 on, by popularity. */
const HOT = 0

/** Hashes a rank, so that neither the plan nor the store of a key depends on its popularity. */
const hash = (rank: number): number => {
  let mixed = Math.imul((rank ^ 0x9e3779b9) | 0, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** Returns the plan of a key: of 100 keys, 80 are on Free, 15 on Pro and 5 on Business; the hot key is on Business. */
const planOf = (rank: number): Plan.Plan => {
  const drawn = rank === HOT ? 100 : hash(rank) % 100
  return drawn < 80 ? Plan.standard.Free : drawn < 95 ? Plan.standard.Pro : Plan.standard.Business
}

/** Runs a simulation. */
export const run = (settings: Settings, batching: Batching = Batch.make) => {
  const { concurrency, failover, maxSize, network, startMs } = settings
  const endMs = settings.seconds * 1_000
  /** Creates the random numbers for one purpose; drawing them does not affect the others. */
  const randomFor = (purpose: number): Random.Random =>
    Random.seeded(Math.imul(settings.seed, 0x9e3779b1) + Math.imul(purpose, 0x85ebca6b))
  const [arrivals, keys, nodes, delays] = [randomFor(1), randomFor(2), randomFor(3), randomFor(4)]
  const time = new VirtualTime(startMs)
  const requests: Array<Oracle.Request> = []
  const stores = Array.from({ length: settings.stores }, (_, index) =>
    Store.make(time, randomFor(100 + index), settings, index === 0 ? failover : undefined)
  )
  const runFork = Effect.runForkWith(time.context)
  const afterDelay = (action: () => void) =>
    time.after(network.minMs + network.meanMs * Random.exponential(delays), action)

  const makeBatch = (store: Store.Store): Batch.Submit<Oracle.Request, Verdict, "lost"> => {
    const send = ({ take }: Batch.Handle<Oracle.Request>) =>
      Effect.callback<ReadonlyArray<Exit.Exit<Verdict, "lost">>, "lost">((resume) => {
        const members = take()
        const receive = (result: Store.Result): void =>
          resume(result === "lost" ? Effect.fail(result) : Effect.succeed(result.map(Exit.succeed)))
        afterDelay(() => store.submit(members, (result) => afterDelay(() => receive(result))))
      })
    // `runSync` would replace the scheduler of virtual time.
    const exit = runFork(batching({ run: send, maxSize, concurrency })).pollUnsafe()
    if (exit === undefined || Exit.isFailure(exit)) throw new Error("a batch must be created synchronously")
    return exit.value
  }
  const cluster = Array.from({ length: settings.nodes }, () => ({
    batches: stores.map(makeBatch),
    call: BoundedCall.make<"lost">(settings.timeoutMs, (cause) =>
      Effect.fail(new StoreUnavailable({ retryable: true, cause }))
    )
  }))

  const send = (key: number): void => {
    const node = cluster[Random.integerBelow(nodes, cluster.length)]
    const submit = node?.batches[Math.floor((hash(key) / 2 ** 32) * stores.length)]
    if (node === undefined || submit === undefined) throw new Error("there is no node or no store")
    const unseen = { endedMs: 0, steppedMs: 0, outcome: undefined }
    const request: Oracle.Request = { key, plan: planOf(key), arrivedMs: time.now, ...unseen }
    requests.push(request)
    const fiber = runFork(node.call.submit<Verdict>((end) => submit(request, end)))
    fiber.addObserver((exit) => {
      request.outcome = Exit.isSuccess(exit) ? exit.value.outcome : "unavailable"
      request.endedMs = time.now
    })
  }
  const drawRank = Random.zipf(settings.keys)
  const arrive = (): void => {
    time.after((Random.exponential(arrivals) * 1_000) / settings.rate, () => {
      if (time.now > endMs) return
      send(keys() < settings.hot ? HOT : drawRank(keys))
      arrive()
    })
  }
  arrive()
  time.run()

  const { latencies, ...judgment } = Oracle.judge(requests, startMs)
  const sizes = stores.flatMap((store) => store.sizes).toSorted((first, second) => first - second)
  return {
    ...judgment,
    /** Milliseconds from the arrival of a request to its verdict. */
    latency: {
      p50: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
      p99: latencies[Math.floor(latencies.length * 0.99)] ?? 0
    },
    /** Number of admissions whose counts were lost in a failover. */
    lostAdmissions: stores.reduce((sum, store) => sum + store.lostAdmissions, 0),
    statementsPerRequest: sizes.length / judgment.requests,
    /** The number of members per statement. */
    batch: {
      mean: sizes.reduce((sum, size) => sum + size, 0) / Math.max(sizes.length, 1),
      p99: sizes[Math.ceil(sizes.length * 0.99) - 1] ?? 0,
      max: sizes.at(-1) ?? 0
    },
    /** Share of the time for which the cores of the busiest store were busy. */
    utilization: Math.max(...stores.map(({ busyMs }) => busyMs)) / (endMs * settings.cost.cores)
  }
}
