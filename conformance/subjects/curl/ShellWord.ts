/** Texts, variables and bytes as words of a POSIX shell. */

/** Literal text, the value of a variable, or characters up to U+00FF that each represent a byte. */
export type Part = string | { readonly variable: string } | { readonly bytes: string }

/**
 * Heads of requests are Latin-1: what is neither ASCII nor beyond Latin-1 is a byte there, and not as in this
 * file.
 */
export const onWire = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> =>
  parts.flatMap(
    (part): ReadonlyArray<Part> =>
      typeof part === "string"
        ? part
            .split(/([^ -~\u0100-\uffff]+)/)
            .map((piece, index) => (index % 2 === 0 ? piece : { bytes: piece }))
            .filter((piece) => piece !== "")
        : [part]
  )

/** One word for the shell. */
export const word = (parts: ReadonlyArray<Part>): string => {
  const joined: Array<Part> = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (typeof part === "string" && typeof last === "string") joined.splice(-1, 1, last + part)
    else joined.push(part)
  }
  return joined.map(written).join("") || "''"
}

const written = (part: Part): string => {
  if (typeof part !== "string") {
    return "variable" in part ? `"$${part.variable}"` : `"$(printf ${octal(part.bytes)})"`
  }
  return /^[\w/:=.,@%+-]*$/.test(part) ? part : `'${part.replaceAll("'", "'\\''")}'`
}

/** A format for `printf` that writes characters up to U+00FF as bytes, others in UTF-8. */
export const octal = (raw: string): string =>
  `'${raw.replace(/^-|%|[^ !"$&(-[\]-~]/gu, (character) => (character === "%" ? "%%" : octets(character)))}'`

const octets = (character: string): string =>
  [...Buffer.from(character, character <= "\u00ff" ? "latin1" : "utf8")]
    .map((byte) => `\\${byte.toString(8).padStart(3, "0")}`)
    .join("")
