/** One measured figure, as plain data: the median of several repeats, and their quartiles. */

export type Unit = "ns" | "ms" | "bytes" | "per second"

export interface Figure {
  /** The subject of the measurement, such as "limits, one step". */
  readonly group: string
  /** The case, or the library. */
  readonly name: string
  readonly unit: Unit
  /** The median of the repeats. */
  readonly value: number
  /** The lower quartile of the repeats. */
  readonly low: number
  /** The upper quartile of the repeats. */
  readonly high: number
}
