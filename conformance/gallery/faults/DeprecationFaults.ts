/** Backends with a fault in: Deprecation. */
import type { Fault } from "../Fault.ts"

export const faults: ReadonlyArray<Fault> = []
