/** Records a run of the programs, and judges it again as a server with another transport would have responded. */
import * as Effect from "effect/Effect"
import type { Level } from "../clauses/Clause.ts"
import * as JudgedRun from "../engine/JudgedRun.ts"
import * as Judges from "../engine/Judges.ts"
import type { Transport, WireResponse } from "../http/Wire.ts"
import type { Exchange, Setup, Violation } from "../model/Exchange.ts"
import * as Model from "../model/Model.ts"
import type { HttpTarget } from "../subjects/HttpSubject.ts"
import type { World } from "./Fault.ts"
import * as ServiceTarget from "./ServiceTarget.ts"

export interface Recording {
  readonly setup: Setup
  readonly exchanges: ReadonlyArray<Exchange>
}

/** Returns what a user declares about a subject in process, and the plan of the main key. */
export const setupOf = (target: HttpTarget): Setup => {
  const setup = JudgedRun.setupOf(target)
  const keys = setup.keys.map((key) =>
    key.name === "main" ? { ...key, plan: ServiceTarget.plans.main } : key
  )
  return { ...setup, keys }
}

/** Returns a transport that reports each exchange, with the time of the subject's clock. */
export const tap = (
  { clock, transport }: Pick<HttpTarget, "clock" | "transport">,
  record: (exchange: Exchange) => void
): Transport => {
  let [inFlight, sent] = [0, 0]
  const now = clock?.now ?? Effect.succeed(Number.NaN)
  return (request) =>
    Effect.gen(function* () {
      const wasAlone = inFlight++ === 0
      const ordinal = ++sent
      const from = yield* now
      const finish = (response: WireResponse | undefined) =>
        Effect.map(now, (to) => {
          inFlight--
          const did = `${request.method} ${request.target}`
          const isAlone = wasAlone && sent === ordinal
          record({ index: ordinal - 1, did, request, response, from, to, isAlone })
        })
      return yield* transport(request).pipe(
        Effect.tap(finish),
        Effect.tapError(() => finish(undefined))
      )
    })
}

/** Returns the recording with the responses that a server with this transport would have sent. */
export const replay = (
  { exchanges, setup }: Recording,
  spoil: (real: Transport, world: World) => Transport
): Recording => {
  let current: Exchange | undefined
  const real: Transport = () =>
    current?.response === undefined ? Effect.never : Effect.succeed(current.response)
  const secret = (name: string) => setup.keys.find((key) => key.name === name)?.secret ?? ""
  const world: World = {
    now: () => current?.from ?? 0,
    keys: { main: secret("main"), tiny: secret("tiny"), victim: secret("victim"), revoked: secret("revoked") }
  }
  const spoiled = spoil(real, world)
  return {
    setup,
    exchanges: exchanges.map((exchange) => {
      if (exchange.response === undefined) return exchange
      current = exchange
      const response = Effect.runSync(spoiled(exchange.request))
      return response === exchange.response ? exchange : { ...exchange, response }
    })
  }
}

/** Returns the violations at a level that the model finds in a recording; stops after `max`. */
export const judge = ({ exchanges, setup }: Recording, level: Level, max = 10) => {
  let known = Judges.begin(setup, level)
  const violations: Array<Violation> = []
  for (const exchange of exchanges) {
    const judged = Judges.judge(known, exchange)
    known = judged.known
    violations.push(...judged.violations.filter((violation) => Model.isOfLevel(violation, level)))
    if (violations.length >= max) return { violations, known }
  }
  violations.push(...Judges.close(known).violations.filter((violation) => Model.isOfLevel(violation, level)))
  return { violations, known }
}

/** Number of exchanges after which a recording holds what is known. */
const STEP = 64

/** Creates a judge of changed copies of a recording, which begins where the first response is changed. */
export const makeJudge = (recording: Recording, level: Level) => {
  const { exchanges, setup } = recording
  const snapshots: Array<Judges.Knowledge> = []
  let known = Judges.begin(setup, level)
  for (const [index, exchange] of exchanges.entries()) {
    if (index % STEP === 0) snapshots.push(known)
    known = Judges.judge(known, exchange).known
  }
  const isOfLevel = (violation: Violation) => Model.isOfLevel(violation, level)
  /** Returns the first violation in a copy of the recording. */
  return (copy: Recording): Violation | undefined => {
    const first = copy.exchanges.findIndex((exchange, index) => exchange !== exchanges[index])
    if (first === -1) return undefined
    const begin = Math.floor(first / STEP)
    let known = snapshots[begin] ?? Judges.begin(setup, level)
    for (const exchange of copy.exchanges.slice(begin * STEP)) {
      const judged = Judges.judge(known, exchange)
      known = judged.known
      const found = judged.violations.find(isOfLevel)
      if (found !== undefined) return found
    }
    return Judges.close(known).violations.find(isOfLevel)
  }
}
