/** Reads what a request asks for, as far as the contract says (§4, §5). */
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { decode, parameters, split } from "../http/RequestTarget.ts"
import { headerValues, type WireRequest } from "../http/Wire.ts"
import * as Creation from "./Creation.ts"
import type { Key, Setup } from "./Exchange.ts"

/**
 * Who sends a request. `open` is a credential that the contract neither allows nor forbids, such as a valid key after
 * `bearer`; a service that accepts it takes it for `key`.
 */
export type Caller =
  | { readonly is: "valid" | "open"; readonly key: Key }
  | {
      readonly is: "missing" | "invalid"
      readonly key?: undefined
      /** The clause by which it gets 401, and why. */
      readonly clause: ClauseSlug
      readonly because: string
    }

/** A query parameter: its value if the contract allows it, otherwise what is unusual about it. */
export type Parameter<A> =
  | { readonly is: "absent" }
  | { readonly is: "valid"; readonly value: A }
  | { readonly is: "open"; readonly because: string; readonly text: string }

/** The operation of contract §4 that a request calls; `none` for a path or a method that is not in the contract. */
export type Operation =
  | {
      readonly is: "list"
      readonly limit: Parameter<number>
      readonly status: Parameter<string>
      readonly hasOthers: boolean
    }
  | { readonly is: "create"; readonly creation: Creation.Creation }
  /** `id` is `undefined` if the path segment is no int64; `form` is how it is written. */
  | {
      readonly is: "get"
      readonly id: bigint | undefined
      readonly form: "shortest" | "percent-encoded" | "other"
    }
  | { readonly is: "none"; readonly path: "pets" | "pet" | "unknown" }

export interface Asked {
  readonly caller: Caller
  readonly operation: Operation
  /** Whether the request has nothing that the contract does not describe. */
  readonly isPlain: boolean
}

export const read = (request: WireRequest, setup: Setup, known = Creation.nothing): Asked => {
  const operation = operationOf(request, setup, known)
  return { caller: callerOf(request, setup), operation, isPlain: isPlain(request, operation) }
}

/** §5.1: the key is sent as `Authorization: Bearer <API_KEY>`. */
const callerOf = (request: WireRequest, { keys }: Setup): Caller => {
  const given = headerValues(request, "authorization")
  if (given.length === 0) return withoutCredential(request, keys)
  const exact = keys.find(({ secret }) => given.length === 1 && given[0] === `Bearer ${secret}`)
  if (exact?.isValid) return { is: "valid", key: exact }
  if (exact?.name === "expired") return invalid("auth.expired", "an expired key")
  if (exact !== undefined) return invalid("auth.revoked", "a revoked key")
  const valid = keys.filter(({ isValid }) => isValid)
  // The case of the scheme, more white space, quotes and a second credential are open.
  const parts = given.flatMap((value) => [value, ...value.split(",")]).map(lenient)
  const near = valid.find(({ secret }) => parts.includes(`bearer ${secret}`))
  if (near !== undefined) return { is: "open", key: near }
  const [miss] = valid.flatMap(({ secret }) => nearMiss(parts[0] ?? "", secret) ?? [])
  return miss ?? invalid("auth.invalid", "a wrong key")
}

const invalid = (clause: ClauseSlug, because: string): Caller => ({ is: "invalid", clause, because })

const withoutCredential = ({ headers, target }: WireRequest, keys: ReadonlyArray<Key>): Caller => {
  const all = [target, ...headers.map(([, value]) => value)]
  const isElsewhere = keys.some(({ secret }) => all.some((text) => text.includes(secret)))
  return isElsewhere
    ? { is: "missing", clause: "auth.header-only", because: "a key outside of Authorization" }
    : { is: "missing", clause: "auth.required", because: "no key" }
}

/** Returns why a credential that is nearly a valid one is invalid. */
const nearMiss = (credential: string, secret: string): Caller | undefined => {
  const [, scheme = "", token = ""] = /^(?:(\S+) )?(.*)$/.exec(credential) ?? []
  if (token === secret) return invalid("auth.other-scheme", "a key with another scheme or none")
  if (scheme !== "bearer") return undefined
  if (token.toLowerCase() === secret.toLowerCase()) return invalid("auth.key-case", "a key in another case")
  if (decode(token) === secret) return invalid("auth.token-verbatim", "a percent-encoded key")
  const isPart = token !== "" && (token.includes(secret) || secret.includes(token))
  return isPart ? invalid("auth.whole-key", "a part of a key, or more than a key") : undefined
}

