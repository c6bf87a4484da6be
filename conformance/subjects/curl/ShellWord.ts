/** Renders text, variables and bytes as words of a POSIX shell. */

/** Literal text, the value of a variable, or characters up to U+00FF that each represent a byte. */
export type Part = string | { readonly variable: string } | { readonly bytes: string }

/**
 * Converts text for the head of a request, which is Latin-1: control characters and U+007F to U+00FF become
 * single bytes, because the script itself is UTF-8.
 */
export const toLatin1 = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> =>
  parts.flatMap(
    (part): ReadonlyArray<Part> =>
      typeof part === "string"
        ? part
            .split(/([^ -~\u0100-\uffff]+)/)
            .map((piece, index) => (index % 2 === 0 ? piece : { bytes: piece }))
            .filter((piece) => piece !== "")
        : [part]
  )

/** Joins the parts into one word for the shell. */
export const word = (parts: ReadonlyArray<Part>): string => {
  const joined: Array<Part> = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (typeof part === "string" && typeof last === "string") joined.splice(-1, 1, last + part)
    else joined.push(part)
  }
  return joined.map(encodePart).join("") || "''"
}

const encodePart = (part: Part): string => {
  if (typeof part !== "string") {
    return "variable" in part ? `"$${part.variable}"` : `"$(printf ${printfFormat(part.bytes)})"`
  }
  return /^[\w/:=.,@%+-]*$/.test(part) ? part : `'${part.replaceAll("'", "'\\''")}'`
}

/** Returns a format for `printf` that writes characters up to U+00FF as single bytes, and others in UTF-8. */
export const printfFormat = (raw: string): string =>
  `'${raw.replace(/^-|%|[^ !"$&(-[\]-~]/gu, (character) => (character === "%" ? "%%" : octets(character)))}'`

const octets = (character: string): string =>
  [...Buffer.from(character, character <= "\u00ff" ? "latin1" : "utf8")]
    .map((byte) => `\\${byte.toString(8).padStart(3, "0")}`)
    .join("")
