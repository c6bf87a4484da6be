/**
 * Writes the part of a script that compares its responses with those of the run: the script reproduces the failure if
 * every response is as it was when the law failed. Values that differ between two runs of the same case are not
 * compared: ids (only which ids are equal), times, and animals of other cases.
 */
import { limit as pageLimit } from "../../../core/domain/Page.ts"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import type { Animal } from "../../http/Animal.ts"
import type { Exchange } from "../../http/Exchange.ts"
import { header } from "../../http/Wire.ts"

/** Headers that are compared; for numbers that change with time, only the number of digits is compared. */
const comparedHeaders = [
  "Content-Type",
  "Retry-After",
  "WWW-Authenticate",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset"
] as const

/** Default and largest number of animals in a list (contract §8.1). */
const [DEFAULT_LIMIT, MAX_LIMIT] = [pageLimit.default, pageLimit.max]

/**
 * Returns a response as `curl -i` shows it, with the headers that are compared; for a long list, only the number of
 * animals.
 */
export const recordedResponse = ({ response }: Exchange): string => {
  const lines = comparedHeaders.flatMap((name) => {
    const value = header(response, name)
    return value === undefined ? [] : [`${name}: ${value}`]
  })
  const { animals } = response.cut ?? {}
  const body =
    animals === undefined
      ? Buffer.from(response.body).toString("latin1")
      : `[${Array.from({ length: animals }, () => '{"id":0}').join(",")}]`
  return `HTTP/1.1 ${response.status}\n${lines.map((line) => `${line}\n`).join("")}\n${body}`
}

const isStatus = (text: string | null): text is PetStatus.PetStatus =>
  PetStatus.all.some((status) => status === text)

/** The case whose responses are compared. */
export interface ComparedCase {
  readonly exchanges: ReadonlyArray<Exchange>
  /** The mark in the names of the case's own animals. */
  readonly token: string | undefined
  /** The animals that the run has created, with those of the case. */
  readonly created: ReadonlyArray<Animal>
}

/** The list in a response. */
interface List {
  readonly status: string | null
  /** Maximum number of animals; `undefined` if a parameter is invalid. */
  readonly limit: number | undefined
  /** Number of animals that it shows. */
  readonly animals: number
  /** Whether an animal of the case is among those whose text is stored. */
  readonly hasOwn: boolean
}

