/**
 * Defines the operators that change values. An operator gets every value of its place, so that it can return an earlier
 * value.
 */

/** The kind of a value; an operator applies to the places of its kinds. */
export type Kind =
  | "integer"
  | "count"
  | "text"
  | "words"
  | "type"
  | "status"
  | "list"
  | "body"
  | "code"
  | "call"
  | "rule"
  | "caller"

/** Stands for a value that is omitted. */
export const absent = Symbol("absent")

/** A value that is sent twice. */
export class Twice {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}

export type Change = (value: unknown) => unknown

export interface Operator {
  /** Part of the id of a mutant, such as `drop`. */
  readonly id: string
  readonly kinds: ReadonlyArray<Kind>
  /** Creates a change that has not yet received any value. */
  readonly make: () => Change
}

const pure = (kinds: ReadonlyArray<Kind>, id: string, change: Change): Operator => ({
  id,
  kinds,
  make: () => change
})

const forType =
  <A>(isOfType: (value: unknown) => value is A) =>
  (kinds: ReadonlyArray<Kind>, id: string, change: (value: A) => unknown): Operator =>
    pure(kinds, id, (value) => (isOfType(value) ? change(value) : value))

const integer = forType((value): value is bigint => typeof value === "bigint")
const string = forType((value): value is string => typeof value === "string")
const items = forType((value): value is ReadonlyArray<unknown> => Array.isArray(value))

/** Creates an operator that returns the value from `back` values ago, or the first value if there are fewer. */
const earlier = (kinds: ReadonlyArray<Kind>, id: string, back: number): Operator => ({
  id,
  kinds,
  make: () => {
    const seen: Array<unknown> = []
    return (value) => {
      seen.push(value)
      if (Number.isFinite(back) && seen.length > back + 1) seen.shift()
      return seen[0]
    }
  }
})

const values = ["integer", "text", "status"] as const
const numbers = ["integer", "count"] as const
const strings = ["text", "status"] as const

const nextStatus: Readonly<Record<string, string>> = {
  available: "pending",
  pending: "sold",
  sold: "available"
}

const forValues: ReadonlyArray<Operator> = [
  pure([...values, "words", "type", "list", "body"], "drop", () => absent),
  pure([...values, "words", "list"], "send null for", () => null),
  pure(["integer", "text", "words", "type"], "duplicate", (value) => new Twice(value)),
  earlier([...values, "count", "list", "body"], "send the previous", 1),
  earlier([...values, "count", "list", "body"], "send the one before the previous", 2),
  earlier([...values, "count", "list", "body"], "always send the first", Number.POSITIVE_INFINITY)
]

const forNumbers: ReadonlyArray<Operator> = [
  integer(numbers, "add one to", (value) => value + 1n),
  integer(numbers, "take one from", (value) => value - 1n),
  integer(numbers, "add 60 to", (value) => value + 60n),
  integer(numbers, "double", (value) => value * 2n),
  integer(numbers, "halve", (value) => value / 2n),
  integer(numbers, "round to tens", (value) => (value / 10n) * 10n),
  integer(numbers, "multiply by 1000", (value) => value * 1_000n),
  integer(numbers, "send zero for", () => 0n),
  integer(["integer"], "negate", (value) => -value),
  integer(["integer"], "truncate to 32 bits", (value) => BigInt.asIntN(32, value)),
  integer(["integer"], "round to a double", (value) => BigInt(Number(value))),
  integer(["integer"], "cut a digit from", (value) => value / 10n),
  integer(["integer"], "send as a string", (value) => `"${value}"`),
  integer(["integer"], "send with a fraction", (value) => `${value}.5`)
]

