/** Writes HTML and XML: a template whose texts are escaped. */
import { printable } from "../http/Printable.ts"

/** Text with markup, which is not escaped again. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Markup

const entities: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"]
])

/** Texts are made printable first, because printable characters are valid in XML; `>` is escaped to prevent `]]>`. */
const written = (part: Part | ReadonlyArray<Part>): string => {
  if (part instanceof Markup) return part.text
  if (typeof part === "object") return part.map(written).join("\n")
  return printable(String(part)).replace(/[&<>"]/g, (character) => entities.get(character) ?? character)
}

/**
 * Creates markup from a template: the parts that are texts are escaped, for elements and for attributes in double
 * quotes; the members of an array are written on lines of their own.
 */
export const markup = (template: TemplateStringsArray, ...parts: ReadonlyArray<Part | ReadonlyArray<Part>>) =>
  new Markup(String.raw({ raw: template }, ...parts.map(written)))
