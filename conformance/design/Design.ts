/**
 * Judges every exchange by our decisions on what the contract leaves open: a second judge beside the model, for level
 * `design`. Pure, as the model is.
 */
import * as Result from "effect/Result"
import type { ClauseSlug } from "../clauses/Clauses.ts"
import { isOfService } from "../http/ByService.ts"
import * as CreatedAnimal from "../http/CreatedAnimal.ts"
import * as ErrorBody from "../http/ErrorBody.ts"
import * as ExactJson from "../http/ExactJson.ts"
import { header, headerValues, text, type WireResponse } from "../http/Wire.ts"
import {
  type Exchange,
  kept,
  type Ruling,
  rule,
  type Setup,
  type Violation,
  violations
} from "../model/Exchange.ts"
import * as Creation from "./Creation.ts"
import * as Expected from "./Expected.ts"
import * as Headers from "./Headers.ts"
import * as Limits from "./Limits.ts"
import * as Lists from "./Lists.ts"
import * as Reading from "./Reading.ts"

/** What is known of a service. Immutable. */
export interface Knowledge {
  readonly setup: Setup
  readonly lists: Lists.Lists
  readonly limits: Limits.Limits
  /** The request ids of the latest responses. */
  readonly ids: ReadonlyArray<string>
  /** Exchanges in flight at the same time. */
  readonly pending: ReadonlyArray<Exchange>
}

export interface Judgment {
  readonly violations: ReadonlyArray<Violation>
  /** The clauses that the exchanges decided, whether or not they hold. */
  readonly decided: ReadonlySet<ClauseSlug>
  readonly known: Knowledge
}

/** Judges a service whose keys are new. */
export const begin = (setup: Setup): Knowledge => ({
  setup,
  lists: Lists.empty,
  limits: Limits.none,
  ids: [],
  pending: []
})

/** Judges the next exchange, in the order in which responses arrived. */
export const judge = (known: Knowledge, exchange: Exchange): Judgment =>
  exchange.isAlone
    ? judgeAll({ ...known, pending: [] }, [...inOrder(known.pending), exchange])
    : { violations: [], decided: new Set(), known: { ...known, pending: [...known.pending, exchange] } }

/** Judges what is left at the end of a run. */
export const close = (known: Knowledge): Judgment =>
  judgeAll({ ...known, pending: [] }, inOrder(known.pending))

/** Number of request ids that are remembered. */
const MAX_IDS = 20

type Responded = Exchange & { readonly response: WireResponse }

const hasResponse = (exchange: Exchange): exchange is Responded => exchange.response !== undefined

/** Returns exchanges that were in flight together in an order that explains their limits, lost ones first. */
const inOrder = (exchanges: ReadonlyArray<Exchange>): ReadonlyArray<Exchange> => [
  ...exchanges.filter((exchange) => !hasResponse(exchange)),
  ...exchanges.filter(hasResponse).toSorted((a, b) => a.from - b.from || Limits.rank(a) - Limits.rank(b))
]

const judgeAll = (known: Knowledge, exchanges: ReadonlyArray<Exchange>): Judgment => {
  const found: Array<Violation> = []
  const decided = new Set<ClauseSlug>()
  let next = known
  for (const exchange of exchanges) {
    const reading = Reading.read(exchange.request, known.setup)
    if (!hasResponse(exchange)) {
      next = {
        ...next,
        limits: Limits.afterLoss(next.limits, reading.caller),
        lists: exchange.request.method === "GET" ? next.lists : Lists.afterLoss(next.lists)
      }
      continue
    }
    const [rulings, after] = judgeOne(next, exchange, reading)
    next = after
    for (const { clause } of rulings) decided.add(clause)
    found.push(...violations(rulings, exchange))
  }
  return { violations: found, decided, known: next }
}

const judgeOne = (
  known: Knowledge,
  exchange: Responded,
  given: Reading.Reading
): readonly [ReadonlyArray<Ruling>, Knowledge] => {
  const { basePath } = known.setup
  const reading = { ...given, caller: Reading.shownBy(given.caller, exchange.response.status) }
  const counted = Limits.judge(known.limits, reading.caller, exchange)
  const [ofAnimals, lists] = judgeAnimals(known, exchange, reading)
  const id = header(exchange.response, "x-request-id")
  const ids = id === undefined ? known.ids : [...known.ids, id].slice(-MAX_IDS)
  const next = { ...known, lists, limits: counted.limits, ids }
  if (!isOurs(exchange)) return [[], next]
  const ofHeaders = Headers.judge({ exchange, reading, basePath, ids: known.ids })
  const ofStatus = judgeStatus(known, exchange, reading, counted)
  return [[...ofStatus, ...ofHeaders, ...ofAnimals, ...counted.rulings], next]
}

