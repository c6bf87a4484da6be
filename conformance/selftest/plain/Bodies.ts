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
const parse = (body: Uint8Array, integers: Choices["integers"]): unknown => {
  const reviver = (_name: string, value: unknown, context?: { readonly source?: string }): unknown => {
    if (typeof value !== "number") return value
    const source = context?.source ?? ""
    return integers === "digits only" && !/^-?\d+$/.test(source) ? value : (int64(source) ?? value)
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body), reviver)
  } catch {
    return undefined // not UTF-8, not JSON, or nested too deeply for the parser's stack
  }
}

const isName = (name: unknown, { maximum, minimum, onlyAscii }: Choices["names"]): name is string =>
  typeof name === "string" &&
  name.length >= minimum &&
  name.length <= maximum &&
  (!onlyAscii || /^[ -~]*$/.test(name))

/** Returns the animal in a body, or `undefined` if the body is invalid. */
export const newPet = (body: Uint8Array, choices: Choices): NewPet | undefined => {
  const value = parse(body, choices.integers)
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  const fields = value as Record<string, unknown> // the result of JSON.parse for an object
  const { categoryId, id, name, status: given, ...others } = fields
  if (!isName(name, choices.names) || typeof categoryId !== "bigint") return undefined
  if (choices.sentId === 400 && id !== undefined) return undefined
  if (choices.unknownFields === 400 && Object.keys(others).length > 0) return undefined
  const stored = choices.nameForm === "as sent" ? name : name.normalize(choices.nameForm)
  if (given === undefined || (given === null && choices.nullStatus === "as absent")) {
    const { defaultStatus } = choices
    return { name: stored, categoryId, status: defaultStatus === "absent" ? undefined : defaultStatus }
  }
  return isStatus(given) ? { name: stored, categoryId, status: given } : undefined
}
