/** A failing case as a shell script that sends the same requests with curl. */
import type { Step } from "../engine/Trial.ts"
import type { Exchange, KeyName } from "../http/Exchange.ts"
import { type Header, header, text, type WireResponse } from "../http/Wire.ts"
import * as Redaction from "./Redaction.ts"
import * as Wording from "./Wording.ts"

export interface Source {
  /** Id of the check. */
  readonly check: string
  readonly law: string
  readonly expected: string
  readonly actual: string
  /** Where the subject was, with its base path or without, such as `http://127.0.0.1:3000/v1`. */
  readonly baseUrl: string
  /** Path before `/pets`, such as `/v1`. */
  readonly basePath: string
  /** The secrets of the declared keys; none of them comes into the script. */
  readonly secrets: { readonly [name in KeyName]?: string | undefined }
  readonly steps: ReadonlyArray<Step>
}

/** Environment variables in which the script takes the declared keys. */
const variables: ReadonlyMap<KeyName, string> = new Map([
  ["main", "ANIMAL_KEY"],
  ["tiny", "ANIMAL_TINY_KEY"],
  ["victim", "ANIMAL_VICTIM_KEY"],
  ["revoked", "ANIMAL_REVOKED_KEY"]
])

/** Secrets shorter than this stand in texts by chance; they are taken out of `Authorization` only. */
const MIN_SECRET = 8

/** Longest body in bytes that is given as an argument: Linux allows 131 072 for one. */
const MAX_ARGUMENT = 100_000

/** Bodies above this size, in bytes, make curl ask before it sends. */
const MAX_UNASKED = 1_000_000

/** Seconds to wait for the answer to a HEAD with a body: curl expects a body there, which never comes. */
const HEAD_SECONDS = 10

/**
 * A complete POSIX `sh` script, or `undefined` when nothing went over the wire. It takes another base address
 * as its first argument and the keys from `ANIMAL_KEY`, `ANIMAL_TINY_KEY`, `ANIMAL_VICTIM_KEY` and
 * `ANIMAL_REVOKED_KEY`. An id that a `POST` was answered with is read from the answer of the subject at hand
 * and used in the paths that follow. Requests that were under way at once are sent at once. Where time passed it waits, or moves the clock whose address is in
 * `ANIMAL_CLOCK`. It needs `curl`,
 * and `mktemp` for those.
 */
export const make = (source: Source): string | undefined => {
  const { actual, baseUrl, basePath, check, expected, law, secrets, steps } = source
  const exchanges = steps.flatMap(({ exchange }) => (exchange === undefined ? [] : [exchange]))
  if (exchanges.length === 0) return undefined
  const redact = Redaction.make(secrets)
  const comment = (content: string): string => `# ${Wording.printable(redact(content))}`
  const ids = chainsOf(exchanges, basePath)
  const context: Context = { basePath, ids, secrets, redact, missing: new Set() }
  const body = blocksOf(steps, ids, basePath).flatMap((block) =>
    block.length === 1 ? single(block, context, comment) : together(block, context, comment)
  )
  const usedKeys = [...variables].filter(([, variable]) =>
    body.some((line) => line.includes(`$${variable}"`))
  )
  const usesOrigin = body.some((line) => line.includes("$ORIGIN"))
  const usesPrefix = body.some((line) => line.includes("$PREFIX"))
  return [
    "#!/bin/sh",
    comment(`${check}: ${law}`),
    comment(`expected: ${expected}`),
    comment(`actual:   ${actual}`),
    "# usage: sh SCRIPT [BASE-URL]",
    ...(context.missing.size === 0
      ? []
      : ["# Parts of a key were sent in this case; they are left out here and must be put in by hand."]),
    "set -eu",
    "LC_ALL=C; export LC_ALL",
    ...baseLines(baseUrl, basePath, redact),
    ...(usesPrefix || usesOrigin
      ? [`PREFIX=\${BASE#*://}`, `case $PREFIX in */*) PREFIX=/\${PREFIX#*/} ;; *) PREFIX= ;; esac`]
      : []),
    ...(usesOrigin ? [`ORIGIN=\${BASE%"$PREFIX"}`] : []),
    ...usedKeys.map(([key, variable]) => `: "\${${variable}:?set it to the ${key} key}"`),
    ...(body.some((line) => line.startsWith("pass ")) ? PASS : []),
    ...(body.includes("wait") ? ["DIR=$(mktemp -d)", "trap 'rm -rf \"$DIR\"' EXIT"] : []),
    ...body,
    ""
  ].join("\n")
}

