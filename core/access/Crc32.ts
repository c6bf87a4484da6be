/** Computes the CRC-32 of zip and PNG (ISO 3309, polynomial 0xEDB88320, reflected). */

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1
  return rest
})

/** Returns the checksum of the first `length` bytes, an integer from 0 to 2³²−1. */
export const of = (bytes: Uint8Array, length: number = bytes.length): number => {
  let crc = 0xffffffff
  for (let index = 0; index < length; index++) {
    crc = (crc >>> 8) ^ (table[(crc ^ (bytes[index] as number)) & 0xff] as number)
  }
  return (crc ^ 0xffffffff) >>> 0
}
