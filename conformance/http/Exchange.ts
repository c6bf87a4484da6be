/** One request of a run and its response. */
import type { KeptResponse } from "./KeptResponse.ts"
import type { WireRequest } from "./Wire.ts"

/** The declared key that a request carries; `other` for a credential that a law made up. */
export type KeyName = "main" | "tiny" | "victim" | "revoked" | "expired" | "none" | "other"

export interface Exchange {
  /** Its number among the requests of the run; a request without a response leaves a gap. */
  readonly index: number
  readonly key: KeyName
  readonly request: WireRequest
  /** The request in one line, without keys. */
  readonly did?: string
  /** The whole response for the law that sent the request; the stored part of it in the list of a run's exchanges. */
  readonly response: KeptResponse
  /** When the request was sent, in epoch ms of the subject's time as far as the run knows it. */
  readonly sentAt: number
  /** When the response was complete, in the same time. */
  readonly receivedAt: number
  /** Whether these times are those of the subject's clock, and not derived from its `Date`. */
  readonly byClock?: boolean
  /** Whether no other request of the run was in flight at the same time. */
  readonly isAlone: boolean
}