const listIn = ({ request, response }: Exchange, token: string | undefined): List | undefined => {
  const body = Buffer.from(response.body).toString("latin1")
  if (request.method !== "GET" || !/^\s*\[/.test(body)) return undefined
  const parameters = new URLSearchParams(request.target.split("?")[1] ?? "")
  const limit = Number(parameters.get("limit") ?? DEFAULT_LIMIT)
  const status = parameters.get("status")
  const isKnown = status === null || isStatus(status)
  return {
    status,
    limit: isKnown && Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT ? limit : undefined,
    animals: response.cut?.animals ?? body.split(/"id"\s*:/).length - 1,
    hasOwn: token !== undefined && body.includes(token)
  }
}

/**
 * What is compared for a list instead of its animals. The animals that a list shows, and their number, depend on the
 * other animals in the store, so the number is compared only with the limit of the list.
 *
 * - `number`: whether the list is empty, full, or in between. The script creates enough animals to fill the list.
 * - `own`: the same, and whether animals of the case are missing. The script creates no other animals, because a full
 *   list need not show those of the case.
 * - `any`: nothing. The list is not the last one and too long to be stored.
 */
type ListComparison = "number" | "own" | "any"

/** Returns what is compared for a list; `undefined` to compare the animals of the case in it. */
const listComparisonOf = (
  exchange: Exchange,
  list: List,
  compared: ComparedCase
): ListComparison | undefined => {
  const isCut = exchange.response.cut !== undefined
  if (list.animals >= (list.limit ?? 1)) return "number"
  if (exchange !== compared.exchanges.at(-1)) return isCut ? "any" : undefined
  if (list.hasOwn && !isCut) return undefined
  const { others, own } = createdFor(list, compared)
  if (others >= (list.limit ?? 1) || own === 0) return "number"
  // If such a list is too long to be stored, it is not known whether animals of the case were missing.
  return isCut ? undefined : "own"
}

/** Returns how many of the animals that the run had created a list may show: of the case, and of earlier cases. */
const createdFor = ({ status }: List, { created, token }: ComparedCase) => {
  const matching = created.filter((animal) => status === null || animal.status === status)
  const own = matching.filter(({ name }) => token !== undefined && name.includes(token)).length
  return { own, others: matching.length - own }
}

/** Returns the lists whose numbers of animals are compared; `isEmpty` if they must be empty again. */
export const listsToFill = (compared: ComparedCase) =>
  compared.exchanges.flatMap((exchange) => {
    const list = listIn(exchange, compared.token)
    if (list === undefined || listComparisonOf(exchange, list, compared) !== "number") return []
    const { limit, status } = list
    return [{ limit, status, isEmpty: list.animals === 0 && createdFor(list, compared).others === 0 }]
  })

/** Returns the mode in which each response is compared: words, and options with a value, joined by `+`. */
export const modesOf = (compared: ComparedCase): ReadonlyMap<Exchange, string> =>
  new Map(compared.exchanges.map((exchange) => [exchange, modeOf(exchange, compared)]))

const modeOf = (exchange: Exchange, compared: ComparedCase): string => {
  const { key, response } = exchange
  const isCut = response.cut !== undefined
  const list = listIn(exchange, compared.token)
  const comparison = list && listComparisonOf(exchange, list, compared)
  return [
    ...(comparison === undefined ? [] : ["count"]),
    ...(comparison === undefined || comparison === "number" ? [] : [comparison]),
    ...(comparison !== undefined && list?.limit !== undefined ? [`max=${list.limit}`] : []),
    // The statuses of a long list are not stored.
    ...(comparison !== undefined && list && isStatus(list.status) && !isCut ? [`only=${list.status}`] : []),
    // Only keys that nothing else uses have the same limits again.
    ...(key === "tiny" || key === "victim" ? ["limits"] : []),
    ...(isCut && comparison === undefined ? [] : ["body"])
  ].join("+")
}

/** Functions of the script; `signature` writes the compared parts of the responses, in order. */
export const definitions: ReadonlyArray<string> = [
  'MODES=""',
  "signature() { # PREFIX OWN",
  `  (cd "$DIR" && for compared in $MODES; do echo "$1\${compared%%:*}"; done | xargs awk -v own="$2" -v modes="$MODES" '`,
  "    function option(name) {",
  '      return match(mode, name "=[^+]*") ? substr(mode, RSTART + length(name) + 1, RLENGTH - length(name) - 1) : ""',
  "    }",
  "    function counted(animals, others, own,   max, text) {",
  '      max = option("max"); text = animals',
  '      if (others > 0) return "animals with another status"',
  '      if (mode ~ /any/) return "animals"',
  '      if (mode ~ /own/ && !own && animals >= max + 0) return "!"',
  '      if (max == "" && animals > 0) text = "some"',
  '      if (max != "" && animals > max + 0) text = "more than " max',
  '      if (animals < max + 0 && (animals > 0 || mode ~ /own/)) text = "fewer than " max',
  '      if (mode ~ /own/) text = text (own ? ", with own" : ", without own")',
  '      return text " animals"',
  "    }",
  '    function known(id) { if (!(id in ids)) ids[id] = "#" ++count_of_ids; return ids[id] }',
  "    function flush() {",
  "      if (file == 0) return",
  "      print status",
  "      if (mode !~ /status/) for (at = 1; at <= names_count; at++) print names[at] shown[names[at]]",
  '      if (mode !~ /body/) { if (mode !~ /status/) print "?"; return }',
  '      if (own != "") gsub(own, "<own>", body)',
  "      if (body ~ /^[ \\n\\t]*\\[/) {",
  '        only = option("only"); copy = body; animals = gsub(/"id"[ \\t]*:/, "&", copy); others = 0',
  '        if (only != "") others = animals - gsub("\\"status\\"[ \\t]*:[ \\t]*\\"" only "\\"", "&", copy)',
  '        own_animals = gsub(/<own>/, "&", body); parts = split(body, part, "}"); body = ""',
  "        for (at = 1; at <= parts; at++) {",
  '          sub(/^[^{]*/, "", part[at])',
  '          if (part[at] ~ /<own>/) body = body part[at] "\\n"',
  "        }",
  '        if (mode ~ /count/) body = counted(animals, others, own_animals) "\\n"',
  "      }",
  '      while (match(body, /"id"[ \\t]*:[ \\t]*-?[0-9]+/)) {',
  '        id = substr(body, RSTART, RLENGTH); sub(/.*[: \\t]/, "", id)',
  '        body = substr(body, 1, RSTART - 1) "id:" known(id) substr(body, RSTART + RLENGTH)',
  "      }",
  '      if (status >= 400) gsub(/"message"[ \\t]*:[ \\t]*"[^"]*"/, "message", body)',
  "      print body",
  "    }",
  `    BEGIN { names_count = split("${comparedHeaders.map((name) => name.toLowerCase()).join(" ")}", names, " "); split(modes, each, " ") }`,
  '    { gsub(/\\r/, "") }',
  '    FNR == 1 { flush(); file++; mode = each[file]; isHead = 1; status = ""; body = ""; split("", shown) }',
  "    isHead && /^HTTP\\// { status = $2; next }",
  '    isHead && $0 == "" { if (status >= 200) isHead = 0; next }',
  "    isHead {",
  '      name = tolower($0); sub(/:.*/, "", name); value = $0; sub(/^[^:]*:[ \\t]*/, "", value)',
  '      if (name ~ /^x-ratelimit-(limit|remaining)$/ && mode !~ /limits/) value = value ~ /^[0-9]+$/ ? "#" : value',
  '      else if (name == "retry-after" && value !~ /^[0-9]+$/) value = "no number"',
  '      else if (name == "x-ratelimit-reset" || (name == "retry-after" && (mode !~ /limits/ || length(value) > 7))) gsub(/[0-9]/, "#", value)',
  '      shown[name] = shown[name] "," value; next',
  "    }",
  '    { body = body $0 "\\n" }',
  "    END { flush() }')",
  "}",
  "# Concurrent responses are sorted by status, because their order is unknown.",
  "sorted() {",
  '  for name in "$@"; do',
  '    printf "%s %s\\n" "$(sed -n "s/^HTTP[^ ]* \\([0-9]*\\).*/\\1/p" "$DIR/$name" | tail -n 1)" "$name"',
  "  done | sort | cut -d ' ' -f 2",
  "}"
]

/**
 * Returns the end of the script: it exits with 1 if the responses are as they were in the run, with 0 if they differ,
 * and with 2 if they cannot be compared.
 */
export const ending = (token: string | undefined, isMarked: boolean): ReadonlyArray<string> => [
  "",
  `signature was. '${token ?? ""}' >"$DIR/expected"; signature '' ${isMarked ? '"$RUN"' : `'${token ?? ""}'`} >"$DIR/actual"`,
  `if grep -q '^!$' "$DIR/actual"; then echo "CANNOT TELL: a list is full of other animals"; exit 2; fi`,
  'if ! cmp -s "$DIR/expected" "$DIR/actual"; then',
  '  echo "NOT SHOWN: the responses differ from those of the run:"',
  '  diff "$DIR/expected" "$DIR/actual" || :',
  "  EXIT_CODE=0; exit",
  "fi",
  `if grep -q '^?$' "$DIR/expected"; then echo "CANNOT TELL: a response is too long to be compared"; exit 2; fi`,
  'echo "SHOWN: every response is as it was in the run"',
  "EXIT_CODE=1; exit"
]

/** Returns a command that adds a response to those that are compared. */
export const compareResponse = (number: number, mode: string): string => `MODES="$MODES ${number}:${mode}"`

/** Returns commands that add concurrent responses, sorted by status; only their statuses are compared. */
export const compareStatuses = (numbers: ReadonlyArray<number>): ReadonlyArray<string> => [
  `at=0; for name in $(sorted ${numbers.join(" ")}); do at=$((at + 1)); cp "$DIR/$name" "$DIR/${numbers[0]}.$at"; done`,
  `at=0; for name in $(sorted ${numbers.map((number) => `was.${number}`).join(" ")}); do at=$((at + 1)); cp "$DIR/$name" "$DIR/was.${numbers[0]}.$at"; done`,
  ...numbers.map((_number, index) => `MODES="$MODES ${numbers[0]}.${index + 1}:status"`)
]
