/** The maximum cost of a run. */
export interface Budget {
  readonly requests: number
  /** Maximum wall-clock time, in milliseconds. */
  readonly milliseconds: number
}
