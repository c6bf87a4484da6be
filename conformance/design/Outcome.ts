/** Defines what a request leads to by our decisions: an error of the catalogue, or a success. */
import { catalogue, type ErrorCode } from "../../core/errors/ErrorCatalogue.ts"
import type { ClauseSlug } from "../clauses/Clauses.ts"

export interface Outcome {
  /** One status, unless the time or other requests decide which. */
  readonly statuses: ReadonlyArray<number>
  readonly because: string
  /** Our decision by which this is the outcome; absent if the contract itself requires it. */
  readonly clause?: ClauseSlug | undefined
  /** The code of the last status; absent for a success. */
  readonly code?: ErrorCode
  /** What the message must name. */
  readonly names?: ReadonlyArray<string>
}

export const error = (
  code: ErrorCode,
  because: string,
  clause?: ClauseSlug,
  names: ReadonlyArray<string> = []
): Outcome => ({ statuses: [catalogue[code].status], code, because, clause, names })

export const success = (status: number, because: string, clause?: ClauseSlug): Outcome => ({
  statuses: [status],
  because,
  clause
})