/** Maximum size of a header section that no server rejects with 431. */
const SMALL_HEADERS = 4_096

const isOurs = (exchange: Responded): boolean => {
  const size = exchange.request.headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  return isOfService(exchange) || (exchange.response.status === 431 && size < SMALL_HEADERS)
}

/** Judges the status and the code by the outcomes of the request. */
const judgeStatus = (
  known: Knowledge,
  { from, request, response, to }: Responded,
  reading: Reading.Reading,
  { verdict }: Limits.Judged
): ReadonlyArray<Ruling> => {
  const { status } = response
  const { caller } = reading
  // The outcome of a repeated creation is another matter.
  const isOpen = caller.is === "unclear" || headerValues(request, "idempotency-key").length > 0
  const isDenialOpen = status === 429 && verdict === undefined
  if (isOpen || isDenialOpen || status >= 500 || (status >= 300 && status < 400)) return []
  const isRemoved = from >= Expected.REMOVAL ? true : to < Expected.REMOVAL ? false : undefined
  const exists = (id: string) => /^[0-9]{1,19}$/.test(id) && known.lists.animals.has(BigInt(id))
  const isTaken = (name: string) => [...known.lists.animals.values()].some((animal) => animal.name === name)
  const { cursors } = known.lists
  const admitted = Expected.outcomes(request, reading, { cursors, isRemoved, exists, isTaken })
  const all = [...ofCaller(reading, verdict, admitted[0]), ...admitted]
  const [expected, ...later] = all
  if (expected === undefined) return []
  const isRight = expected.statuses.includes(status)
  const isOfOrder = status >= 400 && later.some(({ statuses }) => statuses.includes(status))
  const wanted = `${expected.statuses.join(" or ")} for ${expected.because}`
  const ignored = ignoredBy(request, caller)
  if (!isRight) {
    const isScheme = ignored === "auth.scheme-case" && status !== 401
    const clause = status === 410 ? "get.gone" : isOfOrder ? expected.ofOrder : isScheme ? undefined : ignored
    const broken = clause ?? expected.clause
    return broken === undefined ? [] : [rule(false, broken, wanted, status)]
  }
  const order = later.some(({ statuses }) => statuses.some((each) => each >= 400))
    ? expected.ofOrder
    : undefined
  const held = [expected.clause, ignored, order].filter((clause) => clause !== undefined)
  return [...held.map(kept), ...ofError(expected, response)]
}

/** Returns the outcomes that precede those of the operation: no key, and no requests left. */
const ofCaller = (
  { caller, path }: Reading.Reading,
  verdict: Limits.Judged["verdict"],
  next: Expected.Outcome | undefined
): ReadonlyArray<Expected.Outcome> => {
  const isBanned = verdict?.outcome === "banned"
  const denied: Expected.Outcome = {
    statuses: [429],
    because: isBanned ? "a banned key" : "a request over the limit",
    clause: isBanned ? "ban.answer" : undefined,
    code: isBanned ? "api_key_banned" : "rate_limit_exceeded",
    ofCode: isBanned ? "ban.answer" : "limits.exceeded-code",
    ofOrder: "limits.before-routing"
  }
  const isDenied = verdict !== undefined && verdict.outcome !== "admitted"
  if (caller.is !== "nobody") return isDenied ? [denied] : []
  const isUnknown = path.is === "unknown"
  const isOther = next?.statuses.some((status) => status >= 300) === true
  const unauthorized: Expected.Outcome = {
    statuses: [401],
    because: caller.hasCredential ? "an invalid key" : "no key",
    clause: caller.clause ?? (isUnknown ? "auth.unknown-path" : isOther ? "auth.first" : undefined),
    code: caller.hasCredential ? "invalid_api_key" : "missing_api_key",
    ofCode: "auth.codes",
    ofOrder: isUnknown ? "auth.unknown-path" : "auth.first"
  }
  return isDenied ? [denied, unauthorized] : [unauthorized]
}

