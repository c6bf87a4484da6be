/** Numbers in base 62 (`0`–`9`, `A`–`Z`, `a`–`z`), most significant digit first: one double click selects a key. */

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Base-62 text of `value` (not negative), padded with `0` to `length` digits. */
export const encode = (value: bigint, length: number): string => {
  let text = ""
  for (let rest = value; rest > 0n; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text
  return text.padStart(length, "0")
}

/** The number that up to eight digits denote; what is no digit makes it wrong. */
export const decode = (text: string): number => {
  let value = 0
  for (let index = 0; index < text.length; index++) value = value * 62 + valueOf(text.charCodeAt(index))
  return value
}

const valueOf = (digit: number): number =>
  digit <= 0x39 ? digit - 0x30 : digit <= 0x5a ? digit - 0x37 : digit - 0x3d

/** The bytes read as one big-endian number, in base 62 with `length` digits. */
export const encodeBytes = (bytes: Uint8Array, length: number): string => {
  let value = 0n
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  return encode(value, length)
}
