/** Estimates the cost of a run, and lists what it cannot decide, before the run begins. */
import * as Arr from "effect/Array"
import type { Program } from "../programs/Program.ts"
import type * as Traffic from "../programs/Traffic.ts"
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import { capabilities } from "../subjects/Subject.ts"
import * as JudgedRun from "./JudgedRun.ts"
import * as Selection from "./Selection.ts"

/** Time in milliseconds that the suite itself takes for a request. */
const OWN_MS = 0.5

const MINUTE_MS = 60_000

/** Time of a wait for the limit of callers without a valid key in milliseconds, and the maximum number of such waits. */
const [ANONYMOUS_WAIT_MS, MAX_ANONYMOUS_WAITS] = [1_250, 30]

/** Returns the estimated cost of the run, and the checks that may be inconclusive. */
export const lines = (
  subject: HttpSubject,
  selection: Selection.Selection,
  traffic: Pick<Traffic.Traffic, "latencyMs" | "mainLimit" | "anonymousLimit">
): ReadonlyArray<string> => {
  const { clock } = subject.target
  const mainLimit = traffic.mainLimit()
  const planned = Selection.programsFor(subject, selection)
  const possible = planned.filter((program) => JudgedRun.missing(program, subject).length === 0)
  const sum = (of: (program: Program) => number) => possible.reduce((total, each) => total + of(each), 0)
  const requests = sum((program) => program.requests)
  const sendingMs = requests * (traffic.latencyMs() + OWN_MS)
  const denials = Math.max(0, sum(({ anonymous = 0 }) => anonymous) - (traffic.anonymousLimit() ?? Infinity))
  const waitsMs =
    sum((program) => program.waitsMs ?? 0) + Math.min(denials, MAX_ANONYMOUS_WAITS) * ANONYMOUS_WAIT_MS
  // The main key's limit is refilled during other waits, too.
  const pacedMs = mainLimit === undefined ? 0 : Math.floor(requests / mainLimit) * MINUTE_MS
  const ms = clock === undefined ? Math.max(sendingMs + waitsMs, pacedMs) : sendingMs
  const { milliseconds, requests: maxRequests } = subject.budget
  const isTooMuch = ms > milliseconds || requests > maxRequests
  const lacking = planned.flatMap((program) =>
    JudgedRun.missing(program, subject).map((need) => ({
      profile: program.profile,
      reason: capabilities[need]
    }))
  )
  return [
    `${selection.selected.size} ${selection.selected.size === 1 ? "check" : "checks"} at level ${selection.level}, about ${requests} requests and ${Math.ceil(ms / 1_000)} s${isTooMuch ? ", more than the budget (--budget) allows: some checks will stay inconclusive" : ""}`,
    ...Object.entries(Arr.groupBy(lacking, ({ reason }) => reason)).map(([reason, all]) => {
      const profiles = [...new Set(all.map(({ profile }) => profile))].join(", ")
      return `some checks of ${profiles} will stay inconclusive: it needs ${reason}`
    })
  ]
}
