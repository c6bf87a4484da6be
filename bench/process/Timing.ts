/** Times calls and measures memory within this process. */
import * as v8 from "node:v8"
import * as vm from "node:vm"

v8.setFlagsFromString("--expose-gc")

/** Collects garbage. */
export const gc: () => void = vm.runInNewContext("gc")

/** The last result of a measured call; without a use, V8 could optimize the call away. */
export let lastResult: unknown

export const use = (result: unknown): void => {
  lastResult = result
}

/** The number of calls in a batch, so large that the time for reading the clock does not matter. */
export const BATCH = 1_000
const WARM_UP_MS = 250
const TIMED_MS = 500

/** Returns the CPU time of this process in microseconds; unlike elapsed time, other processes hardly change it. */
const cpuMicros = (): number => {
  const { system, user } = process.cpuUsage()
  return system + user
}

/** Returns the nanoseconds of CPU time per call, garbage collection included; each batch makes `BATCH` calls. */
export const time = (batch: (index: number) => void): number => {
  let count = 0
  const repeat = (ms: number): number => {
    const first = count
    const began = cpuMicros()
    while (cpuMicros() < began + ms * 1_000) batch(count++)
    return ((cpuMicros() - began) * 1_000) / ((count - first) * BATCH)
  }
  repeat(WARM_UP_MS)
  gc()
  return repeat(TIMED_MS)
}
