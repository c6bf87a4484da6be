/** Renders a failing case as a shell script that sends the same requests with curl. */
import type { Step } from "../../evaluation/Trial.ts"
import type { Animal } from "../../http/Animal.ts"
import type { Exchange, KeyName } from "../../http/Exchange.ts"
import { printable } from "../../http/Printable.ts"
import { REMOVAL_BEGINS } from "../../http/Removal.ts"
import { header, text, type WireResponse } from "../../http/Wire.ts"
import * as Redaction from "../Redaction.ts"
import { type Context, command, variables, writeCommand } from "./CurlCommand.ts"
import * as CurlPreparation from "./CurlPreparation.ts"
import * as CurlVerdict from "./CurlVerdict.ts"
import { type Chain, chainOf, chainsOf, idPattern } from "./IdChain.ts"
import { word } from "./ShellWord.ts"

export interface Source {
  /** Id of the check. */
  readonly check: string
  readonly law: string
  readonly expected: string
  readonly actual: string
  /** The address of the subject, with or without its base path, such as `http://127.0.0.1:3000/v1`. */
  readonly baseUrl: string
  /** Path before `/pets`, such as `/v1`. */
  readonly basePath: string
  /** The secrets of the declared keys, which never appear in the script. */
  readonly secrets: { readonly [name in KeyName]?: string | undefined }
  readonly steps: ReadonlyArray<Step>
  /** Marks the names of animals in the case; each run of the script uses another mark. */
  readonly token?: string | undefined
  /** A category that the subject accepts; by default it accepts any. */
  readonly category?: bigint | undefined
  /** The animals that the run has created; none by default. */
  readonly created?: ReadonlyArray<Animal>
}

/**
 * Returns a complete POSIX `sh` script, or `undefined` if nothing was sent. The script takes another base address as
 * its first argument and the keys from `ANIMAL_KEY`, `ANIMAL_TINY_KEY`, `ANIMAL_VICTIM_KEY` and `ANIMAL_REVOKED_KEY`.
 * It reads the id of a created animal from the response and uses it in later paths. Concurrent requests are sent
 * concurrently. To let time pass, it waits, or moves the clock whose address is in `ANIMAL_CLOCK`.
 *
 * It prepares the server as a run does. It exits with 1 if every response is as it was in the run, which reproduces the
 * failure; with 0 if a response differs; and with 2 if it cannot continue. It needs `curl`, `awk` and `mktemp`.
 */
export const make = (source: Source): string | undefined => {
  const {
    actual,
    baseUrl,
    basePath,
    category,
    check,
    created = [],
    expected,
    law,
    secrets,
    steps,
    token
  } = source
  const exchanges = steps.flatMap(({ exchange }) => (exchange === undefined ? [] : [exchange]))
  if (exchanges.length === 0) return undefined
  const redact = Redaction.make(secrets)
  const comment = (content: string): string => `# ${printable(redact(content))}`
  const ids = chainsOf(exchanges, basePath, created)
  const compared = { exchanges, token, created }
  const context: Context = {
    basePath,
    ids,
    secrets,
    token,
    modes: CurlVerdict.modesOf(compared),
    redact,
    missing: new Set()
  }
  const body = blocksOf(steps, ids, basePath).flatMap((block) =>
    block.length === 1
      ? sequentialCommands(block, context, comment)
      : concurrentCommands(block, context, comment)
  )
  const prepared = CurlPreparation.commands(compared, {
    category,
    startsAt: startOf(steps),
    moment: steps.find(({ passedUntil }) => passedUntil !== undefined)?.passedUntil,
    earlierCreations: ids.flatMap((chain) => recreate(chain, context))
  })
  const usedKeys = [...variables].filter(([, variable]) =>
    [...prepared, ...body].some((line) => new RegExp(`[$]${variable}\\b`).test(line))
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
      : [
          "# Parts of a key were sent in this case; they are omitted here and must be inserted by hand.",
          "INSERTED=no # then yes",
          `[ "$INSERTED" = yes ] || { echo 'insert the omitted parts of a key first' >&2; exit 2; }`
        ]),
    "set -eu",
    "LC_ALL=C; export LC_ALL",
    ...baseLines(baseUrl, basePath, redact),
    ...(usesPrefix || usesOrigin
      ? [`PREFIX=\${BASE#*://}`, `case $PREFIX in */*) PREFIX=/\${PREFIX#*/} ;; *) PREFIX= ;; esac`]
      : []),
    ...(usesOrigin ? [`ORIGIN=\${BASE%"$PREFIX"}`] : []),
    ...usedKeys.map(
      ([key, variable]) =>
        `[ -n "\${${variable}:-}" ] || { echo 'set ${variable} to the ${key} key' >&2; exit 2; }`
    ),
    "DIR=$(mktemp -d) || exit 2",
    "# Only the comparison at the end sets another exit code.",
    "EXIT_CODE=2",
    `trap 'rm -rf "$DIR"; exit "$EXIT_CODE"' EXIT`,
    ...(token === undefined ? [] : [`RUN=${markOf(token.length)}`]),
    ...FUNCTIONS,
    ...CurlVerdict.definitions,
    ...prepared,
    ...body,
    ...CurlVerdict.ending(token, isMarked(exchanges, token)),
    ""
  ].join("\n")
}

