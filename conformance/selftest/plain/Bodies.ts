/** Parses and validates the JSON of a new animal. */
import type { NewPet } from "./Animals.ts"
import { type Choices, type Status, statuses } from "./Choices.ts"

export const isStatus = (value: unknown): value is Status => statuses.some((status) => status === value)

/** Returns the exact value of a JSON number, or `undefined` if it is not an int64; never builds a longer integer. */
export const int64 = (source: string): bigint | undefined => {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source)
  if (parts === null) return undefined
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = parts
  const digits = whole + fraction
  let from = 0
  let to = digits.length
  while (digits[from] === "0") from++
  while (to > from && digits[to - 1] === "0") to--
  if (from >= to) return 0n
  const zeros = Number(exponent) - fraction.length + digits.length - to
  if (zeros < 0 || to - from + zeros > 19) return undefined
  const value = BigInt(sign + digits.slice(from, to) + "0".repeat(zeros))
  return value === BigInt.asIntN(64, value) ? value : undefined
}

/** Parses JSON with each accepted int64 as a `bigint`; returns `undefined` if the body cannot be parsed. */
const parse = (body: Uint8Array, { byteOrderMark, integers }: Choices): unknown => {
  const reviver = (_name: string, value: unknown, context?: { readonly source?: string }): unknown => {
    if (typeof value !== "number") return value
    const source = context?.source ?? ""
    return integers === "digits only" && !/^-?\d+$/.test(source) ? value : (int64(source) ?? value)
  }
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: byteOrderMark === 400 })
    return JSON.parse(decoder.decode(body), reviver)
  } catch {
    return undefined // not UTF-8, not JSON, or nested too deeply for the parser's stack
  }
}

/** Whether a member is written twice, with or without escapes. */
const hasTwice = (body: Uint8Array): boolean => {
  const text = new TextDecoder()
    .decode(body)
    .replaceAll(/\\u00([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return ["name", "categoryId", "status"].some((name) => text.split(`"${name}"`).length > 2)
}

const stored = (name: string, form: Choices["nameForm"]): string => {
  if (form === "as sent") return name
  return form === "trimmed" ? name.trim() : name.normalize(form)
}

/** Returns the animal in a body, or `undefined` if the body is invalid. */
export const newPet = (body: Uint8Array, choices: Choices): NewPet | undefined => {
  const value = parse(body, choices)
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  const fields = value as Record<string, unknown> // the result of JSON.parse for an object
  const { categoryId, id, name, status: given, ...others } = fields
  if (typeof name !== "string" || !choices.names.test(name) || typeof categoryId !== "bigint")
    return undefined
  if (choices.repeatedFields === 400 && hasTwice(body)) return undefined
  if (choices.sentId === 400 && id !== undefined) return undefined
  if (choices.unknownFields === 400 && Object.keys(others).length > 0) return undefined
  const kept = stored(name, choices.nameForm)
  if (given === undefined || (given === null && choices.nullStatus === "as absent")) {
    const { defaultStatus } = choices
    return { name: kept, categoryId, status: defaultStatus === "absent" ? undefined : defaultStatus }
  }
  return isStatus(given) ? { name: kept, categoryId, status: given } : undefined
}