/** Lets ms pass: by the server's clock where its address is in ANIMAL_CLOCK, else really. */
const PASS = [
  "pass() {",
  `  if [ -n "\${ANIMAL_CLOCK:-}" ]; then curl -sS -X POST "$ANIMAL_CLOCK/advance" --data-binary "{\\"ms\\":$1}"; echo`,
  '  else sleep "$((($1 + 999) / 1000))"; fi',
  "}"
]

interface Context {
  readonly basePath: string
  readonly ids: ReadonlyArray<Chain>
  readonly secrets: Source["secrets"]
  readonly redact: (text: string) => string
  /** Texts that had to be left out. */
  readonly missing: Set<string>
}

/** A step with its place among all. */
interface Numbered {
  readonly number: number
  readonly step: Step
}

/** An id that one exchange brought and later ones use. */
interface Chain {
  readonly from: Exchange
  readonly id: string
  readonly variable: string
}

const baseLines = (baseUrl: string, basePath: string, redact: (text: string) => string) => {
  const trimmed = redact(baseUrl).replace(/\/+$/, "")
  const base = trimmed.endsWith(basePath) ? trimmed : trimmed + basePath
  return /^[\w:/.[\]%@-]+$/.test(base)
    ? [`BASE=\${1:-${base}}`, `BASE=\${BASE%/}`]
    : [`DEFAULT=${word([base])}`, `BASE=\${1:-"$DEFAULT"}`, `BASE=\${BASE%/}`]
}

/** What `sed` is told to find; `idIn` finds the same. */
const idPattern = '.*"id"[[:space:]]*:[[:space:]]*\\(-\\{0,1\\}[0-9]\\{1,\\}\\).*'

const idIn = (response: WireResponse): string | undefined => {
  for (const line of text(response.body).split("\n")) {
    const id = /^.*"id"\s*:\s*(-?[0-9]+)/.exec(line)?.[1]
    if (id !== undefined) return id
  }
  return undefined
}

const isCreation = ({ request, response }: Exchange): boolean =>
  request.method === "POST" && response.status >= 200 && response.status < 300

/** The id that a request asks for, as it stands in the path. */
const idAskedFor = ({ request }: Exchange, basePath: string): string | undefined =>
  request.target.startsWith(`${basePath}/pets/`)
    ? /^(-?[0-9]+)(?:[/?]|$)/.exec(request.target.slice(basePath.length + 6))?.[1]
    : undefined

const chainsOf = (exchanges: ReadonlyArray<Exchange>, basePath: string): ReadonlyArray<Chain> => {
  const chains: Array<Chain> = []
  for (const [at, from] of exchanges.entries()) {
    const id = isCreation(from) ? idIn(from.response) : undefined
    if (id === undefined) continue
    if (!exchanges.slice(at + 1).some((later) => idAskedFor(later, basePath) === id)) continue
    chains.push({ from, id, variable: `ID${chains.length + 1}` })
  }
  return chains
}

/** The latest chain that a request hangs on. */
const chainOf = (
  exchange: Exchange,
  { basePath, ids }: Pick<Context, "basePath" | "ids">
): Chain | undefined => {
  const id = idAskedFor(exchange, basePath)
  return ids.findLast((chain) => chain.id === id && chain.from.index < exchange.index)
}

/** The steps in order; those whose requests were under way at once stand together. */
const blocksOf = (
  steps: ReadonlyArray<Step>,
  ids: ReadonlyArray<Chain>,
  basePath: string
): ReadonlyArray<ReadonlyArray<Numbered>> => {
  const blocks: Array<Array<Numbered>> = []
  let open: Array<Exchange> = []
  for (const [at, step] of steps.entries()) {
    const { exchange } = step
    const numbered = { number: at + 1, step }
    const isFree = exchange !== undefined && !exchange.isAlone
    const chain = exchange && chainOf(exchange, { basePath, ids })
    const joins =
      isFree &&
      open.length > 0 &&
      open.every((other) => exchange.sentAt <= other.receivedAt && chain?.from !== other)
    if (joins) blocks.at(-1)?.push(numbered)
    else {
      blocks.push([numbered])
      open = []
    }
    if (isFree) open.push(exchange)
  }
  return blocks
}

