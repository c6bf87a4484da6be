/**
 * The model of the contract: judges every exchange of a run, whatever sent it and why, by everything that is known. Pure
 * and without a clock, so that recordings can be judged again.
 */
import type { Level } from "../clauses/Clause.ts"
import { bySlug } from "../clauses/Clauses.ts"
import * as Catalogue from "./Catalogue.ts"
import * as Choices from "./Choices.ts"
import * as EveryResponse from "./EveryResponse.ts"
import type { Exchange, Key, Setup, Violation } from "./Exchange.ts"
import * as Meters from "./Meters.ts"
import * as Request from "./Request.ts"
import * as Seen from "./Seen.ts"
import * as Status from "./Status.ts"

/** What is known of a service. Immutable. */
export interface Knowledge {
  readonly setup: Setup
  readonly catalogue: Catalogue.Catalogue
  readonly meters: Meters.Meters
  readonly choices: Choices.Choices
  /** Exchanges in flight at the same time, which are judged together once the last of them has arrived. */
  readonly pending: ReadonlyArray<Exchange>
}

export interface Judgment {
  readonly violations: ReadonlyArray<Violation>
  readonly known: Knowledge
}

export const begin = (setup: Setup): Knowledge => ({
  setup,
  catalogue: Catalogue.empty,
  meters: Meters.make(setup),
  choices: Choices.none,
  pending: []
})

/** Judges the next exchange, in the order in which responses arrived. */
export const judge = (known: Knowledge, exchange: Exchange): Judgment => {
  if (!exchange.isAlone) return { violations: [], known: { ...known, pending: [...known.pending, exchange] } }
  const settled = settle(known)
  const judged = judgeTogether(settled.known, [exchange])
  return { violations: [...settled.violations, ...judged.violations], known: judged.known }
}

/** Judges what needs the whole history. */
export const close = (known: Knowledge): ReadonlyArray<Violation> => settle(known).violations

/** Whether a violation is one at this level: level `design` includes level `spec`. */
export const isOfLevel = ({ clause }: Violation, level: Level): boolean =>
  level === "design" || bySlug.get(clause)?.level === "spec"

/** Returns what a report tells beside the verdict: the choices of the service, and what they left undecided. */
export const tells = ({ catalogue, choices }: Knowledge): ReadonlyArray<string> => [
  ...Choices.tells(choices),
  ...(catalogue.forms.length === 1 ? catalogue.forms.map(({ says }) => says) : [])
]

const settle = (known: Knowledge): Judgment =>
  known.pending.length === 0
    ? { violations: [], known }
    : judgeTogether({ ...known, pending: [] }, known.pending)

const judgeTogether = (known: Knowledge, exchanges: ReadonlyArray<Exchange>): Judgment => {
  const violations: Array<Violation> = []
  const before = known.catalogue
  let { catalogue, choices, meters } = known
  const all: Array<Seen.Seen> = []
  for (const exchange of exchanges) {
    const asked = Request.read(exchange.request, known.setup)
    if (exchange.response === undefined) {
      if (exchange.request.method !== "GET") catalogue = Catalogue.afterLoss(catalogue)
      meters = Meters.afterLoss(meters, asked.caller.key)
      continue
    }
    all.push(Seen.make({ ...exchange, response: exchange.response }, asked))
  }
  // Whatever their order, a list may show the animals of creations that were in flight with it.
  const creationsFirst = all.toSorted((a, b) => Number(b.status === 201) - Number(a.status === 201))
  for (const seen of creationsFirst) {
    const { asked, exchange, key } = seen
    const { caller, operation } = asked
    const breaks = [
      ...EveryResponse.judge(seen),
      ...Status.judge(seen, {
        mayBeBanned: Meters.mayBeBanned(meters, caller.key, exchange),
        exists: operation.is === "get" && Catalogue.has(before, operation.id, key?.name)
      })
    ]
    violations.push(...breaks.map((found) => ({ ...found, evidence: [exchange] })))
    const [animals, nextCatalogue] = Catalogue.judge(catalogue, before, seen)
    catalogue = nextCatalogue
    if (key === undefined) meters = { ...meters, latestKey: undefined }
    const [chosen, nextChoices] = Choices.judge(choices, seen)
    choices = nextChoices
    violations.push(...animals, ...chosen)
  }
  for (const [key, group] of byKey(all)) {
    const [found, next] = Meters.judge(meters, key, group)
    meters = next
    violations.push(...found)
  }
  return { violations, known: { ...known, catalogue, choices, meters } }
}

const byKey = (all: ReadonlyArray<Seen.Seen>): ReadonlyMap<Key, ReadonlyArray<Seen.Seen>> => {
  const groups = new Map<Key, ReadonlyArray<Seen.Seen>>()
  for (const seen of all) {
    const { key } = seen
    if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), seen])
  }
  return groups
}