/** Returns our decision to ignore what is unusual about the headers of a request. */
const ignoredBy = (request: Exchange["request"], caller: Reading.Caller): ClauseSlug | undefined => {
  if (request.headers.some(([name]) => /method-override|^x-http-method$/i.test(name)))
    return "http.other-operations"
  const accept = headerValues(request, "accept").join(", ")
  if (accept !== "" && !/application\/json|\*\/\*/.test(accept)) return "http.accept"
  return caller.is === "key" && !caller.isUsual ? "auth.scheme-case" : undefined
}

/** Judges the code and the message of an expected error. */
const ofError = (
  { code, names = [], ofCode, statuses }: Expected.Outcome,
  response: WireResponse
): ReadonlyArray<Ruling> => {
  const body = ErrorBody.of(response)
  if (Result.isFailure(body) || response.status !== statuses.at(-1)) return []
  const { code: actual, message } = body.success
  const unnamed = names.find((name) => !message.includes(name))
  return [
    ...(ofCode === undefined || code === undefined ? [] : [rule(actual === code, ofCode, code, actual)]),
    ...(names.length === 0
      ? []
      : [
          rule(
            unnamed === undefined,
            "errors.messages",
            `a message about ${unnamed}`,
            JSON.stringify(message)
          )
        ])
  ]
}

/** Judges the animals in a response, and learns them. */
const judgeAnimals = (
  known: Knowledge,
  exchange: Responded,
  reading: Reading.Reading
): readonly [ReadonlyArray<Ruling>, Lists.Lists] => {
  const { lists, setup } = known
  const { request, response } = exchange
  if (request.method === "POST" && response.status >= 200 && response.status < 300) {
    return [ofCreated(exchange, reading, setup.basePath), Lists.withAnimal(lists, response)]
  }
  if (response.status !== 200 || request.method !== "GET" || reading.path.is === "unknown") return [[], lists]
  const shown = [...ofIntegers(response), ...Lists.ofShown(lists, response)]
  if (reading.path.is === "pet") return [shown, Lists.withAnimal(lists, response)]
  const [rulings, next] = Lists.judge(lists, reading, exchange, setup.basePath)
  return [[...shown, ...rulings], next]
}

const ofCreated = (
  exchange: Responded,
  reading: Reading.Reading,
  basePath: string
): ReadonlyArray<Ruling> => {
  const { from, request, response, to } = exchange
  const animal = CreatedAnimal.of(exchange)
  const sent = Creation.read(request)
  if (animal === undefined || reading.path.is !== "pets") return []
  const location = header(response, "location") ?? ""
  const address = `${basePath}/pets/${animal.id}`
  const isAddress =
    location === address || (/^https?:/.test(location) && location.endsWith(`/pets/${animal.id}`))
  const ofLocation =
    to < Expected.REMOVAL
      ? [rule(isAddress, "create.location", `Location: ${address}`, location || "none")]
      : from < Expected.REMOVAL
        ? []
        : [rule(location === "", "create.location", "no Location after the removal", location)]
  if (Creation.isDefect(sent)) return ofLocation
  const members = Object.keys(Object(ExactJson.parse(text(response.body), Number))).toSorted()
  const [name, returned] = [JSON.stringify(sent.name), JSON.stringify(animal.name)]
  return [
    ...ofLocation,
    ...ofIntegers(response),
    rule(name === returned, "create.name-exact", name, returned),
    rule(
      members.join() === "categoryId,id,name,status",
      "create.unknown-fields",
      "only the four fields",
      members.join(", ")
    ),
    ...(sent.hasStatus
      ? []
      : [rule(animal.status === "available", "create.status-default", "available", animal.status)])
  ]
}

/** Every int64 is a JSON number with all its digits. */
const ofIntegers = (response: WireResponse): ReadonlyArray<Ruling> => {
  const odd: Array<string> = []
  try {
    ExactJson.parse(text(response.body), (source) => {
      if (!/^-?(?:0|[1-9][0-9]*)$/.test(source)) odd.push(source)
      return 0
    })
  } catch {
    return []
  }
  return [rule(odd.length === 0, "resources.int64-numbers", "integers in plain digits", odd[0])]
}
