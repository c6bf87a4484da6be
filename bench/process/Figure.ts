/** One measured figure, as plain data: the median of several repeats, and how far they lay apart. */

export type Unit = "ns" | "ms" | "bytes" | "per second"

export interface Figure {
  /** What is measured, such as "limits, one step". */
  readonly group: string
  /** Which case of it, or whose. */
  readonly name: string
  readonly unit: Unit
  /** The median of the repeats. */
  readonly value: number
  /** The least of the repeats. */
  readonly low: number
  /** The most of the repeats. */
  readonly high: number
}
