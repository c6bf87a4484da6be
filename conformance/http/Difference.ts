/** Says in a few words which animal is meant, and where two animals or texts differ. */
import type { Animal } from "./Animal.ts"
import { escaped } from "./Printable.ts"

/** Number of characters that are shown before and after the first difference of two texts. */
const AROUND = 20

/** Returns an animal by its id and the beginning of its name. */
export const nameOf = ({ id, name, status }: Animal): string =>
  `animal ${id} (${quote([...name], 0)}${status === undefined ? "" : `, ${status}`})`

/** Returns the fields in which two animals differ, of each of them. */
export const between = (a: Animal, b: Animal): readonly [string, string] => {
  const rest = ({ categoryId }: Animal) => (a.categoryId === b.categoryId ? "" : `, categoryId ${categoryId}`)
  const [first, second] = a.name === b.name ? ["", ""] : texts(a.name, b.name).map((name) => `, name ${name}`)
  return [`animal ${a.id}${first}${rest(a)}`, `animal ${b.id}${second}${rest(b)}`]
}

/** Returns two texts around their first difference, and where it is if the beginning is not shown. */
export const texts = (a: string, b: string): readonly [string, string] => {
  const [one, other] = [[...a], [...b]]
  const same = one.findIndex((character, index) => character !== other[index])
  const at = same === -1 ? one.length : same
  const placeOf = ({ length }: ReadonlyArray<string>) =>
    length > at
      ? `${length} characters, different from character ${at + 1} on`
      : `${length} characters, then it ends`
  const shown = (all: ReadonlyArray<string>) => quote(all, at) + (at > AROUND ? ` (${placeOf(all)})` : "")
  return [shown(one), shown(other)]
}

/** Returns a text around a character as JSON; whatever has no shape of its own becomes an escape. */
const quote = (all: ReadonlyArray<string>, at: number): string => {
  const [from, to] = [Math.max(0, at - AROUND), at + AROUND]
  const shown = JSON.stringify(all.slice(from, to).join("")).replaceAll(
    /[\p{M}\p{Cf}\p{Co}\p{Cn}\p{Z}\p{Cc}]/gu,
    (character) => (character === " " ? " " : escaped(character))
  )
  return `${from > 0 ? "…" : ""}${shown}${to < all.length ? "…" : ""}`
}