/** Reads a credential as leniently as a service may. */
const lenient = (credential: string): string =>
  credential
    .replaceAll(/["']/g, "")
    .trim()
    .replaceAll(/\s+/g, " ")
    .replace(/^bearer /i, "bearer ")

const operationOf = (request: WireRequest, setup: Setup, known: Creation.Known): Operation => {
  const { method, target } = request
  const [path] = split(target)
  const pets = `${setup.basePath}/pets`
  if (path === pets && method === "GET") return listOf(target)
  if (path === pets && method === "POST")
    return { is: "create", creation: Creation.read(request, setup, known) }
  if (path === pets) return { is: "none", path: "pets" }
  const id = path.startsWith(`${pets}/`) ? path.slice(pets.length + 1) : ""
  if (id === "" || id.includes("/")) return { is: "none", path: "unknown" }
  return method === "GET" ? getOf(id) : { is: "none", path: "pet" }
}

const getOf = (segment: string): Operation => {
  // Some services read 01, +1 and 1.0 as 1.
  const digits = /^\s*\+?(-?[0-9]{1,40})(?:\.0*)?\s*$/.exec(decode(segment))?.[1]
  const number = BigInt(digits ?? 0)
  const id = digits === undefined || BigInt.asIntN(64, number) !== number ? undefined : number
  const isShortest = id !== undefined && String(id) === decode(segment)
  const spelling = String(id) === segment ? "shortest" : "percent-encoded"
  return { is: "get", id, form: isShortest ? spelling : "other" }
}

/** §4.1: `limit` and `status`. */
const listOf = (target: string): Operation => {
  const given = parameters(target)
  const values = (name: string) => given.filter(([key]) => key === name).map(([, value]) => value)
  return {
    is: "list",
    limit: parameter(values("limit"), (text) =>
      /^(?:[1-9][0-9]?|100)$/.test(text) ? Number(text) : undefined
    ),
    status: parameter(values("status"), (text) => (Creation.isStatus(text) ? text : undefined)),
    hasOthers: given.some(([key]) => !["limit", "status"].includes(key))
  }
}

/** Whether a text has a percent sign that begins no escape, so that no two servers read it alike (RFC 3986 §2.1). */
const isMalformed = (text: string): boolean => /%(?![0-9a-f]{2})/i.test(text)

const parameter = <A>(
  values: ReadonlyArray<string>,
  valid: (text: string) => A | undefined
): Parameter<A> => {
  const [text] = values
  if (text === undefined) return { is: "absent" }
  if (values.length > 1) return { is: "open", because: "repeated", text }
  if (isMalformed(text)) return { is: "open", because: "with a malformed escape", text: "" }
  // Percent escapes of letters and digits are like the characters themselves (RFC 3986 §6.2.2.2).
  const decoded = decode(text)
  const value = valid(decoded)
  return value === undefined
    ? { is: "open", because: unusual(decoded), text: decoded }
    : { is: "valid", value }
}

const unusual = (text: string): string => {
  if (text === "") return "empty"
  if (!/^(?:0|-?[1-9][0-9]*)$/.test(text)) return "of another form"
  if (text.length > 9) return "beyond an integer type"
  return Number(text) > 100 ? "above 100" : Number(text) < 0 ? "below 0" : "of 0"
}

/** Whether a request has only headers that the contract describes, or that change nothing. */
const isPlain = ({ body, headers, method, target }: WireRequest, { is }: Operation): boolean => {
  if (is !== "create" && body !== undefined) return false
  if ((is !== "list" && target.includes("?")) || isMalformed(target)) return false
  return headers.every(([given, value]) => {
    const name = given.toLowerCase()
    if (name === "accept")
      return /(?:\*\/\*|application\/(?:json|\*))\s*(?:;\s*q=(?:1|0\.[1-9])[0-9.]*\s*)?(?:,|$)/.test(value)
    const isType = name === "content-type" && (method === "POST" || value === "application/json")
    return name === "authorization" || isType
  })
}
