/** Backends with a fault in: Concurrency. */
import type { Fault } from "../Fault.ts"

export const faults: ReadonlyArray<Fault> = []
