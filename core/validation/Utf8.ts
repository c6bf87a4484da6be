/** Strict UTF-8 (RFC 3629): overlong forms, surrogates and values above U+10FFFF are refused, nothing is replaced. */

/** The platform's decoder, which all that have `fetch` have (WHATWG Encoding); core's types know only the language. */
declare const TextDecoder: new (
  label: "utf-8",
  options: { readonly fatal: true; readonly ignoreBOM: true }
) => { readonly decode: (bytes: Uint8Array) => string }

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/**
 * The text of `bytes`, or the offset of the first byte that is not UTF-8. A byte order mark is kept as U+FEFF.
 *
 * @example
 * ```ts
 * decode(Uint8Array.of(0xc3, 0xa9)) // "é"
 * decode(Uint8Array.of(0x41, 0xff)) // 1
 * ```
 */
export const decode = (bytes: Uint8Array): string | number => {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    const fault = firstFault(bytes)
    if (fault === bytes.length) throw error
    return fault
  }
}

/** The decoder does not say where. */
const firstFault = (bytes: Uint8Array): number => {
  let index = 0
  while (index < bytes.length) {
    // Both casts: the index is within `bytes`.
    const lead = bytes[index] as number
    const length = sequenceLength(lead)
    if (length === 0 || index + length > bytes.length) return index
    let codePoint = lead & (0x7f >> length)
    for (let k = 1; k < length; k++) {
      const byte = bytes[index + k] as number
      if ((byte & 0xc0) !== 0x80) return index
      codePoint = (codePoint << 6) | (byte & 0x3f)
    }
    if (codePoint < smallestOfLength[length] || codePoint > 0x10ffff) return index
    if (codePoint >= 0xd800 && codePoint <= 0xdfff) return index
    index += length
  }
  return index
}

const smallestOfLength = { 1: 0, 2: 0x80, 3: 0x800, 4: 0x10000 } as const

const sequenceLength = (lead: number): 0 | 1 | 2 | 3 | 4 => {
  if (lead < 0x80) return 1
  if (lead >= 0xc2 && lead <= 0xdf) return 2
  if (lead >= 0xe0 && lead <= 0xef) return 3
  if (lead >= 0xf0 && lead <= 0xf4) return 4
  return 0
}
