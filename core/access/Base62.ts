/**
 * Encodes and decodes numbers in base 62 (`0`–`9`, `A`–`Z`, `a`–`z`), most significant digit first. Because the digits
 * include no punctuation, a double click selects a whole secret or id.
 */

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Encodes the non-negative `value`, padded with `0` to `length` digits. */
export const encode = (value: bigint, length: number): string => {
  let text = ""
  for (let rest = value; rest > 0n; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text
  return text.padStart(length, "0")
}

/** The value of each byte as an ASCII digit; −1 if it is not a digit. */
const values = Int8Array.from({ length: 256 }, (_, byte) => digits.indexOf(String.fromCharCode(byte)))

/** Decodes the ASCII digits from `start`: at most eight, so that a double represents the number exactly. */
export const decode = (bytes: Uint8Array, start: number): number => {
  let value = 0
  for (let index = start; index < bytes.length; index++) {
    value = value * 62 + (values[bytes[index] as number] as number)
  }
  return value
}

/** Encodes the bytes as one big-endian number, padded to `length` digits. */
export const encodeBytes = (bytes: Uint8Array, length: number): string => {
  let value = 0n
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  return encode(value, length)
}
