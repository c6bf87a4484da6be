/** Backends with a fault in: ApiKeyStore. */
import type { Fault } from "../Fault.ts"

export const faults: ReadonlyArray<Fault> = []
