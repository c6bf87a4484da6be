/** Finds links in a response (RFC 8288). */

/** Matches a link, and captures its target and its parameters. */
const link = /(?<=^|,)[ \t]*<([^>]*)>((?:"(?:[^"\\]|\\.)*"|[^,"])*)/g

/** Matches a parameter, and captures its name and its value, in quotes or without. */
const parameter = /;[ \t]*([^ \t=;]*)[ \t]*(?:=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^ \t;]*)))?/g

/** Returns the targets of the links with a relation type, as written; only the first `rel` of a link counts. */
export const targets = (fields: ReadonlyArray<string>, relation: string): ReadonlyArray<string> =>
  fields.flatMap((field) =>
    [...field.matchAll(link)].flatMap(([, target = "", parameters = ""]) => {
      const all = [...parameters.matchAll(parameter)]
      const [, , quoted, value = ""] = all.find(([, name]) => name?.toLowerCase() === "rel") ?? []
      const types = (quoted ?? value).toLowerCase().split(/\s+/)
      return types.includes(relation) ? [target] : []
    })
  )
