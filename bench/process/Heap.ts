/** Measures the live memory of this process. */
import * as v8 from "node:v8"
import * as vm from "node:vm"

v8.setFlagsFromString("--expose-gc")
const gc: () => void = vm.runInNewContext("gc")

/** Collects garbage. */
export const collect = (): void => gc()

/** Returns the bytes in use after a garbage collection, on the heap and in buffers outside it. */
export const usedBytes = (): number => {
  collect()
  // The second collection frees what the first one finalized, such as buffers outside of the heap.
  collect()
  const { external, heapUsed } = process.memoryUsage()
  return heapUsed + external
}
