/** Places faults at a storage port. */
import type { SpoiledPorts, Where } from "../Fault.ts"

export const pets = (spoil: NonNullable<SpoiledPorts["pets"]>): Where => ({ at: "port", pets: spoil })

export const limits = (spoil: NonNullable<SpoiledPorts["limits"]>): Where => ({ at: "port", limits: spoil })

export const keys = (spoil: NonNullable<SpoiledPorts["keys"]>): Where => ({ at: "port", keys: spoil })
