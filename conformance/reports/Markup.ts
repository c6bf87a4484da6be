/** Escapes text for HTML and XML. */
import { printable } from "../http/Printable.ts"

const entities: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"]
])

/**
 * Escapes text for elements and for attributes in double quotes. The text is made printable first, because printable
 * characters are valid in XML; `>` is escaped to prevent `]]>`.
 */
export const escaped = (text: string): string =>
  printable(text).replace(/[&<>"]/g, (character) => entities.get(character) ?? character)
