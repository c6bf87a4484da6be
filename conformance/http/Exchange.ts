/** Defines an exchange: one request of a run and its response. */
import type { KeptResponse } from "./KeptResponse.ts"
import type { WireRequest } from "./Wire.ts"

/** The declared key that a request is sent with; `none` without a key, `other` for a credential that a law made up. */
export type KeyName = "main" | "tiny" | "victim" | "revoked" | "expired" | "none" | "other"

export interface Exchange {
  /** The number of the request in the run; a request without a response leaves a gap. */
  readonly index: number
  readonly key: KeyName
  readonly request: WireRequest
  /** The request in one line, without keys. */
  readonly did?: string
  /** The whole response when a law gets it; only the stored part in the list of the run's exchanges. */
  readonly response: KeptResponse
  /** The time at which the request was sent: epoch ms of the subject's time, as far as the run knows it. */
  readonly sentAt: number
  /** The time at which the response was complete, like `sentAt`. */
  readonly receivedAt: number
  /** Whether these times come from the subject's clock; otherwise they are derived from its `Date`. */
  readonly byClock?: boolean
  /** Whether no other request of the run was in flight at the same time. */
  readonly isAlone: boolean
}