type Comment = (content: string) => string

const heading = (
  { number, step: { did, exchange, got, passedMs } }: Numbered,
  comment: Comment
): ReadonlyArray<string> =>
  exchange === undefined
    ? [
        comment(`${number}. ${got === "" ? did : `${did} -> ${got}`}`),
        ...(passedMs === undefined ? [] : [`pass ${passedMs}`])
      ]
    : [comment(`${number}. ${did}`), comment(seen(exchange.response))]

/** What the run saw, as far as laws speak of it. */
const seen = (response: WireResponse): string => {
  const names = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"]
  const shown = names.flatMap((name) => {
    const value = header(response, name)
    return value === undefined ? [] : [`${name}: ${value}`]
  })
  // The longest beginning that is shown, in UTF-8.
  const body = text(response.body.subarray(0, 800))
  const cut = body.length > 200 ? `${body.slice(0, 200)}...` : body
  return `${[String(response.status), ...shown].join(", ")}${cut === "" ? "" : ` ${cut}`}`
}

const single = (block: ReadonlyArray<Numbered>, context: Context, comment: Comment): ReadonlyArray<string> =>
  block.flatMap((numbered) => {
    const { exchange } = numbered.step
    if (exchange === undefined) return ["", ...heading(numbered, comment)]
    const chain = context.ids.find(({ from }) => from === exchange)
    const sent = command(exchange, context)
    return [
      "",
      ...heading(numbered, comment),
      ...(chain === undefined ? [sent, "echo"] : [`ANSWER=$(${sent})`, ...readId(chain)])
    ]
  })

const readId = ({ variable }: Chain): ReadonlyArray<string> => [
  `printf '%s\\n\\n' "$ANSWER"`,
  `${variable}=$(printf '%s\\n' "$ANSWER" | sed -n 's/${idPattern}/\\1/p' | head -n 1)`,
  `: "\${${variable}:?the answer has no id}"`
]

const together = (
  block: ReadonlyArray<Numbered>,
  context: Context,
  comment: Comment
): ReadonlyArray<string> => {
  const chains = block.flatMap(({ number, step }) =>
    context.ids.filter(({ from }) => from === step.exchange).map((chain) => ({ number, chain }))
  )
  return [
    "",
    `# The next ${block.length} were under way at once.`,
    ...block.flatMap((numbered) => {
      const { exchange } = numbered.step
      return [
        ...heading(numbered, comment),
        ...(exchange === undefined ? [] : [`${command(exchange, context)} >"$DIR/${numbered.number}" &`])
      ]
    }),
    "wait",
    ...block.map(({ number }) => `cat "$DIR/${number}"; echo`),
    ...chains.flatMap(({ chain, number }) => [`ANSWER=$(cat "$DIR/${number}")`, ...readId(chain).slice(1)])
  ]
}

/** One request as a command; its answer goes to standard output, with its head. */
const command = (exchange: Exchange, context: Context): string => {
  const { body, headers, method } = exchange.request
  const has = (name: string) => headers.some(([given]) => given.toLowerCase() === name)
  const isHead = method === "HEAD"
  const options = [
    "curl -sS -i -g --path-as-is",
    ...(isHead && body === undefined ? ["--head"] : [`-X ${word([method])}`]),
    ...(isHead && body !== undefined ? [`--max-time ${HEAD_SECONDS}`] : []),
    // curl would add these by itself.
    ...(has("user-agent") ? [] : ["-A ''"]),
    ...(has("accept") ? [] : ["-H Accept:"]),
    ...(body === undefined || has("content-type") ? [] : ["-H Content-Type:"]),
    ...((body?.length ?? 0) > MAX_UNASKED && !has("expect") ? ["-H Expect:"] : [])
  ]
  const given = headers.flatMap((one) => headerOption(one, exchange.key, context))
  const { input, option } = bodyOf(body, context)
  const lines = [options.join(" "), ...given, ...option, address(exchange, context)].join(" \\\n  ")
  const whole = input === undefined ? lines : `${input} |\n  ${lines}`
  return isHead && body !== undefined ? `{ ${whole} || :; }` : whole
}

/** Headers that curl must make by itself. */
const own: ReadonlySet<string> = new Set(["host", "content-length"])

