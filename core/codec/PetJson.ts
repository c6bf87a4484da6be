/** Encodes animals as JSON text (contract §2 `Pet`); int64 fields are JSON numbers with all their digits. */
import type { Pet } from "../domain/Pet.ts"

/** Maximum number of bytes of an encoded animal, with a separator: 255 characters of a name, each as `\u0001`. */
export const MAX_BYTES = 1_640

/**
 * Encodes an animal as a JSON object.
 *
 * @example
 * ```ts
 * encode(new Pet(1n, { name: "Rex", categoryId: 7n, status: "sold" }))
 * // {"id":1,"name":"Rex","categoryId":7,"status":"sold"}
 * ```
 */
export const encode = ({ categoryId, id, name, status }: Pet): string =>
  `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`

/** Encodes animals as a JSON array. */
export const encodeAll = (pets: ReadonlyArray<Pet>): string => {
  let text = ""
  for (const pet of pets) text += text === "" ? encode(pet) : `,${encode(pet)}`
  return `[${text}]`
}
