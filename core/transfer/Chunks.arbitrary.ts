/** Splits bytes into chunks of any size. */
import * as fc from "fast-check"

/** Cuts bytes at random places; some chunks are empty. */
export const chunksOf = (bytes: Uint8Array): fc.Arbitrary<ReadonlyArray<Uint8Array>> =>
  fc.array(fc.nat(bytes.length), { maxLength: 20 }).map((places) => {
    const ends = [...places, bytes.length].sort((one, other) => one - other)
    return ends.map((end, index) => bytes.slice(ends[index - 1] ?? 0, end))
  })
