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
  let position = 0
  const skip = (isSkipped: (character: string | undefined) => boolean): void => {
    while (position < field.length && isSkipped(field[position])) position++
  }
  /** Reads the text up to one of the characters in `ends`, or up to the end of the field. */
  const until = (ends: string): string => {
    const from = position
    while (position < field.length && !ends.includes(field[position] ?? "")) position++
    return field.slice(from, position)
  }
  const quoted = (): string => {
    let value = ""
    for (position++; position < field.length && field[position] !== '"'; position++) {
      if (field[position] === "\\") position++
      value += field[position] ?? ""
    }
    position++
    return value
  }
  for (;;) {
    skip((character) => isSpace(character) || character === ",")
    if (field[position] !== "<") return links
    position++
    const target = until(">")
    if (field[position] !== ">") return links
    position++
    const parameters = new Map<string, string>()
    for (;;) {
      skip(isSpace)
      if (field[position] !== ";") break
      position++
      skip(isSpace)
      const name = until(" \t=;,").toLowerCase()
      skip(isSpace)
      let value = ""
      if (field[position] === "=") {
        position++
        skip(isSpace)
        value = field[position] === '"' ? quoted() : until(" \t;,")
      }
      if (name !== "" && !parameters.has(name)) parameters.set(name, value)
    }
    links.push({ target, parameters })
    // Skips other text after a parameter, which belongs to no link.
    until(",")
  }
}