/** Whether requests contain the mark as plain text; the script cannot replace a mark that is written with escapes. */
const isMarked = (exchanges: ReadonlyArray<Exchange>, token: string | undefined): boolean =>
  token !== undefined && exchanges.some(({ request }) => text(request.body).includes(token))

/** Returns when a case began, in epoch milliseconds; `undefined` if it first lets time pass until a moment. */
const startOf = (steps: ReadonlyArray<Step>): number | undefined => {
  let passed = 0
  for (const { exchange, passedMs, passedUntil } of steps) {
    if (passedUntil !== undefined) return undefined
    if (exchange !== undefined) return Math.ceil(exchange.sentAt - passed)
    passed += passedMs ?? 0
  }
  return undefined
}

/** Returns a mark as long as the mark of the case, because some laws are about names of a certain length. */
const markOf = (length: number): string =>
  `$(printf '%0${length}d' "$(($(date +%s) * 1009 + $$))" | tr 0-9 a-j | tail -c ${length})`

/**
 * Functions of the script. `stop` prints a message and exits with 2. `pass` and `pass_until` let time pass: they move
 * the server's clock if its address is in ANIMAL_CLOCK, and otherwise wait.
 */
const FUNCTIONS = [
  "stop() { # MESSAGE",
  '  echo "$1" >&2; exit 2',
  "}",
  "pass() { # MS",
  `  if [ -n "\${ANIMAL_CLOCK:-}" ]; then`,
  `    curl -sSf -X POST "$ANIMAL_CLOCK/advance" --data-binary "{\\"ms\\":$1}" || stop "the clock cannot be moved"; echo`,
  '  else sleep "$((($1 + 999) / 1000))"; fi',
  "}",
  `now() {`,
  `  if [ -z "\${ANIMAL_CLOCK:-}" ]; then MOMENT="$(date +%s)000"`,
  `  else MOMENT=$(curl -sS "$ANIMAL_CLOCK" | sed -n 's/.*"now"[^0-9]*\\([0-9]*\\).*/\\1/p'); fi`,
  `  case $MOMENT in ''|*[!0-9]*) stop "the clock does not respond" ;; esac`,
  '  echo "$MOMENT"',
  "}",
  "not_after() { # EPOCH-MS",
  "  NOW=$(now) || exit 2",
  `  if [ "$NOW" -gt "$1" ] && [ "$1" -lt ${REMOVAL_BEGINS} ]; then`,
  `    stop "the time of the case has passed: restart the server with an earlier clock"`,
  "  fi",
  "}",
  "pass_until() { # EPOCH-MS",
  '  not_after "$1"',
  '  if [ "$NOW" -lt "$1" ]; then',
  `    if [ -z "\${ANIMAL_CLOCK:-}" ]; then stop "set ANIMAL_CLOCK: the case is about a certain time"; fi`,
  '    pass "$(($1 - NOW))"',
  "  fi",
  "}"
]

/** A step with its number in the script. */
interface Numbered {
  readonly number: number
  readonly step: Step
}

const baseLines = (baseUrl: string, basePath: string, redact: (text: string) => string) => {
  const trimmed = redact(baseUrl).replace(/\/+$/, "")
  const base = trimmed.endsWith(basePath) ? trimmed : trimmed + basePath
  return /^[\w:/.[\]%@-]+$/.test(base)
    ? [`BASE=\${1:-${base}}`, `BASE=\${BASE%/}`]
    : [`DEFAULT=${word([base])}`, `BASE=\${1:-"$DEFAULT"}`, `BASE=\${BASE%/}`]
}

/** Returns the steps in order; steps with concurrent requests are grouped. */
const blocksOf = (
  steps: ReadonlyArray<Step>,
  ids: ReadonlyArray<Chain>,
  basePath: string
): ReadonlyArray<ReadonlyArray<Numbered>> => {
  const blocks: Array<Array<Numbered>> = []
  let group: Array<Exchange> = []
  for (const [at, step] of steps.entries()) {
    const { exchange } = step
    const numbered = { number: at + 1, step }
    const isConcurrent = exchange !== undefined && !exchange.isAlone
    const chain = exchange && chainOf(exchange, { basePath, ids })
    const isInGroup =
      isConcurrent &&
      group.length > 0 &&
      group.every((member) => exchange.sentAt <= member.receivedAt && chain?.creation !== member)
    if (isInGroup) blocks.at(-1)?.push(numbered)
    else {
      blocks.push([numbered])
      group = []
    }
    if (isConcurrent) group.push(exchange)
  }
  return blocks
}

