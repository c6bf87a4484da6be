/**
 * Judges every exchange by our decisions on what the contract leaves open: a second judge beside the model, for level
 * `design`. Pure, as the model is. It counts and parses with the core, which has models of its own for both.
 */
import { isOfService } from "../http/ByService.ts"
import { header } from "../http/Wire.ts"
import { type Exchange, gathering, type Ruling, type Setup } from "../model/Exchange.ts"
import type * as Model from "../model/Model.ts"
import * as Request from "../model/Request.ts"
import * as Seen from "../model/Seen.ts"
import * as Concurrent from "./Concurrent.ts"
import * as Creation from "./Creation.ts"
import * as Headers from "./Headers.ts"
import * as Limits from "./Limits.ts"
import * as Lists from "./Lists.ts"
import * as Reading from "./Reading.ts"
import * as Status from "./Status.ts"

/** What is known of a service. Immutable. */
export interface Knowledge {
  readonly setup: Setup
  readonly lists: Lists.Lists
  readonly limits: Limits.Limits
  /** The request ids of the latest responses. */
  readonly ids: ReadonlyArray<string>
}

export interface Judgment extends Pick<Model.Judgment, "violations" | "decided"> {
  readonly known: Knowledge
}

/** Judges a service whose keys are new. */
export const begin = (setup: Setup): Knowledge => ({
  setup,
  lists: Lists.empty,
  limits: Limits.none,
  ids: []
})

type Responded = Seen.Seen["exchange"]

const hasResponse = (exchange: Exchange): exchange is Responded => exchange.response !== undefined

/** Judges exchanges in flight at the same time; usually one. */
export const judge = (known: Knowledge, exchanges: ReadonlyArray<Exchange>): Judgment => {
  const { add, ...gathered } = gathering()
  let next = known
  for (const exchange of exchanges) {
    const [rulings, after] = judgeOne(next, exchange)
    next = after
    add(rulings, exchange)
  }
  const seen = exchanges
    .filter(hasResponse)
    .map((exchange) => Seen.make(exchange, Request.read(exchange.request, known.setup)))
  if (seen.length > 1) add(Concurrent.judge(seen), seen.at(-1)?.exchange)
  return { ...gathered, known: next }
}

/** Number of request ids that are remembered. */
const MAX_IDS = 20

const judgeOne = (known: Knowledge, exchange: Exchange): readonly [ReadonlyArray<Ruling>, Knowledge] => {
  const { basePath } = known.setup
  const { method } = exchange.request
  const given = Reading.read(exchange.request, known.setup)
  if (!hasResponse(exchange)) return [[], { ...known, limits: Limits.afterLoss(known.limits, given.caller) }]
  const reading = { ...given, caller: Reading.shownBy(given.caller, exchange) }
  const [ofLimits, limits, verdict] = Limits.judge(known.limits, reading.caller, exchange)
  const isSuccess = Math.floor(exchange.response.status / 100) === 2
  const hasAnimals = reading.route?.operation !== undefined && isSuccess && method !== "HEAD"
  const ofNone = [[], known.lists] as const
  const [ofAnimals, lists] = hasAnimals ? Lists.judge(known.lists, exchange, reading) : ofNone
  const id = header(exchange.response, "x-request-id")
  const ids = id === undefined ? known.ids : [...known.ids, id].slice(-MAX_IDS)
  const next = { ...known, lists, limits, ids }
  if (!isOfService(exchange)) return [[], next]
  const ofHeaders = Headers.judge({ exchange, reading, ids: known.ids })
  const ofStatus = Status.judge(exchange, reading, known.lists, verdict)
  const ofCreation = hasAnimals ? Creation.judge(exchange, reading.operation, basePath) : []
  return [[...ofStatus, ...ofHeaders, ...ofCreation, ...ofAnimals, ...ofLimits], next]
}
