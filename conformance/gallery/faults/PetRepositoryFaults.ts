/** Backends with a fault in: PetRepository. */
import type { Fault } from "../Fault.ts"

export const faults: ReadonlyArray<Fault> = []
