/** Defines an outsider: a fault that was written from the text of the contract, before its author had read a check. */
import type { Where } from "../Fault.ts"

export interface Outsider {
  readonly id: string
  /** The section of the contract that it breaks. */
  readonly section: string
  /** The faulty behavior, in one sentence. */
  readonly does: string
  readonly where: Where
  /** The gap in the contract that may allow the behavior; found after the measurement. */
  readonly gap?: string
}

export const outsider = (
  id: string,
  section: string,
  does: string,
  where: Where,
  gap?: string
): Outsider => ({ id, section, does, where, ...(gap === undefined ? {} : { gap }) })
