/** The maximum cost of a run. */
export interface Budget {
  readonly requests: number
  /** Ms of real time. */
  readonly milliseconds: number
}
