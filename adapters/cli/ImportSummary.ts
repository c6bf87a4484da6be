/** Formats the result of an import as text and as JSON. */
import type { InvalidLine } from "../../core/transfer/Import.ts"
import * as Import from "../../core/transfer/Import.ts"
import { printable } from "./Printable.ts"
import * as Throughput from "./Throughput.ts"

/** The result of one run of `import`. */
export interface Outcome {
  readonly isDryRun: boolean
  /** Number of valid animals in a dry run; otherwise the sum of `before`, `inserted` and `present`. */
  readonly animals: number
  /** Number of animals in the source that earlier runs stored. */
  readonly before: number
  /** Number of animals that this run stored. */
  readonly inserted: number
  /** Number of animals that the database already contained, with the same ids. */
  readonly present: number
  readonly invalidLines: ReadonlyArray<InvalidLine>
}

/** Returns the object for `--json`. */
export const recordOf = (
  { animals, before, invalidLines, inserted, isDryRun, present }: Outcome,
  throughput: Throughput.Throughput
) => ({
  dryRun: isDryRun,
  animals,
  before,
  imported: inserted,
  present,
  ...throughput,
  faults: invalidLines,
  moreFaults: invalidLines.length === Import.maxInvalidLines
})

/** Formats the result of an import without invalid lines as one line. */
export const format = (
  { animals, before, inserted, isDryRun, present }: Outcome,
  throughput: Throughput.Throughput
): string => {
  if (isDryRun) {
    return `Checked ${Throughput.animals(animals)} ${Throughput.format(throughput)}: all are valid. Nothing was stored.`
  }
  return [
    `Imported ${Throughput.animals(inserted)} ${Throughput.format(throughput)}`,
    ...(before > 0 ? [`; resumed after ${Throughput.animals(before)}`] : []),
    ...(present > 0 ? [`; ${Throughput.thousands(present)} already existed`] : []),
    "."
  ].join("")
}

/** Formats the invalid lines and the number of stored animals as lines for standard error. */
export const formatInvalidLines = (
  label: string,
  { before, invalidLines, inserted, present }: Outcome
): ReadonlyArray<string> => {
  const stored = before + inserted + present
  const first = invalidLines[0]?.line ?? 1
  return [
    ...invalidLines.map(({ line, reason }) => `${label}: line ${line}: ${printable(reason)}`),
    ...(invalidLines.length === Import.maxInvalidLines
      ? [`${label}: reading stopped here; there may be more invalid lines`]
      : []),
    stored === 0 ? "nothing was stored" : `the ${storedText(stored, ` before line ${first}`)}`
  ].map((line) => `animal-store: ${line}`)
}

/** Returns a clause such as "3 animals were stored"; `position` follows the number of animals. */
export const storedText = (count: number, position = ""): string =>
  `${Throughput.animals(count)}${position} ${count === 1 ? "was" : "were"} stored`
