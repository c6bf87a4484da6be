/** Parses the links of a response (RFC 8288). */

export interface Link {
  /** The target as written, a URI reference. */
  readonly target: string
  /** The values without quotes, by name in lower case. If a name is repeated, its first value is used. */
  readonly parameters: ReadonlyMap<string, string>
}

/** Matches the target of a link, after empty elements of the list. */
const targetPattern = /[ \t,]*<([^>]*)>/y

/** Matches a parameter, and captures its name and its value, in quotes or without. */
const parameterPattern = /[ \t]*;[ \t]*([^ \t=;,]*)[ \t]*(?:=[ \t]*(?:"((?:[^"\\]+|\\.)*)"?|([^ \t;,]*)))?/sy

/** Matches other text after the parameters, which belongs to no link. */
const restPattern = /[^,]*/y

/** Parses `Link` fields as in RFC 8288 §B.2. Ignores the rest of a field from its first invalid link on. */
export const parse = (fields: ReadonlyArray<string>): ReadonlyArray<Link> => fields.flatMap(parseField)

/** Whether a link has a relation type; the comparison ignores case. */
export const hasRelation = ({ parameters }: Link, type: string): boolean =>
  (parameters.get("rel") ?? "").toLowerCase().split(/\s+/).includes(type)

const parseField = (field: string): ReadonlyArray<Link> => {
  const links: Array<Link> = []
  let position = 0
  const read = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = position
    const found = pattern.exec(field)
    position += found?.[0].length ?? 0
    return found
  }
  for (let link = read(targetPattern); link !== null; link = read(targetPattern)) {
    const parameters = new Map<string, string>()
    for (let found = read(parameterPattern); found !== null; found = read(parameterPattern)) {
      const [, name = "", quoted, value = ""] = found
      const key = name.toLowerCase()
      if (key !== "" && !parameters.has(key)) parameters.set(key, quoted?.replace(/\\(.)/gs, "$1") ?? value)
    }
    links.push({ target: link[1] ?? "", parameters })
    read(restPattern)
  }
  return links
}
