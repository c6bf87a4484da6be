/** One request of a run and its response. */
import type { KeptResponse } from "./KeptResponse.ts"
import type { WireRequest } from "./Wire.ts"

/** Which declared key a request carries; `other` for a credential that a law made up. */
export type KeyName = "main" | "tiny" | "victim" | "revoked" | "none" | "other"

export interface Exchange {
  /** Its number among the requests of the run; one without a response leaves a gap. */
  readonly index: number
  readonly key: KeyName
  readonly request: WireRequest
  /** Whole for the law that sent the request; among the exchanges of a run only what is kept of it. */
  readonly response: KeptResponse
  /** Epoch ms of the subject's time, as well as the run knows it, when it was sent. */
  readonly sentAt: number
  /** The same when the response was complete. */
  readonly receivedAt: number
  /** Whether no other request of the run was under way meanwhile. */
  readonly isAlone: boolean
}
