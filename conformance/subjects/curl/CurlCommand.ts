/** Renders one request as a curl command. */
import type { Exchange, KeyName } from "../../http/Exchange.ts"
import { printable } from "../../http/Printable.ts"
import type { Header } from "../../http/Wire.ts"
import { type Chain, chainOf } from "./IdChain.ts"
import { type Part, printfFormat, toLatin1, word } from "./ShellWord.ts"

/** Environment variables from which the script reads the declared keys. */
export const variables: ReadonlyMap<KeyName, string> = new Map([
  ["main", "ANIMAL_KEY"],
  ["tiny", "ANIMAL_TINY_KEY"],
  ["victim", "ANIMAL_VICTIM_KEY"],
  ["revoked", "ANIMAL_REVOKED_KEY"],
  ["expired", "ANIMAL_EXPIRED_KEY"]
])

/** Minimum length of a secret that is replaced outside of `Authorization`: a shorter one may occur there by chance. */
const MIN_SECRET = 8

/** Maximum size in bytes of a body that is passed as an argument; Linux allows 131,072 bytes. */
const MAX_ARGUMENT = 100_000

/** Size of a body in bytes above which curl sends `Expect: 100-continue`. */
const MAX_WITHOUT_EXPECT = 1_000_000

/** Timeout in seconds of a HEAD with a body, because curl waits for a response body that is never sent. */
const HEAD_SECONDS = 10

export interface Context {
  readonly basePath: string
  readonly ids: ReadonlyArray<Chain>
  readonly secrets: { readonly [name in KeyName]?: string | undefined }
  /** The mark in the names of animals; the script replaces it with its own mark. */
  readonly token?: string | undefined
  /** How the responses of the case are compared. */
  readonly modes: ReadonlyMap<Exchange, string>
  readonly redact: (text: string) => string
  /** The texts from which parts of a key were removed. */
  readonly missing: Set<string>
}

/** Returns the command for one request; it writes the response with its headers to standard output. */
export const command = (exchange: Exchange, context: Context): string => {
  const { body, headers, method } = exchange.request
  const hasHeader = (name: string) => headers.some(([given]) => given.toLowerCase() === name)
  const isHead = method === "HEAD"
  const options = [
    "curl -sS -i -g --path-as-is",
    ...(isHead && body === undefined ? ["--head"] : [`-X ${word([method])}`]),
    ...(isHead && body !== undefined ? [`--max-time ${HEAD_SECONDS}`] : []),
    // curl adds these headers by default.
    ...(hasHeader("user-agent") ? [] : ["-A ''"]),
    ...(hasHeader("accept") ? [] : ["-H Accept:"]),
    ...(body === undefined || hasHeader("content-type") ? [] : ["-H Content-Type:"]),
    ...((body?.length ?? 0) > MAX_WITHOUT_EXPECT && !hasHeader("expect") ? ["-H Expect:"] : [])
  ]
  const given = headers.flatMap((header) => headerOption(header, exchange.key, context))
  const { input, option } = bodyOf(body, context)
  const lines = [options.join(" "), ...given, ...option, address(exchange, context)].join(" \\\n  ")
  const whole = input === undefined ? lines : `${input} |\n  ${lines}`
  return isHead && body !== undefined ? `{ ${whole} || :; }` : whole
}

/** Headers that curl generates itself. */
const generatedByCurl: ReadonlySet<string> = new Set(["host", "content-length"])

const headerOption = ([name, value]: Header, key: KeyName, context: Context): ReadonlyArray<string> => {
  const lower = name.toLowerCase()
  if (generatedByCurl.has(lower)) return []
  const variable = variables.get(key)
  if (lower === "authorization") {
    if (key === "none") return []
    if (variable !== undefined) {
      const scheme = /^\s*(\S+)\s/.exec(value)?.[1] ?? "Bearer"
      return [`-H ${word([...toLatin1([`${name}: ${scheme} `]), { variable }])}`]
    }
  }
  // A semicolon instead of the colon makes curl send a header without a value.
  if (value.trim() === "") return [`-H ${word([`${name};`])}`]
  return [`-H ${word([`${name}: `, ...toLatin1(split(value, context))])}`]
}

/** Returns the address, and the exact request target if curl would change it. */
const address = (exchange: Exchange, context: Context): string => {
  const { target } = exchange.request
  const { basePath } = context
  const rest = target.slice(basePath.length)
  const isBelow = target.startsWith(basePath) && /^(?:[/?]|$)/.test(rest)
  const id = chainOf(exchange, context)
  const path =
    isBelow && id !== undefined
      ? ["/pets/", { variable: id.variable }, ...toLatin1(split(rest.slice(6 + id.id.length), context))]
      : toLatin1(split(isBelow ? rest : target, context))
  const isPlain = isBelow && /^\/[\w/%.~,:;@!$'()*+=&-]*(?:\?[\w/%.~,:;@!$'()*+=&?-]+)?$/.test(rest)
  if (isPlain) return word([{ variable: "BASE" }, ...path])
  return isBelow
    ? `--request-target ${word([{ variable: "PREFIX" }, ...path])} "$BASE/"`
    : `--request-target ${word(path)} "$ORIGIN/"`
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const bodyOf = (
  body: Uint8Array | undefined,
  context: Context
): { readonly option: ReadonlyArray<string>; readonly input?: string } => {
  if (body === undefined) return { option: [] }
  let content: string | undefined
  try {
    content = utf8.decode(body)
  } catch {
    // The body is not text, so it is written byte by byte.
  }
  const isShown = content?.split("\n").every((line) => printable(line) === line) ?? false
  // curl interprets text after @ as the name of a file.
  if (content !== undefined && isShown && body.length <= MAX_ARGUMENT && !content.startsWith("@")) {
    return { option: [`--data-binary ${word(split(content, context))}`] }
  }
  return { option: ["--data-binary @-"], input: writeCommand(Buffer.from(body).toString("latin1"), context) }
}

/** Returns a command that writes characters up to U+00FF as bytes. */
export const writeCommand = (raw: string, context: Context): string => {
  const prints = split(raw, context).map((part) =>
    typeof part === "string" ? `printf ${printfFormat(part)}` : `printf '%s' ${word([part])}`
  )
  return prints.length === 1 ? prints.join("") : `{ ${prints.join("; ")}; }`
}

/** Splits text at the secrets, which become variables, and redacts parts of keys in the rest. */
const split = (content: string, { missing, redact, secrets, token }: Context): ReadonlyArray<Part> => {
  let parts: ReadonlyArray<Part> = [content]
  const known = [...variables].flatMap(([key, variable]) => {
    const secret = secrets[key]
    return secret === undefined || secret.length < MIN_SECRET ? [] : [{ secret, variable }]
  })
  const marks = token === undefined ? [] : [{ secret: token, variable: "RUN" }]
  for (const { secret, variable } of [...known, ...marks].sort((a, b) => b.secret.length - a.secret.length)) {
    parts = parts.flatMap((part): ReadonlyArray<Part> => {
      if (typeof part !== "string") return [part]
      return part.split(secret).flatMap((piece, index) => (index === 0 ? [piece] : [{ variable }, piece]))
    })
  }
  return parts
    .filter((part) => part !== "")
    .map((part) => {
      if (typeof part !== "string") return part
      const clean = redact(part)
      if (clean !== part) missing.add(part)
      return clean
    })
}
