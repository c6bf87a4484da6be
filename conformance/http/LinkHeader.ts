/** Parses the links of a response (RFC 8288). */

export interface Link {
  /** The target as written, a URI reference. */
  readonly target: string
  /** The values without quotes, by name in lower case. If a name is repeated, its first value is used. */
  readonly parameters: ReadonlyMap<string, string>
}

const isSpace = (character: string | undefined): boolean => character === " " || character === "\t"

/** Parses `Link` fields as in RFC 8288 §B.2. Ignores the rest of a field from its first invalid link on. */
export const parse = (fields: ReadonlyArray<string>): ReadonlyArray<Link> => fields.flatMap(parseField)

/** Whether a link has a relation type; the comparison ignores case. */
export const hasRelation = ({ parameters }: Link, type: string): boolean =>
  (parameters.get("rel") ?? "").toLowerCase().split(/\s+/).includes(type)

const parseField = (field: string): ReadonlyArray<Link> => {
  const links: Array<Link> = []
  let at = 0
  const skip = (isSkipped: (character: string | undefined) => boolean): void => {
    while (at < field.length && isSkipped(field[at])) at++
  }
  /** Reads the text up to one of the characters in `ends`, or up to the end of the field. */
  const until = (ends: string): string => {
    const from = at
    while (at < field.length && !ends.includes(field[at] ?? "")) at++
    return field.slice(from, at)
  }
  const quoted = (): string => {
    let value = ""
    for (at++; at < field.length && field[at] !== '"'; at++) {
      if (field[at] === "\\") at++
      value += field[at] ?? ""
    }
    at++
    return value
  }
  for (;;) {
    skip((character) => isSpace(character) || character === ",")
    if (field[at] !== "<") return links
    at++
    const target = until(">")
    if (field[at] !== ">") return links
    at++
    const parameters = new Map<string, string>()
    for (;;) {
      skip(isSpace)
      if (field[at] !== ";") break
      at++
      skip(isSpace)
      const name = until(" \t=;,").toLowerCase()
      skip(isSpace)
      let value = ""
      if (field[at] === "=") {
        at++
        skip(isSpace)
        value = field[at] === '"' ? quoted() : until(" \t;,")
      }
      if (name !== "" && !parameters.has(name)) parameters.set(name, value)
    }
    links.push({ target, parameters })
    // Skips other text after a parameter, which belongs to no link.
    until(",")
  }
}
