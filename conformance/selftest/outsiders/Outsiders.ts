/** Collects the broken servers that were written from the contract alone. */
import type { Fault } from "../Fault.ts"
import * as Animals from "./Animals.ts"
import * as Limits from "./Limits.ts"
import * as Requests from "./Requests.ts"

export const outsiders: ReadonlyArray<Fault> = [...Limits.faults, ...Requests.faults, ...Animals.faults]