type Comment = (content: string) => string

const heading = (
  { number, step: { did, exchange, got, passedMs, passedUntil } }: Numbered,
  comment: Comment
): ReadonlyArray<string> =>
  exchange === undefined
    ? [
        comment(`${number}. ${got === "" ? did : `${did} -> ${got}`}`),
        ...(passedMs === undefined ? [] : [`pass ${passedMs}`]),
        ...(passedUntil === undefined ? [] : [`pass_until ${passedUntil}`])
      ]
    : [comment(`${number}. ${did}`), comment(responseComment(exchange.response))]

/** Describes the response of the run in a comment. */
const responseComment = (response: WireResponse): string => {
  const names = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"]
  const shown = names.flatMap((name) => {
    const value = header(response, name)
    return value === undefined ? [] : [`${name}: ${value}`]
  })
  // At most the first 200 characters are shown: no more than 800 bytes in UTF-8.
  const body = text(response.body.subarray(0, 800))
  const cut = body.length > 200 ? `${body.slice(0, 200)}...` : body
  return `${[String(response.status), ...shown].join(", ")}${cut === "" ? "" : ` ${cut}`}`
}

const sequentialCommands = (
  block: ReadonlyArray<Numbered>,
  context: Context,
  comment: Comment
): ReadonlyArray<string> =>
  block.flatMap((numbered) => {
    const { exchange } = numbered.step
    if (exchange === undefined) return ["", ...heading(numbered, comment)]
    const chain = context.ids.find(({ creation }) => creation === exchange)
    const { number } = numbered
    return [
      "",
      ...heading(numbered, comment),
      `${command(exchange, context)} >"$DIR/${number}"`,
      `cat "$DIR/${number}"; echo`,
      ...saveResponse(numbered, exchange, context),
      CurlVerdict.compareResponse(number, context.modes.get(exchange) ?? "body"),
      ...(chain === undefined ? [] : readId(chain, number))
    ]
  })

/** Returns a command that writes the response of the run to a file. */
const saveResponse = ({ number }: Numbered, exchange: Exchange, context: Context): ReadonlyArray<string> => [
  `${writeCommand(CurlVerdict.recordedResponse(exchange), { ...context, token: undefined })} >"$DIR/was.${number}"`
]

/** Returns commands that create an animal of an earlier case again. */
const recreate = (chain: Chain, context: Context): ReadonlyArray<string> =>
  chain.animal === undefined
    ? []
    : [
        `${writeCommand(Buffer.from(chain.animal).toString("latin1"), context)} |`,
        `  curl -sS -i -X POST -H "Authorization: Bearer $ANIMAL_KEY" -H 'Content-Type: application/json' \\`,
        `  --data-binary @- "$BASE/pets" >"$DIR/earlier.${chain.variable}" || ${CurlPreparation.noResponse}`,
        ...readId(chain, `earlier.${chain.variable}`)
      ]

const readId = ({ variable }: Chain, response: number | string): ReadonlyArray<string> => [
  `${variable}=$(sed -n 's/${idPattern}/\\1/p' "$DIR/${response}" | head -n 1)`,
  `[ -n "$${variable}" ] || { echo "response ${response} has no id" >&2; exit 2; }`
]

const concurrentCommands = (
  block: ReadonlyArray<Numbered>,
  context: Context,
  comment: Comment
): ReadonlyArray<string> => {
  const chains = block.flatMap(({ number, step }) =>
    context.ids.filter(({ creation }) => creation === step.exchange).map((chain) => ({ number, chain }))
  )
  return [
    "",
    `# The next ${block.length} were sent concurrently.`,
    ...block.flatMap((numbered) => {
      const { exchange } = numbered.step
      return [
        ...heading(numbered, comment),
        ...(exchange === undefined
          ? []
          : [
              ...saveResponse(numbered, exchange, context),
              `${command(exchange, context)} >"$DIR/${numbered.number}" &`
            ])
      ]
    }),
    "wait",
    ...block.map(({ number }) => `cat "$DIR/${number}"; echo`),
    ...CurlVerdict.compareStatuses(block.map(({ number }) => number)),
    ...chains.flatMap(({ chain, number }) => readId(chain, number))
  ]
}
