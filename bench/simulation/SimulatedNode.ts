/** Simulates a node: the batches and deadlines of the storage adapters, connected to stores by a simulated network. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Batch from "../../adapters/storage/Batch.ts"
import * as BoundedCall from "../../adapters/storage/BoundedCall.ts"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import type { Verdict } from "../../core/limits/RateLimit.ts"
import type { Count, StoreModel } from "./StoreModel.ts"
import type { VirtualTime } from "./VirtualTime.ts"

/** The function with which a node creates its batches; tests pass faulty ones. */
export type Batching = typeof Batch.make<Count, Verdict, "lost">

/** The options of all nodes of a run: batching, stores, network and observer. */
export interface NodeOptions {
  readonly batching: Batching
  readonly stores: ReadonlyArray<StoreModel>
  readonly storeOf: (key: number) => number
  readonly maxSize: number
  readonly concurrency: number
  readonly timeoutMs: number
  /** Draws the delay of a message in milliseconds. */
  readonly delayMs: () => number
  /** Called with the requests of a statement when it is sent; `onReceived` is called when its results arrive. */
  readonly onSent: (batch: number, counts: ReadonlyArray<Count>) => void
  readonly onReceived: (counts: ReadonlyArray<Count>) => void
}

/** Counts a request, and calls `done` with its verdict; `undefined` stands for 503. */
export type SimulatedNode = (count: Count, done: (verdict: Verdict | undefined) => void) => void

/** Creates a node; `index` is its number in the run. */
export const make = (time: VirtualTime, index: number, options: NodeOptions): SimulatedNode => {
  const { batching, concurrency, delayMs, maxSize, onReceived, onSent, stores, timeoutMs } = options
  const runFork = Effect.runForkWith(time.context)
  const call = BoundedCall.make<"lost">(
    timeoutMs,
    (cause) => new StoreUnavailable({ retryable: true, cause })
  )

  const send = (store: StoreModel, batch: number, { take }: Batch.Handle<Count>) =>
    Effect.callback<ReadonlyArray<Exit.Exit<Verdict, "lost">>, "lost">((resume) => {
      const counts = take()
      onSent(batch, counts)
      time.after(delayMs(), () =>
        store.submit(counts, (result) =>
          time.after(delayMs(), () => {
            onReceived(counts)
            resume(result === "lost" ? Effect.fail(result) : Effect.succeed(result.map(Exit.succeed)))
          })
        )
      )
    })

  const submits = stores.map((store, storeIndex) => {
    const batch = index * stores.length + storeIndex
    // `runSync` would replace the scheduler of virtual time.
    const creating = runFork(batching({ run: (handle) => send(store, batch, handle), maxSize, concurrency }))
    const exit = creating.pollUnsafe()
    if (exit === undefined || Exit.isFailure(exit)) throw new Error("a batch must be created synchronously")
    return exit.value
  })

  return (count, done) => {
    const submit = submits[options.storeOf(count.key)]
    if (submit === undefined) throw new Error(`key ${count.key} belongs to no store`)
    const fiber = runFork(call.submit<Verdict>((end) => submit(count, end)))
    fiber.addObserver((exit) => done(Exit.isSuccess(exit) ? exit.value : undefined))
  }
}
