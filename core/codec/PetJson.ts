/** Encodes animals as JSON text (contract §2 `Pet`); int64 fields are JSON numbers with all their digits. */
import type { Pet } from "../domain/Pet.ts"

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
export const encodeAll = (pets: ReadonlyArray<Pet>): string => `[${pets.map(encode).join(",")}]`
