/** Backends with a fault in: Auth. */
import type { Fault } from "../Fault.ts"

export const faults: ReadonlyArray<Fault> = []
