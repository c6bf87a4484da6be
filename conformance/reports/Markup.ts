/** Text within HTML and XML. */
import { printable } from "../http/Printable.ts"

const entities: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"]
])

/**
 * Text for elements, and for attributes in double quotes. What is printable is allowed in XML, and without `>` there is no
 * `]]>`.
 */
export const escaped = (text: string): string =>
  printable(text).replace(/[&<>"]/g, (character) => entities.get(character) ?? character)
