/**
 * Builds names of animals with characters of every plane and of one to four bytes, and with lengths around every
 * plausible limit in bytes, UTF-16 code units and code points. All names are in normalization form C, and none begins or
 * ends with white space.
 */

/** Letters and emoji for names. A server that accepts them has no reason to change them. */
export const letters = {
  "letters and digits": "aBdE3",
  "two bytes": "\u00e9\u00df\u0436\u05d0",
  "three bytes": "\u65e5\u672c\u20ac\u3042",
  "plane 1": "\u{1f98a}\u{1f408}\u{10348}",
  "planes 2 and 3": "\u{20000}\u{2a6d6}\u{30000}",
  "one to four bytes": "a\u00e9\u20ac\u{1f98a}"
} as const satisfies { readonly [name: string]: string }

/** Characters that servers may remove or escape: invisible and private characters, and markup. */
export const symbols = {
  "planes 14 to 16": "\u{e0101}\u{f0000}\u{10fffd}",
  markup: "'\"\\<b>%41&amp;+;--"
} as const satisfies { readonly [name: string]: string }

export const characters = { ...letters, ...symbols }

const bytes = (text: string): number => new TextEncoder().encode(text).length
const units = (text: string): number => text.length
const points = (text: string): number => [...text].length

interface Length {
  readonly count: (text: string) => number
  readonly size: number
}

export const lengths = {
  short: { count: points, size: 10 },
  "255 code points": { count: points, size: 255 },
  "129 bytes": { count: bytes, size: 129 },
  "65 UTF-16 units": { count: units, size: 65 },
  "256 bytes": { count: bytes, size: 256 },
  "128 bytes": { count: bytes, size: 128 },
  "64 code points": { count: points, size: 64 }
} as const satisfies { readonly [name: string]: Length }

export type CharactersName = keyof typeof characters
export type LengthName = keyof typeof lengths

/** Returns a name of this length: `start`, then the repeated characters, then `x` to fill the rest. */
export const of = (start: string, repeated: CharactersName, length: LengthName): string => {
  const { count, size } = lengths[length]
  const all = [...characters[repeated]]
  let name = start
  for (let index = 0; ; index++) {
    const next = name + (all[index % all.length] ?? "")
    if (count(next) > size) break
    name = next
  }
  // Characters of several bytes or code units cannot always fill the length exactly.
  while (count(name) < size) name += "x"
  return name
}
