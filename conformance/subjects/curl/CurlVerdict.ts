/**
 * The part of a script that compares its responses with those of the run: a fault is shown if every response is as it was
 * when the law failed. What differs between two runs of the same case is not compared: ids (only which are equal), times,
 * and the animals of others.
 */
import type { Exchange } from "../../http/Exchange.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import { header } from "../../http/Wire.ts"

/** Headers that are compared; of numbers that change with time only the length. */
const compared = [
  "Content-Type",
  "Retry-After",
  "WWW-Authenticate",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset"
] as const

/** Default number of animals in a list (contract §8.1). */
const DEFAULT_LIMIT = 20

const DAY_MS = 86_400_000

const DECEMBER_2030 = Date.UTC(2030, 11, 1)

/** A response as `curl -i` shows it, with the headers that are compared; of a long list only the number of animals. */
export const recorded = ({ response }: Exchange): string => {
  const lines = compared.flatMap((name) => {
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

/** The list in a response: how many animals it may show, how many it shows, and whether any is of the case. */
const listIn = ({ request, response }: Exchange, token: string | undefined) => {
  const body = Buffer.from(response.body).toString("latin1")
  if (request.method !== "GET" || !/^\s*\[/.test(body)) return undefined
  const parameters = new URLSearchParams(request.target.split("?")[1] ?? "")
  return {
    status: parameters.get("status"),
    limit: Number(parameters.get("limit") ?? DEFAULT_LIMIT),
    animals: response.cut?.animals ?? body.split(/"id"\s*:/).length - 1,
    isOwn: token !== undefined && body.includes(token)
  }
}

/** How a response is compared: with its limits, with its body, or with the number of animals in place of the animals. */
export const modeOf = (exchange: Exchange, token: string | undefined, isLast: boolean): string => {
  const { key, response } = exchange
  const list = listIn(exchange, token)
  // Which animals a full list shows depends on what else is in the store; of others, only the last list is of interest.
  const isFull = list !== undefined && list.animals >= list.limit
  const isCounted = list !== undefined && (response.cut !== undefined || isFull || (isLast && !list.isOwn))
  return [
    ...(isCounted ? ["count"] : []),
    // Only keys that nothing else uses have the same limits again.
    ...(key === "tiny" || key === "victim" ? ["limits"] : []),
    ...(response.cut === undefined || isCounted ? ["body"] : [])
  ].join("+")
}

/** Functions of the script: `signature` writes what is compared, of responses in order. */
export const definitions: ReadonlyArray<string> = [
  'MODES=""',
  "signature() { # PREFIX OWN",
  `  (cd "$DIR" && for one in $MODES; do echo "$1\${one%%:*}"; done | xargs awk -v own="$2" -v modes="$MODES" '`,
  '    function known(id) { if (!(id in ids)) ids[id] = "#" ++count_of_ids; return ids[id] }',
  "    function flush() {",
  "      if (file == 0) return",
  "      print status",
  "      if (mode !~ /status/) for (at = 1; at <= names_count; at++) print names[at] shown[names[at]]",
  '      if (mode !~ /body/) { if (mode !~ /status/) print "?"; return }',
  '      if (own != "") gsub(own, "<own>", body)',
  "      if (body ~ /^[ \\n\\t]*\\[/) {",
  '        parts = split(body, part, "}"); animals = 0; body = ""',
  "        for (at = 1; at <= parts; at++) {",
  '          if (part[at] ~ /"id"/) animals++',
  '          sub(/^[^{]*/, "", part[at])',
  '          if (part[at] ~ /<own>/) body = body part[at] "\\n"',
  "        }",
  '        if (mode ~ /count/) body = animals " animals\\n"',
  "      }",
  '      while (match(body, /"id"[ \\t]*:[ \\t]*-?[0-9]+/)) {',
  '        id = substr(body, RSTART, RLENGTH); sub(/.*[: \\t]/, "", id)',
  '        body = substr(body, 1, RSTART - 1) "id:" known(id) substr(body, RSTART + RLENGTH)',
  "      }",
  '      if (status >= 400) gsub(/"message"[ \\t]*:[ \\t]*"[^"]*"/, "message", body)',
  "      print body",
  "    }",
  `    BEGIN { names_count = split("${compared.map((name) => name.toLowerCase()).join(" ")}", names, " "); split(modes, each, " ") }`,
  '    { gsub(/\\r/, "") }',
  '    FNR == 1 { flush(); file++; mode = each[file]; isHead = 1; status = ""; body = ""; split("", shown) }',
  "    isHead && /^HTTP\\// { status = $2; next }",
  '    isHead && $0 == "" { if (status >= 200) isHead = 0; next }',
  "    isHead {",
  '      name = tolower($0); sub(/:.*/, "", name); value = $0; sub(/^[^:]*:[ \\t]*/, "", value)',
  '      if (name ~ /^x-ratelimit-(limit|remaining)$/ && mode !~ /limits/) value = value ~ /^[0-9]+$/ ? "#" : value',
  '      else if (name == "x-ratelimit-reset" || (name == "retry-after" && mode !~ /limits/)) gsub(/[0-9]/, "#", value)',
  '      shown[name] = shown[name] "," value; next',
  "    }",
  '    { body = body $0 "\\n" }',
  "    END { flush() }')",
  "}",
  "# Responses that were sent concurrently are sorted by their status, because their order is not known.",
  "sorted() {",
  '  for one in "$@"; do',
  '    printf "%s %s\\n" "$(sed -n "s/^HTTP[^ ]* \\([0-9]*\\).*/\\1/p" "$DIR/$one" | tail -n 1)" "$one"',
  "  done | sort | cut -d ' ' -f 2",
  "}"
]

/** Ends with 1 if the fault is shown, with 0 if not, and with 2 if a response was too long to be stored. */
export const ending = (token: string | undefined): ReadonlyArray<string> => [
  "",
  `signature was. '${token ?? ""}' >"$DIR/expected"; signature '' "\${RUN:-}" >"$DIR/actual"`,
  'if ! cmp -s "$DIR/expected" "$DIR/actual"; then',
  '  echo "NOT SHOWN: the responses differ from those of the run:"',
  '  diff "$DIR/expected" "$DIR/actual" || :',
  "  exit 0",
  "fi",
  `if grep -q '^?$' "$DIR/expected"; then echo "CANNOT TELL: a response is too long to be compared"; exit 2; fi`,
  'echo "SHOWN: every response is as it was in the run"',
  "exit 1"
]

/** The body of an animal that belongs to nobody's case. */
const filler = (status: string | null): string =>
  status === null
    ? '{"name":"Filler","categoryId":1}'
    : `{"name":"Filler","categoryId":1,"status":"${status}"}`

/**
 * Prepares the server as a run does. With a clock, all limits are free again at the same time of the day, or the time is that
 * of the case if it is about the removal of getPet. The store has as many animals as lists of the case showed of others.
 */
export const preparation = (
  exchanges: ReadonlyArray<Exchange>,
  token: string | undefined
): ReadonlyArray<string> => {
  const [first] = exchanges
  const to = Math.ceil(first?.sentAt ?? 0)
  const fillers = new Map<string | null, number>()
  for (const exchange of exchanges) {
    const list = listIn(exchange, token)
    const isCompared =
      list !== undefined && modeOf(exchange, token, exchange === exchanges.at(-1)).includes("count")
    if (!isCompared || list.animals === 0 || !/^[a-z]*$/.test(list.status ?? "")) continue
    fillers.set(list.status, Math.min(100, Math.max(fillers.get(list.status) ?? 0, list.limit)))
  }
  return [
    "",
    "# Preparation",
    `if [ -n "\${ANIMAL_CLOCK:-}" ]; then`,
    `  NOW=$(curl -sS "$ANIMAL_CLOCK" | sed -n 's/.*"now"[^0-9]*\\([0-9]*\\).*/\\1/p')`,
    to < DECEMBER_2030
      ? `  pass "$((${2 * DAY_MS} + (${to % DAY_MS} - NOW % ${DAY_MS} + ${DAY_MS}) % ${DAY_MS}))"`
      : `  if [ "$NOW" -lt ${to} ]; then pass "$((${to} - NOW))"; fi`,
    "fi",
    ...[...fillers].flatMap(([status, count]) => [
      `for one in $(awk 'BEGIN { for (at = 0; at < ${count}; at++) print at }'); do`,
      `  curl -sS -o /dev/null -X POST -H "Authorization: Bearer $ANIMAL_KEY" -H 'Content-Type: application/json' \\`,
      `    --data-binary '${filler(status)}' "$BASE/pets"`,
      "done"
    ]),
    ...(["tiny", "victim"] as const).flatMap((key) => {
      const used = usedBefore(exchanges.find((exchange) => exchange.key === key))
      const variable = key === "tiny" ? "ANIMAL_TINY_KEY" : "ANIMAL_VICTIM_KEY"
      return used === 0
        ? []
        : [
            `for one in $(awk 'BEGIN { for (at = 0; at < ${used}; at++) print at }'); do`,
            `  curl -sS -o /dev/null -H "Authorization: Bearer $${variable}" "$BASE/pets?limit=1"`,
            "done"
          ]
    })
  ]
}

/** Largest limit that a preparation uses up. */
const MOST_USED = 100

/** The number of requests that a key had used of its limit before this one. */
const usedBefore = (exchange: Exchange | undefined): number => {
  const rate = exchange && RateHeaders.of(exchange.response)
  if (exchange === undefined || rate === undefined || rate.limit > MOST_USED) return 0
  return exchange.response.status === 429 ? rate.limit : Math.max(0, rate.limit - rate.remaining - 1)
}

/** Adds a response to those that are compared. */
export const counted = (
  number: number,
  exchange: Exchange,
  token: string | undefined,
  isLast: boolean
): string => `MODES="$MODES ${number}:${modeOf(exchange, token, isLast)}"`

/** Adds concurrent responses: in the order of their statuses, with nothing but their heads compared. */
export const countedTogether = (numbers: ReadonlyArray<number>): ReadonlyArray<string> => [
  `at=0; for one in $(sorted ${numbers.join(" ")}); do at=$((at + 1)); cp "$DIR/$one" "$DIR/${numbers[0]}.$at"; done`,
  `at=0; for one in $(sorted ${numbers.map((number) => `was.${number}`).join(" ")}); do at=$((at + 1)); cp "$DIR/$one" "$DIR/was.${numbers[0]}.$at"; done`,
  ...numbers.map((_number, index) => `MODES="$MODES ${numbers[0]}.${index + 1}:status"`)
]
