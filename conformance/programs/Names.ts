/** Lists contents of names (contract §2 `NewPet`), which a service may reject but not change. */
import { bytes } from "../http/Wire.ts"
import { words } from "./Words.ts"

/** Characters that software often changes, cuts, escapes or loses. */
export const contents = [
  // Blanks, controls and marks, which mean something else at the ends of a name.
  ..." |  |\n|\r\n|\t|\0|\u00a0|\u3000|\u2028|\u200b|\ufeff|\b|\u001b[31m|\u007f|\u0085".split("|"),
  // What HTML, JSON, URLs, CSV, SQL and templates escape.
  ...words(`" ' \\ \\n\\u0041 / <b>x</b> &amp; & %41%00 + , ;-- %_ {{7*7}} 42 .`),
  "' OR '1'='1",
  // Two, three and four bytes in UTF-8, up to the last plane, private use and a non-character.
  ...words("\u00e9\u00df\u0436 \u65e5\u20ac \u{1f98a}\u{1f408} \u{20000}\u{10fffd} \ue000 \ufffe"),
  // Composed, decomposed, compatible with others, right to left, joined, and of unusual case.
  ...words("\u00e9\u1e9b\u0323 e\u0301 \ufb01\uff21\u2460 \u05d0\u202e \u{1f469}\u200d\u{1f467}"),
  ...words("\u{1f1e9}\u{1f1ea} \u0130\u0131\u00df\u03c2"),
  // A lone surrogate, which UTF-8 cannot represent.
  "\ud83d"
]

/** Places of the content, relative to letters that no other name has. */
export const positions: ReadonlyArray<(letters: string, content: string) => string> = [
  (letters, content) => letters + content,
  (letters, content) => content + letters,
  (letters, content) => letters + content + letters
]

/** Ends of names, from the most unusual one to none, because a service may reject unusual names. */
export const ends = [
  ` <b>&amp;"'\\%41\u00e9e\u0301\u{1f98a}\n${"Aa".repeat(100)} `,
  " <b>&amp;  \u00e9\u{1f98a}",
  ` ${"Aa".repeat(100)}`,
  " <b>&  a",
  ""
] as const

/** Names that are no unusual characters, but may be taken for another kind of value. */
export const whole = [
  ...words(`null true undefined NaN 0 007 1e3 -1 0x10 9007199254740993 {} [1] "quoted" 2026-01-01`),
  ...words("constructor __proto__ Name a"),
  ...["", " ", "\t\n", "\u00a0"]
]

/** Characters of one to four bytes, of one or two UTF-16 units, and text that must be escaped. */
export const characters = [...words('a Aa \u00e9 \u65e5 \u{1f98a} a\u00e9\u65e5\u{1f98a} "'), " a"]

/** Lengths around plausible limits, and ways to count them. */
export const lengths = [64, 65, 255, 256, 128, 129, 100, 200, 20, 1_000] as const

export const units = {
  points: (text: string) => [...text].length,
  units: (text: string) => text.length,
  bytes: (text: string) => bytes(text).length
} as const

/** Returns a name of a length that begins with `start`, then repeats a text, and ends with `x` where none of it fits. */
export const ofLength = (
  start: string,
  repeated: string,
  length: number,
  count: (text: string) => number
): string => {
  const [room, width] = [length - count(start), count(repeated)]
  return start + repeated.repeat(room / width) + "x".repeat(room % width)
}
