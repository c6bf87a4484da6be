/** Numbers in base 62 (`0`–`9`, `A`–`Z`, `a`–`z`), most significant digit first: one double click selects a key. */

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Base-62 text of `value` (not negative), padded with `0` to `length` digits. */
export const encode = (value: bigint, length: number): string => {
  let text = ""
  for (let rest = value; rest > 0n; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text
  return text.padStart(length, "0")
}

/** What each byte is worth as a digit in ASCII; −1 for one that is none. */
const values = Int8Array.from({ length: 256 }, (_, byte) => digits.indexOf(String.fromCharCode(byte)))

/** Whether all bytes from `start` on are digits in ASCII. */
export const areDigits = (bytes: Uint8Array, start: number): boolean => {
  for (let index = start; index < bytes.length; index++) {
    if ((values[bytes[index] as number] as number) < 0) return false
  }
  return true
}

/** The number that the digits from `start` on denote, at most eight of them. */
export const decode = (bytes: Uint8Array, start: number): number => {
  let value = 0
  for (let index = start; index < bytes.length; index++) {
    value = value * 62 + (values[bytes[index] as number] as number)
  }
  return value
}

/** The bytes read as one big-endian number, in base 62 with `length` digits. */
export const encodeBytes = (bytes: Uint8Array, length: number): string => {
  let value = 0n
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  return encode(value, length)
}
