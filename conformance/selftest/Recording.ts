/** Records a run of the programs, and judges it again as a server with another transport would have responded. */
import * as Effect from "effect/Effect"
import type { Level } from "../clauses/Clause.ts"
import * as Judges from "../engine/Judges.ts"
import { type Transport, text, type WireResponse } from "../http/Wire.ts"
import type { Exchange, Setup, Violation } from "../model/Exchange.ts"
import type { World } from "./Fault.ts"

export interface Recording {
  readonly setup: Setup
  readonly exchanges: ReadonlyArray<Exchange>
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

/** Whether two servers responded alike, as far as the contract describes responses. */
export const isAlike = (
  a: ReadonlyArray<WireResponse | undefined>,
  b: ReadonlyArray<WireResponse | undefined>
): boolean => a.length === b.length && a.every((response, index) => shown(response) === shown(b[index]))

const shown = ({ body, headers = [], status }: Partial<WireResponse> = {}): string => {
  const described = headers.filter(([name]) => /^(?:x-ratelimit-.*|retry-after|content-type)$/i.test(name))
  return JSON.stringify([status, described, text(body)])
}

/** Number of groups of exchanges after which a recording holds what is known. */
const STEP = 64

/** Creates a judge of changed copies of a recording, which begins where the first response is changed. */
export const makeJudge = ({ exchanges, setup }: Recording, level: Level) => {
  const snapshots: Array<Judges.Knowledge> = []
  let known = Judges.begin(setup, level)
  for (const [index, group] of Judges.groups(exchanges).entries()) {
    if (index % STEP === 0) snapshots.push(known)
    known = Judges.judge(known, group).known
  }
  const originals = new Set(exchanges)
  /** Returns the first violation in a copy of the recording. */
  return (copy: Recording): Violation | undefined => {
    const groups = Judges.groups(copy.exchanges)
    const first = groups.findIndex((group) => group.some((exchange) => !originals.has(exchange)))
    if (first === -1) return undefined
    const begin = Math.floor(first / STEP)
    let known = snapshots[begin] ?? Judges.begin(setup, level)
    for (const group of groups.slice(begin * STEP)) {
      const judged = Judges.judge(known, group)
      known = judged.known
      const [found] = judged.violations
      if (found !== undefined) return found
    }
    return Judges.close(known).violations[0]
  }
}
