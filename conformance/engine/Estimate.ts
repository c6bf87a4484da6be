/** Estimates the cost of a run, and lists what it cannot decide, before the run begins. */
import * as Arr from "effect/Array"
import { descriptions } from "../evaluation/Capability.ts"
import type { Program } from "../programs/Program.ts"
import type * as Traffic from "../programs/Traffic.ts"
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import * as JudgedRun from "./JudgedRun.ts"
import * as Selection from "./Selection.ts"

/** Time in milliseconds that the suite itself takes for a request. */
const OWN_MS = 1

const MINUTE_MS = 60_000

/** Time that a program waits for one request without a valid key when their limit is used up, and in all. */
const [ANONYMOUS_WAIT_MS, MAX_ANONYMOUS_WAIT_MS] = [2_000, 20_000]

/** Returns how long the programs wait for the limit of callers without a valid key. */
const anonymousWaitsMs = (programs: ReadonlyArray<Program>, limit = Number.POSITIVE_INFINITY): number => {
  let left = limit
  let waitsMs = 0
  for (const { anonymous = 0 } of programs) {
    const excess = Math.max(0, anonymous - left)
    waitsMs += Math.min(MAX_ANONYMOUS_WAIT_MS, excess * ANONYMOUS_WAIT_MS)
    left = Math.max(0, left - anonymous)
  }
  return waitsMs
}

/** Returns the estimated cost of the run, and the checks that may be inconclusive. */
export const lines = (
  subject: HttpSubject,
  selection: Selection.Selection,
  traffic: Pick<Traffic.Traffic, "latencyMs" | "mainLimit" | "anonymousLimit">
): ReadonlyArray<string> => {
  const { clock } = subject.target
  const mainLimit = traffic.mainLimit()
  const planned = Selection.programsFor(subject, selection)
  const checks = Selection.selected(subject, selection)
  const possible = planned.filter((program) => JudgedRun.missing(program, subject.target).length === 0)
  const requests = possible.reduce((sum, program) => sum + program.requests, 0)
  const waitsMs =
    clock === undefined
      ? possible.reduce((sum, { waitsMs: own = 0 }) => sum + own, 0) +
        anonymousWaitsMs(possible, traffic.anonymousLimit()) +
        (mainLimit === undefined ? 0 : Math.floor(requests / mainLimit) * MINUTE_MS)
      : 0
  const seconds = Math.ceil((requests * (traffic.latencyMs() + OWN_MS) + waitsMs) / 1_000)
  const lacking = planned.flatMap(({ profile, ...program }) =>
    JudgedRun.missing(program, subject.target).map((need) => ({ profile, reason: descriptions[need] }))
  )
  return [
    `${checks.length} checks at level ${selection.level}, about ${requests} requests and ${seconds} s`,
    ...Object.entries(Arr.groupBy(lacking, ({ reason }) => reason)).map(([reason, all]) => {
      const profiles = [...new Set(all.map(({ profile }) => profile))].join(", ")
      return `some checks of ${profiles} will stay inconclusive: it needs ${reason}`
    })
  ]
}
