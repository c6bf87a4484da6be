/** Computes the slot of a key in a Redis Cluster: CRC16 (XMODEM) of its hash tag or of the whole key, modulo 16,384. */
import { Buffer } from "node:buffer"

/** Number of slots of every cluster. */
export const SLOTS = 16_384

const POLYNOMIAL = 0x1021

const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ POLYNOMIAL
  return crc
})

/** Returns the slot of a key. */
export const of = (key: string): number => {
  let crc = 0
  for (const byte of Buffer.from(tagOf(key))) crc = ((crc << 8) ^ (table[(crc >> 8) ^ byte] ?? 0)) & 0xffff
  return crc % SLOTS
}

/** Returns the text between the first "{" and the next "}", or the whole key if that text is empty or absent. */
const tagOf = (key: string): string => {
  const from = key.indexOf("{")
  const to = from < 0 ? -1 : key.indexOf("}", from + 1)
  return to > from + 1 ? key.slice(from + 1, to) : key
}
