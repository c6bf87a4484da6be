/** What is alive in the memory of this process. */
import * as v8 from "node:v8"
import * as vm from "node:vm"

v8.setFlagsFromString("--expose-gc")
const gc: () => void = vm.runInNewContext("gc")

/** Throws away what nothing holds any more. */
export const collect = (): void => gc()

/** Bytes that are held, on the heap and in buffers outside of it. */
export const heldBytes = (): number => {
  collect()
  // What the first round finalizes, such as buffers outside of the heap, goes with the second.
  collect()
  const { external, heapUsed } = process.memoryUsage()
  return heapUsed + external
}