const headerOption = ([name, value]: Header, key: KeyName, context: Context): ReadonlyArray<string> => {
  const lower = name.toLowerCase()
  if (own.has(lower)) return []
  const variable = variables.get(key)
  if (lower === "authorization") {
    if (key === "none") return []
    if (variable !== undefined) {
      const scheme = /^\s*(\S+)\s/.exec(value)?.[1] ?? "Bearer"
      return [`-H ${word([...onWire([`${name}: ${scheme} `]), { variable }])}`]
    }
  }
  // A semicolon instead of the colon is how curl is told to send a header without a value.
  if (value.trim() === "") return [`-H ${word([`${name};`])}`]
  return [`-H ${word([`${name}: `, ...onWire(split(value, context))])}`]
}

/** Where to send it, and exactly what to ask for where curl would not take it as it is. */
const address = (exchange: Exchange, context: Context): string => {
  const { target } = exchange.request
  const { basePath } = context
  const rest = target.slice(basePath.length)
  const isBelow = target.startsWith(basePath) && /^(?:[/?]|$)/.test(rest)
  const id = chainOf(exchange, context)
  const path =
    isBelow && id !== undefined
      ? ["/pets/", { variable: id.variable }, ...onWire(split(rest.slice(6 + id.id.length), context))]
      : onWire(split(isBelow ? rest : target, context))
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
    // Not text: it is written byte by byte.
  }
  const isShown = content?.split("\n").every((line) => Wording.printable(line) === line) ?? false
  // curl would take what follows an @ for the name of a file.
  if (content !== undefined && isShown && body.length <= MAX_ARGUMENT && !content.startsWith("@")) {
    return { option: [`--data-binary ${word(split(content, context))}`] }
  }
  const raw = Buffer.from(body).toString("latin1")
  const prints = split(raw, context).map((part) =>
    typeof part === "string" ? `printf ${octal(part)}` : `printf '%s' ${word([part])}`
  )
  const input = prints.length === 1 ? prints.join("") : `{ ${prints.join("; ")}; }`
  return { option: ["--data-binary @-"], input }
}

/** Text as it is, the value of a variable, or characters up to U+00FF of which each is a byte. */
type Part = string | { readonly variable: string } | { readonly bytes: string }

/** Cuts text at the secrets; what remains of a key elsewhere is taken out. */
const split = (content: string, { missing, redact, secrets }: Context): ReadonlyArray<Part> => {
  let parts: ReadonlyArray<Part> = [content]
  const known = [...variables].flatMap(([key, variable]) => {
    const secret = secrets[key]
    return secret === undefined || secret.length < MIN_SECRET ? [] : [{ secret, variable }]
  })
  for (const { secret, variable } of known.sort((a, b) => b.secret.length - a.secret.length)) {
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

/**
 * Heads of requests are Latin-1: what is neither ASCII nor beyond Latin-1 is a byte there, and not as in this
 * file.
 */
const onWire = (parts: ReadonlyArray<Part>): ReadonlyArray<Part> =>
  parts.flatMap(
    (part): ReadonlyArray<Part> =>
      typeof part === "string"
        ? part
            .split(/([^ -~\u0100-\uffff]+)/)
            .map((piece, index) => (index % 2 === 0 ? piece : { bytes: piece }))
            .filter((piece) => piece !== "")
        : [part]
  )

/** One word for the shell. */
const word = (parts: ReadonlyArray<Part>): string => {
  const joined: Array<Part> = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (typeof part === "string" && typeof last === "string") joined.splice(-1, 1, last + part)
    else joined.push(part)
  }
  return joined.map(written).join("") || "''"
}

const written = (part: Part): string => {
  if (typeof part !== "string") {
    return "variable" in part ? `"$${part.variable}"` : `"$(printf ${octal(part.bytes)})"`
  }
  return /^[\w/:=.,@%+-]*$/.test(part) ? part : `'${part.replaceAll("'", "'\\''")}'`
}

/** A format for `printf` that writes characters up to U+00FF as bytes, others in UTF-8. */
const octal = (raw: string): string =>
  `'${raw.replace(/^-|%|[^ !"$&(-[\]-~]/gu, (character) => (character === "%" ? "%%" : octets(character)))}'`

const octets = (character: string): string =>
  [...Buffer.from(character, character <= "\u00ff" ? "latin1" : "utf8")]
    .map((byte) => `\\${byte.toString(8).padStart(3, "0")}`)
    .join("")
