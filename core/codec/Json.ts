/**
 * Parses and encodes JSON (RFC 8259) without loss: numbers keep their source text, duplicate names are rejected
 * (RFC 7493 §2.3), and nesting is bounded. Parsing takes linear time and never overflows the stack.
 */
import * as Result from "effect/Result"

/** A number with its source text, because a double would round int64. */
export class JsonNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A parsed array. */
export interface JsonArray extends ReadonlyArray<Json> {}

/** A parsed object; it has no prototype, so that `__proto__` is an ordinary name. */
export interface JsonObject {
  readonly [name: string]: Json
}

/** A parsed JSON value of any type. */
export type Json = null | boolean | string | JsonNumber | JsonArray | JsonObject

/** The reason why a text is rejected, and the index of the first invalid UTF-16 code unit. */
export interface JsonError {
  readonly reason: string
  readonly position: number
}

/** Maximum nesting depth of arrays and objects; an object in an object has depth 2. */
export const maxDepth = 32

/**
 * Parses a JSON text; fails with the reason and the position of the first error.
 *
 * @example
 * ```ts
 * parse('{"id":9223372036854775807}') // Result.succeed({ id: JsonNumber("9223372036854775807") })
 * parse('{"a":1,"a":2}') // Result.fail({ reason: "duplicate name in an object", position: 7 })
 * ```
 */
export const parse = (text: string): Result.Result<Json, JsonError> => {
  const parser = new Parser(text)
  try {
    return Result.succeed(parser.parseDocument())
  } catch (error) {
    if (error === parser.error && parser.error !== undefined) return Result.fail(parser.error)
    throw error
  }
}

const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

const escapePattern = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

// Maximum length, with the opening quote, of strings that are sliced. V8 copies short slices, but a long slice
// references its parent string, so that one stored name would keep a whole body in memory.
const MAX_SLICE = 12

// Uses `JSON.parse` only for single strings, because it rounds numbers and accepts duplicate names.
class Parser {
  readonly text: string
  index = 0
  depth = 0
  error: JsonError | undefined

  constructor(text: string) {
    this.text = text
  }

  parseDocument(): Json {
    this.skipWhitespace()
    const value = this.parseValue()
    this.skipWhitespace()
    if (this.index < this.text.length) this.fail("unexpected text after the value")
    return value
  }

  fail(reason: string, position = this.index): never {
    this.error = { reason, position }
    throw this.error
  }

  parseValue(): Json {
    switch (this.text.charCodeAt(this.index)) {
      case 0x7b:
        return this.parseObject()
      case 0x5b:
        return this.parseArray()
      case 0x22:
        return this.parseString()
      case 0x74:
        return this.parseLiteral("true", true)
      case 0x66:
        return this.parseLiteral("false", false)
      case 0x6e:
        return this.parseLiteral("null", null)
      default:
        return this.parseNumber()
    }
  }

  parseLiteral<A extends Json>(word: string, value: A): A {
    if (!this.text.startsWith(word, this.index)) this.fail("expected a JSON value")
    this.index += word.length
    return value
  }

  parseNumber(): JsonNumber {
    const start = this.index
    numberPattern.lastIndex = start
    if (!numberPattern.test(this.text)) {
      this.fail(start < this.text.length ? "expected a JSON value" : "unexpected end of input")
    }
    this.index = numberPattern.lastIndex
    return new JsonNumber(this.text.slice(start, this.index))
  }

  parseString(): string {
    const { text } = this
    const start = this.index
    let hasEscape = false
    for (this.index++; ; this.index++) {
      const unit = text.charCodeAt(this.index)
      if (unit === 0x22) break
      if (unit === 0x5c) {
        hasEscape = true
        escapePattern.lastIndex = this.index
        if (!escapePattern.test(text)) this.fail("invalid escape inside a string")
        this.index = escapePattern.lastIndex - 1
      } else if (unit < 0x20) {
        this.fail("unescaped control character inside a string")
      } else if (Number.isNaN(unit)) {
        this.fail("unexpected end of input inside a string")
      }
    }
    const end = this.index++
    if (!hasEscape && end - start <= MAX_SLICE) return text.slice(start + 1, end)
    return JSON.parse(text.slice(start, this.index))
  }

  parseArray(): JsonArray {
    this.enter()
    const items: Array<Json> = []
    if (!this.tryConsume(0x5d)) {
      do {
        this.skipWhitespace()
        items.push(this.parseValue())
      } while (this.hasNext(0x5d, "expected ',' or ']'"))
    }
    this.depth--
    return items
  }

  parseObject(): JsonObject {
    this.enter()
    const members: { [name: string]: Json } = Object.create(null)
    if (!this.tryConsume(0x7d)) {
      do {
        this.skipWhitespace()
        const position = this.index
        if (this.text.charCodeAt(position) !== 0x22) this.fail("expected a name in double quotes")
        const name = this.parseString()
        // Not `in`, which takes three times as long; values of members are never undefined.
        if (members[name] !== undefined) this.fail("duplicate name in an object", position)
        this.skipWhitespace()
        if (this.text.charCodeAt(this.index) !== 0x3a) this.fail("expected ':'")
        this.index++
        this.skipWhitespace()
        members[name] = this.parseValue()
      } while (this.hasNext(0x7d, "expected ',' or '}'"))
    }
    this.depth--
    return members
  }

  enter(): void {
    if (this.depth === maxDepth) this.fail(`nested deeper than ${maxDepth} levels`)
    this.depth++
    this.index++
  }

  tryConsume(close: number): boolean {
    this.skipWhitespace()
    if (this.text.charCodeAt(this.index) !== close) return false
    this.index++
    return true
  }

  hasNext(close: number, expectation: string): boolean {
    if (this.tryConsume(close)) return false
    if (this.text.charCodeAt(this.index) !== 0x2c) this.fail(expectation)
    this.index++
    return true
  }

  skipWhitespace(): void {
    for (; ; this.index++) {
      const unit = this.text.charCodeAt(this.index)
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return
    }
  }
}

/** The input of `stringify`: JSON values, with `bigint` for integers of any size. */
export type Encodable = null | boolean | number | bigint | string | ReadonlyArray<Encodable> | EncodableObject

/** An object for `stringify`; `undefined` members are omitted. */
export interface EncodableObject {
  readonly [name: string]: Encodable | undefined
}

/** Encodes a value as JSON text; a `bigint` becomes a number with all its digits. */
export const stringify = (value: Encodable): string => {
  if (typeof value === "bigint") return value.toString()
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(stringify).join(",")}]`
  return `{${Object.entries(value)
    .filter((member): member is [string, Encodable] => member[1] !== undefined)
    .map(([name, member]) => `${JSON.stringify(name)}:${stringify(member)}`)
    .join(",")}}`
}
