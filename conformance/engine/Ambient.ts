/** Runs the checks of every exchange over what a run has sent and received. */
import type { AmbientCheck } from "../checks/Ambient.ts"
import * as Conversation from "../http/Conversation.ts"
import type { Exchange, KeyName } from "../http/Exchange.ts"
import { text } from "../http/Wire.ts"
import type { CheckResult } from "../reports/Report.ts"

/** Steps that a counterexample shows before the exchange at fault. */
const CONTEXT = 1

/** Holds one check against all exchanges; the first at fault is the counterexample. */
export const overhear = (check: AmbientCheck, exchanges: ReadonlyArray<Exchange>): CheckResult => {
  const histories = new Map<KeyName, Array<Exchange>>()
  let faults = 0
  let counterexample: CheckResult["counterexample"]
  for (const exchange of exchanges) {
    const history = histories.get(exchange.key) ?? []
    histories.set(exchange.key, history)
    const latest = history.at(-1)
    const previous = exchange.isAlone && latest?.isAlone === true ? latest : undefined
    const violation = check.examine(exchange, previous, history)
    if (violation !== undefined) {
      faults++
      counterexample ??= {
        expected: violation.expected,
        actual: violation.actual,
        case: "",
        steps: [...history.slice(-CONTEXT), exchange].map((one) => ({
          did: said(one),
          got: Conversation.outcome(one.response)
        })),
        reproduced: { times: 0, of: 0 },
        found: { runs: exchange.index + 1, shrinks: 0 },
        script: undefined,
        token: ""
      }
    }
    history.push(exchange)
  }
  const { clauses, id, law, level } = check
  const reason =
    counterexample === undefined
      ? exchanges.length === 0
        ? "nothing was sent"
        : undefined
      : `expected ${counterexample.expected}, got ${counterexample.actual} (in ${faults} of ${exchanges.length} exchanges)`
  return {
    id,
    law,
    clauses,
    level,
    profile: "core",
    status: counterexample !== undefined ? "fail" : exchanges.length === 0 ? "inconclusive" : "pass",
    reason,
    runs: { planned: exchanges.length, executed: exchanges.length, decided: exchanges.length },
    requests: 0,
    milliseconds: 0,
    counterexample
  }
}

const said = ({ key, request }: Exchange): string =>
  `${request.method} ${request.target}${request.body === undefined ? "" : ` ${text(request.body).slice(0, 160)}`}${
    key === "main" ? "" : ` (${key} key)`
  }`
