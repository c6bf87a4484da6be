/** Generates chunks of any size from given bytes. */
import * as fc from "fast-check"

/** Generates the chunks of `bytes` between random offsets; some chunks are empty. */
export const chunksOf = (bytes: Uint8Array): fc.Arbitrary<ReadonlyArray<Uint8Array>> =>
  fc.array(fc.nat(bytes.length), { maxLength: 20 }).map((cuts) => {
    const offsets = [...cuts, bytes.length].sort((a, b) => a - b)
    return offsets.map((offset, index) => bytes.slice(offsets[index - 1] ?? 0, offset))
  })
