/** A fault that was written from the text of the contract alone, before its author had read a check. */
import type { Where } from "../Fault.ts"

export interface Outsider {
  readonly id: string
  /** Section of the contract that it breaks. */
  readonly section: string
  /** Its behaviour, in one sentence. */
  readonly does: string
  readonly where: Where
  /** The gap of the contract that may allow it, found after the measurement. */
  readonly gap?: string
}

/** Describes one. */
export const outsider = (
  id: string,
  section: string,
  does: string,
  where: Where,
  gap?: string
): Outsider => ({ id, section, does, where, ...(gap === undefined ? {} : { gap }) })
