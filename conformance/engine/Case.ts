/** Encodes cases as JSON, so that a failure can be stored and replayed; preserves bigint, bytes and `undefined`. */

const replacer = function (this: unknown, _name: string, value: unknown): unknown {
  if (typeof value === "bigint") return { $int: String(value) }
  if (value === undefined) return { $none: true }
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString("base64") }
  return value
}

const reviver = (_name: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if ("$int" in value && typeof value.$int === "string") return BigInt(value.$int)
  if ("$none" in value) return UNDEFINED
  if ("$bytes" in value && typeof value.$bytes === "string") {
    return new Uint8Array(Buffer.from(value.$bytes, "base64"))
  }
  return value
}

// JSON.parse removes a member if the reviver returns `undefined`, so `restore` replaces this symbol afterwards.
const UNDEFINED = Symbol("undefined")

const restore = (value: unknown): unknown => {
  if (value === UNDEFINED) return undefined
  if (Array.isArray(value)) return value.map(restore)
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, restore(member)]))
}

/** Encodes a case as text. */
export const encode = (given: unknown): string => JSON.stringify(given, replacer) ?? '{"$none":true}'

/** Decodes a case that `encode` wrote; throws `SyntaxError` for any other text. */
export const decode = (text: string): unknown => restore(JSON.parse(text, reviver))
