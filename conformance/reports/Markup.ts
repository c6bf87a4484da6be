/** Text within HTML and XML. */
import { printable } from "../http/Printable.ts"

const entities: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"]
])

/**
 * Escapes text for elements, and for attributes in double quotes. Printable characters are valid in XML, and an escaped
 * `>` prevents `]]>`.
 */
export const escaped = (text: string): string =>
  printable(text).replace(/[&<>"]/g, (character) => entities.get(character) ?? character)
