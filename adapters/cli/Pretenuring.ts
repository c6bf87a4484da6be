/** Controls where V8 allocates objects. */
import { setFlagsFromString } from "node:v8"

/**
 * Stops V8 from allocating objects in the old generation of its heap (pretenuring). Without this call, requests took up
 * to twice the CPU time after about half of all starts (docs/decisions/0049-where-v8-allocates.md).
 */
export const disable = (): void => setFlagsFromString("--no-allocation-site-pretenuring")
