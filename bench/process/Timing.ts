/** Measures the time of a call with mitata: several repeats after a warm-up, garbage collection included. */
import { measure } from "mitata"
import * as Heap from "./Heap.ts"
import { REPEATS } from "./Repeats.ts"

const WARM_UP_MS = 250
const REPEAT_MS = 150

/** Minimum number of samples in a repeat, enough to include garbage collections. */
const MIN_SAMPLES = 8

/** Number of calls in a sample, so large that the time for reading the clock does not matter. */
const BATCH = 512

/**
 * Returns nanoseconds per call, one value per repeat; `call` makes `calls` calls and uses their results. Each value is
 * the mean of all samples, because a median would ignore the samples with garbage collections.
 */
export const nanosPerCall = async (call: () => unknown, calls = 1): Promise<ReadonlyArray<number>> => {
  await repeat(call, WARM_UP_MS)
  const values: Array<number> = []
  for (let count = 0; count < REPEATS; count++) values.push((await repeat(call, REPEAT_MS)) / calls)
  return values
}

const repeat = async (call: () => unknown, ms: number): Promise<number> => {
  const { avg } = await measure(call, {
    gc: Heap.collect,
    min_cpu_time: ms * 1_000_000,
    min_samples: MIN_SAMPLES,
    batch_samples: BATCH,
    // By default, mitata discards the two slowest samples, and garbage collections with them.
    samples_threshold: Number.MAX_SAFE_INTEGER
  })
  return avg
}
