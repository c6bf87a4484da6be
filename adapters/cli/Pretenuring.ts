/** Controls where V8 allocates objects. */
import { setFlagsFromString } from "node:v8"

/**
 * Stops V8 from allocating new objects directly in the old generation (pretenuring). Without this call, requests took
 * up to twice the CPU time in about half of all server processes (docs/decisions/speed.md#where-v8-allocates-objects).
 */
export const disable = (): void => setFlagsFromString("--no-allocation-site-pretenuring")