const forText: ReadonlyArray<Operator> = [
  string([...strings, "words", "type"], "empty", () => ""),
  string(strings, "put into capitals", (value) => value.toUpperCase()),
  string(["text"], "put into small letters", (value) => value.toLowerCase()),
  string(["text"], "cut at 20 characters", (value) => value.slice(0, 20)),
  string(["type"], "cut at 10 characters", (value) => value.slice(0, 10)),
  string(["words"], "send a number for", (value) => BigInt(value.length)),
  string(["text"], "cut at 64 characters", (value) => value.slice(0, 64)),
  string(["text"], "cut at 100 characters", (value) => value.slice(0, 100)),
  string(["text"], "cut at 128 characters", (value) => value.slice(0, 128)),
  string(["text"], "cut at 200 characters", (value) => value.slice(0, 200)),
  string(["text"], "trim", (value) => value.trim()),
  string(["text"], "replace all but ASCII in", (value) => value.replace(/[^ -~]/gu, "?")),
  string(["text"], "replace 4-byte characters in", (value) =>
    value.replace(/[\u{10000}-\u{10ffff}]/gu, "\ufffd")
  ),
  string(["text"], "normalize", (value) => value.normalize("NFC")),
  string(["text"], "decompose", (value) => value.normalize("NFD")),
  string(["text"], "escape HTML in", (value) => value.replaceAll("&", "&amp;").replaceAll("<", "&lt;")),
  string(["text"], "cut at NUL", (value) => value.replace(/(?:\0|\\u0000).*$/s, "")),
  string(["text"], "lose the line feeds of", (value) => value.replaceAll(/\n|\\n/g, "")),
  string(["text"], "double the quotes in", (value) => value.replaceAll("'", "''")),
  string(["text"], "double the backslashes in", (value) => value.replaceAll("\\", "\\\\")),
  string(["text"], "percent-decode", (value) => value.replaceAll(/%[2-7][0-9a-f]/gi, decodeURIComponent)),
  string(["text"], "merge spaces in", (value) => value.replaceAll(/\s+/g, " ")),
  string([...strings, "type"], "add a letter to", (value) => `${value}x`),
  string(["status"], "swap", (value) => nextStatus[value] ?? value),
  string(["status"], "send an unknown", () => "lost")
]

const forLists: ReadonlyArray<Operator> = [
  items(["list"], "empty the", () => []),
  items(["list"], "drop the first of the", (value) => value.slice(1)),
  items(["list"], "drop the last of the", (value) => value.slice(0, -1)),
  items(["list"], "drop the middle of the", (value) =>
    value.filter((_, index) => index !== value.length >> 1)
  ),
  items(["list"], "duplicate the first of the", (value) => [...value.slice(0, 1), ...value]),
  items(["list"], "duplicate the last of the", (value) => [...value, ...value.slice(-1)]),
  items(["list"], "put the first for the last of the", (value) =>
    value.length < 2 ? value : [...value.slice(0, -1), value[0]]
  ),
  items(["list"], "cut at 10 the", (value) => value.slice(0, 10)),
  items(["list"], "cut at 50 the", (value) => value.slice(0, 50)),
  items(["list"], "cut at 99 the", (value) => value.slice(0, 99)),
  items(["list"], "reverse the", (value) => [...value].reverse()),
  items(["list"], "wrap the", (value) => ({ items: value })),
  items(["list"], "unwrap the", (value) => (value.length === 1 ? value[0] : value))
]

const forBodies: ReadonlyArray<Operator> = [
  string(["body"], "cut a byte from the", (value) => value.slice(0, -1)),
  string(["body"], "cut at 4096 bytes the", (value) => value.slice(0, 4_096)),
  string(["body"], "double the", (value) => value + value),
  string(["body"], "quote the", (value) => JSON.stringify(value)),
  string(["body"], "put a mark before the", (value) => `\ufeff${value}`),
  string(["body"], "put a comma after the", (value) => `${value},`),
  string(["body"], "put spaces around the", (value) => ` ${value} `),
  string(["body"], "send a page for the", () => "<h1>It works</h1>"),
  string(["body"], "lose the braces of the", (value) => value.replace(/^[[{]|[\]}]$/g, ""))
]

/** Operators that replace a status code. */
const forCodes: ReadonlyArray<Operator> = [200, 201, 204, 302, 400, 401, 403, 404, 422, 429, 500, 503].map(
  (code) => pure(["code"], `send ${code} for`, () => BigInt(code))
)

/** Operators for calls of a port and for rules; the new value names the action that replaces the call or the rule. */
const forCalls: ReadonlyArray<Operator> = [
  pure(["call", "rule"], "skip", () => "skip"),
  pure(["call"], "repeat", () => "repeat"),
  pure(["call"], "delay", () => "delay"),
  pure(["call"], "return the previous result of", () => "stale"),
  pure(["call"], "fail", () => "fail")
]

export const operators: ReadonlyArray<Operator> = [
  ...forValues,
  ...forNumbers,
  ...forText,
  ...forLists,
  ...forBodies,
  ...forCodes,
  ...forCalls
]
