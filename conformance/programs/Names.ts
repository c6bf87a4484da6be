/** Lists contents of names (contract §2 `NewPet`), which a service may reject but not change. */

/** Characters that software often changes, cuts, escapes or loses. */
export const contents = {
  "a space": " ",
  "two spaces": "  ",
  "a newline": "\n",
  "a carriage return and newline": "\r\n",
  "a tab": "\t",
  NUL: "\0",
  "a no-break space": "\u00a0",
  "an ideographic space": "\u3000",
  "a line separator": "\u2028",
  "a zero-width space": "\u200b",
  "a byte order mark": "\ufeff",
  "a backspace": "\b",
  escape: "\u001b[31m",
  delete: "\u007f",
  "a C1 control": "\u0085",
  quotes: '"',
  "single quotes": "'",
  "a backslash": "\\",
  "an escape": "\\n\\u0041",
  slashes: "/",
  markup: "<b>x</b>",
  "an entity": "&amp;",
  "an ampersand": "&",
  "percent escapes": "%41%00",
  "a plus sign": "+",
  "a comma": ",",
  "a semicolon": ";--",
  "SQL wildcards": "%_",
  "a condition of SQL": "' OR '1'='1",
  "template braces": "{{7*7}}",
  digits: "42",
  "a full stop": ".",
  "two bytes": "\u00e9\u00df\u0436",
  "three bytes": "\u65e5\u20ac",
  emoji: "\u{1f98a}\u{1f408}",
  "planes 2 and 16": "\u{20000}\u{10fffd}",
  "private use": "\ue000",
  "a non-character": "\ufffe",
  composed: "\u00e9\u1e9b\u0323",
  decomposed: "e\u0301",
  "compatibility characters": "\ufb01\uff21\u2460",
  "right to left": "\u05d0\u202e",
  "a joined emoji": "\u{1f469}\u200d\u{1f467}",
  "a flag": "\u{1f1e9}\u{1f1ea}",
  "letters with unusual case": "\u0130\u0131\u00df\u03c2",
  "a lone surrogate": "\ud83d"
} as const satisfies { readonly [name: string]: string }

/** Where the content is, relative to letters that no other name has. */
export const positions = {
  "at the end": (letters: string, content: string) => letters + content,
  "at the start": (letters: string, content: string) => content + letters,
  inside: (letters: string, content: string) => letters + content + letters
} as const

/** Ends of names, from the most unusual one to none, because a service may reject unusual names. */
export const ends = [
  ` <b>&amp;"\u00e9e\u0301\u{1f98a}\n${"Aa".repeat(100)} `,
  " <b>&amp;  \u00e9\u{1f98a}",
  ` ${"Aa".repeat(100)}`,
  " <b>&  a",
  ""
] as const

/** Names that are no unusual characters, but may be taken for another kind of value. */
export const whole = [
  ...["null", "true", "undefined", "NaN", "0", "007", "1e3", "-1", "0x10", "9007199254740993"],
  ...[
    "{}",
    "[1]",
    '"quoted"',
    "2026-01-01",
    "constructor",
    "__proto__",
    "Name",
    "a",
    "",
    " ",
    "\t\n",
    "\u00a0"
  ]
] as const

/** Characters of one to four bytes, of one or two UTF-16 units, and text that must be escaped. */
export const characters = [
  "a",
  "Aa",
  "\u00e9",
  "\u65e5",
  "\u{1f98a}",
  "a\u00e9\u65e5\u{1f98a}",
  " a",
  '"'
] as const

/** Lengths around plausible limits, and ways to count them. */
export const lengths = [64, 65, 255, 256, 128, 129, 100, 200, 20, 1_000] as const

export const units = {
  points: (text: string) => [...text].length,
  units: (text: string) => text.length,
  bytes: (text: string) => new TextEncoder().encode(text).length
} as const

/** Returns a name of a length that begins with `start`, ends with `x` and repeats characters in between. */
export const ofLength = (
  start: string,
  repeated: string,
  length: number,
  count: (text: string) => number
): string => {
  const all = [...repeated]
  let name = start
  for (let index = 0; count(name) < length; index++) {
    const next = name + (all[index % all.length] ?? "x")
    // Characters of several bytes or units cannot always fill the length exactly.
    name = count(`${next}x`) > length ? `${name}x` : next
  }
  return name
}
