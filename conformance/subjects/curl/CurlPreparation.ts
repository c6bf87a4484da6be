/** Writes the part of a script that prepares the server as the run did before the case. */
import { limit as pageLimit } from "../../../core/domain/Page.ts"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as RateHeaders from "../../http/RateHeaders.ts"
import { REMOVAL_BEGINS } from "../../http/Removal.ts"
import * as CurlVerdict from "./CurlVerdict.ts"

/** What a preparation depends on in addition to the exchanges of the case. */
export interface Circumstances {
  /** A category that the subject accepts. */
  readonly category?: bigint | undefined
  /** When the case began, in epoch milliseconds; `undefined` if it first lets time pass until a moment. */
  readonly startsAt?: number | undefined
  /** The first moment until which the case lets time pass, in epoch milliseconds. */
  readonly moment?: number | undefined
  /** Commands that create the animals of earlier cases again. */
  readonly earlierCreations: ReadonlyArray<string>
}

const DAY_MS = 86_400_000

const DECEMBER_2030 = Date.UTC(2030, 11, 1)

/** Maximum number of attempts to create an animal; after a 429, the next one begins a minute later. */
const ATTEMPTS = 3

/** A command that ends a script whose preparation gets no response. */
export const noResponse = 'stop "a request of the preparation got no response"'

/**
 * Returns commands that prepare the server; they stop if the moment of the case has passed. They first create other
 * animals to fill lists of the case that were full, then the animals of earlier cases. If there is a clock, they move
 * it forward by a minute after each group of creations, so that the main key's per-minute limit is available again.
 * Then they move it by two days or more to the same time of day, so that all limits are available again; if the case is
 * about a moment or the removal of getPet, they move it only to that time. Finally, they use as much of the small keys'
 * limits as earlier cases did.
 */
export const commands = (
  compared: CurlVerdict.ComparedCase,
  { category = 1n, earlierCreations, moment, startsAt }: Circumstances
): ReadonlyArray<string> => {
  const creations = [fillerCommands(compared, category), earlierCreations].filter(({ length }) => length > 0)
  return [
    "",
    "# Preparation",
    ...(moment === undefined ? [] : [`not_after ${latestStart(startsAt ?? moment, creations.length)}`]),
    ...creations.flatMap((lines) => [...lines, ...withClock([`  pass ${RateHeaders.MINUTE_PASSED_MS}`])]),
    ...(startsAt === undefined ? [] : moveClockTo(startsAt, moment !== undefined)),
    ...(["tiny", "victim"] as const).flatMap((key) => {
      const used = usedBefore(compared.exchanges.find((exchange) => exchange.key === key))
      const variable = key === "tiny" ? "ANIMAL_TINY_KEY" : "ANIMAL_VICTIM_KEY"
      const list = `curl -sS -o /dev/null -H "Authorization: Bearer $${variable}" "$BASE/pets?limit=1" || ${noResponse}`
      return used === 0 ? [] : repeat(used, list)
    })
  ]
}

/** Returns the latest time at which a preparation for a moment can begin: each group of creations takes a minute. */
const latestStart = (moment: number, groups: number): number =>
  moment < REMOVAL_BEGINS ? moment - groups * RateHeaders.MINUTE_PASSED_MS : moment

const withClock = (lines: ReadonlyArray<string>): ReadonlyArray<string> => [
  `if [ -n "\${ANIMAL_CLOCK:-}" ]; then`,
  ...lines,
  "fi"
]

/**
 * Returns commands that move a clock to the time at which the case began, or to the same time of day if the date does
 * not matter.
 */
const moveClockTo = (startsAt: number, isOfMoment: boolean): ReadonlyArray<string> =>
  isOfMoment || startsAt >= DECEMBER_2030
    ? [`pass_until ${startsAt}`]
    : withClock([
        "  NOW=$(now) || exit 2",
        `  pass "$((${2 * DAY_MS} + (${startsAt % DAY_MS} - NOW % ${DAY_MS} + ${DAY_MS}) % ${DAY_MS}))"`
      ])

/**
 * Returns commands that create other animals, so that full lists of the case are full again. They create one animal
 * more than the limit, in case a list shows more than its limit. If a list has a status, they also create animals with
 * other statuses, which it must not show: some before and some after, because a list may begin with the oldest or the
 * newest.
 */
const fillerCommands = (compared: CurlVerdict.ComparedCase, category: bigint): ReadonlyArray<string> => {
  const lists = CurlVerdict.listsToFill(compared)
  const emptyStatuses = new Set(lists.filter(({ isEmpty }) => isEmpty).map(({ status }) => status))
  const counts = new Map<string | null, number>()
  for (const { isEmpty, limit = pageLimit.default, status } of lists) {
    if (!isEmpty) counts.set(status, Math.max(counts.get(status) ?? 0, limit + 1))
  }
  if (counts.size === 0 || emptyStatuses.has(null)) return []
  const hasStatusFilter = PetStatus.all.some((status) => counts.has(status))
  const otherFillers = PetStatus.all
    .filter((status) => hasStatusFilter && !counts.has(status) && !emptyStatuses.has(status))
    .map(filler)
  return [
    "filler() { # STATUS, or nothing",
    `  FIELDS=\${1:+,\\"status\\":\\"$1\\"}`,
    `  for ATTEMPT in ${Array.from({ length: ATTEMPTS }, (_, at) => at + 1).join(" ")}; do`,
    "    CODE=$(curl -sS -o /dev/null -w '%{http_code}' -X POST -H \"Authorization: Bearer $ANIMAL_KEY\" \\",
    `      -H 'Content-Type: application/json' --data-binary "{\\"name\\":\\"Filler\\",\\"categoryId\\":${category}$FIELDS}" "$BASE/pets") ||`,
    `      ${noResponse}`,
    '    if [ "$CODE" = 201 ]; then return; fi',
    "    # The key may have used up its limit of the minute.",
    `    if [ "$CODE" != 429 ] || [ "$ATTEMPT" = ${ATTEMPTS} ]; then break; fi`,
    `    pass ${RateHeaders.MINUTE_PASSED_MS}`,
    "  done",
    '  stop "the preparation cannot create an animal: $CODE"',
    "}",
    ...otherFillers,
    ...[...counts].flatMap(([status, count]) =>
      repeat(count, filler(PetStatus.all.find((known) => known === status)))
    ),
    ...otherFillers
  ]
}

const filler = (status: PetStatus.PetStatus | undefined): string =>
  status === undefined ? "filler" : `filler ${status}`

/** Returns commands that run a command `count` times. */
const repeat = (count: number, command: string): ReadonlyArray<string> => [
  `for at in $(awk 'BEGIN { for (at = 0; at < ${count}; at++) print at }'); do`,
  `  ${command}`,
  "done"
]

/** Maximum limit that a preparation uses up, in requests. */
const MAX_USED = 100

/** Returns the number of requests that a key had used of its limit before this one. */
const usedBefore = (exchange: Exchange | undefined): number => {
  const rate = exchange && RateHeaders.of(exchange.response)
  if (exchange === undefined || rate === undefined || rate.limit > MAX_USED) return 0
  return exchange.response.status === 429 ? rate.limit : Math.max(0, rate.limit - rate.remaining - 1)
}
