/** Numbers in base 62 (`0`–`9`, `A`–`Z`, `a`–`z`), most significant digit first; a double click selects a whole key. */

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Encodes `value` (not negative), padded with `0` to `length` digits. */
export const encode = (value: bigint, length: number): string => {
  let text = ""
  for (let rest = value; rest > 0n; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text
  return text.padStart(length, "0")
}

/** The digit value of each ASCII byte; −1 for other bytes. */
const values = Int8Array.from({ length: 256 }, (_, byte) => digits.indexOf(String.fromCharCode(byte)))

/** Whether all bytes from `start` on are base-62 digits in ASCII. */
export const areDigits = (bytes: Uint8Array, start: number): boolean => {
  for (let index = start; index < bytes.length; index++) {
    if ((values[bytes[index] as number] as number) < 0) return false
  }
  return true
}

/** Decodes the digits from `start` on, at most eight. */
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
