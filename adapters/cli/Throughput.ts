/** Computes and formats the number of animals that a command processed per second. */
import * as Duration from "effect/Duration"

export interface Throughput {
  readonly seconds: number
  readonly perSecond: number
}

/** Computes the rate; the seconds are rounded to milliseconds. */
export const make = (animals: number, elapsed: Duration.Duration): Throughput => {
  const milliseconds = Math.max(Math.round(Duration.toMillis(elapsed)), 1)
  return { seconds: milliseconds / 1_000, perSecond: Math.round((animals * 1_000) / milliseconds) }
}

/** Formats the rate, such as "in 2.5 s (40,000 a second)". */
export const format = ({ perSecond, seconds }: Throughput): string =>
  `in ${seconds} s (${thousands(perSecond)} a second)`

/** Formats a number with commas between groups of three digits. */
export const thousands = (count: number | bigint): string => count.toLocaleString("en")

/** Formats a number of animals, such as "1 animal" or "1,000 animals". */
export const animals = (count: number): string => `${thousands(count)} ${count === 1 ? "animal" : "animals"}`
