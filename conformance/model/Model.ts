/**
 * The model of the contract: judges every exchange of a run, whatever sent it and why, by everything that is known. Pure
 * and without a clock, so that recordings can be judged again.
 */
import * as Arr from "effect/Array"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import * as Catalogue from "./Catalogue.ts"
import * as Choices from "./Choices.ts"
import * as EveryResponse from "./EveryResponse.ts"
import { broken, type Exchange, gathering, kept, rule, type Setup, type Violation } from "./Exchange.ts"
import * as Meters from "./Meters.ts"
import * as Names from "./Names.ts"
import * as Request from "./Request.ts"
import * as Seen from "./Seen.ts"
import * as Status from "./Status.ts"
import * as World from "./World.ts"

/** What is known of a service. Immutable. */
export interface Knowledge {
  readonly setup: Setup
  readonly catalogue: Catalogue.Catalogue
  readonly meters: Meters.Meters
  readonly choices: Choices.Choices
}

export interface Judgment {
  readonly violations: ReadonlyArray<Violation>
  /** The clauses that were kept or broken; every other one was not tried. */
  readonly decided: ReadonlySet<ClauseSlug>
  readonly known: Knowledge
}

export const begin = (setup: Setup): Knowledge => ({
  setup,
  catalogue: Catalogue.empty,
  meters: Meters.make(setup),
  choices: Choices.none
})

/** Judges exchanges in flight at the same time; usually one. */
export const judge = (known: Knowledge, exchanges: ReadonlyArray<Exchange>): Judgment => {
  const { add, ...gathered } = gathering()
  let { catalogue, choices, meters } = known
  const all: Array<Seen.Seen> = []
  for (const exchange of exchanges) {
    const asked = Request.read(exchange.request, known.setup, Catalogue.forCreations(catalogue))
    if (exchange.response === undefined) {
      if (asked.isPlain)
        add([broken("http.responds", "a complete response", exchange.missing ?? "none")], exchange)
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
    const [animals, nextCatalogue] = Catalogue.judge(catalogue, seen)
    const [chosen, nextChoices] = Choices.judge(choices, seen)
    const mayBeBanned = Meters.mayBeBanned(meters, caller.key, exchange, all)
    const exists = operation.is === "get" && Catalogue.has(catalogue, operation.id, key, exchange)
    const ofStatus = Status.judge(seen, mayBeBanned, exists)
    const ofAll = EveryResponse.judge(seen, mayBeBanned)
    add([kept("http.responds"), ...ofStatus, ...ofAll, ...animals, ...chosen], exchange)
    catalogue = nextCatalogue
    choices = nextChoices
    if (key === undefined) meters = { ...meters, latestKey: undefined }
  }
  for (const group of Object.values(Arr.groupBy(all, ({ key }) => key?.name ?? ""))) {
    const [{ key }] = group
    if (key === undefined) continue
    const [rulings, next] = Meters.judge(meters, key, group)
    meters = next
    add(rulings, group.at(-1)?.exchange)
  }
  return { ...gathered, known: { ...known, catalogue, choices, meters } }
}

/** Judges what no exchange shows. */
export const close = (known: Knowledge): Judgment => {
  const { basePath } = known.setup
  const isVersioned = /(?:^|\/)v1(?:\/|$)/.test(basePath)
  const { add, ...gathered } = gathering()
  add([rule(isVersioned, "http.version-segment", "a base address with /v1", basePath)])
  return { ...gathered, known }
}

/** Returns what a report tells beside the verdict: the choices of the service, and what they left undecided. */
export const tells = ({ catalogue, choices, meters }: Knowledge): ReadonlyArray<string> => [
  ...[catalogue.change, Names.tells(catalogue.names)].flatMap((told) => told ?? []),
  ...Choices.tells(choices),
  ...World.tells(meters.worlds)
]
