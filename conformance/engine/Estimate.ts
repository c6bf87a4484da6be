/** Estimates the cost of a run, and lists what it cannot decide, before the run begins. */
import * as Arr from "effect/Array"
import { descriptions } from "../evaluation/Capability.ts"
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import * as JudgedRun from "./JudgedRun.ts"
import * as Selection from "./Selection.ts"

/** Time in milliseconds that the suite itself takes for a request. */
const OWN_MS = 1

const MINUTE_MS = 60_000

/** Returns the estimated cost of the run, and the checks that may be inconclusive. */
export const lines = (
  subject: HttpSubject,
  selection: Partial<Selection.Selection> & Pick<Selection.Selection, "level">,
  latencyMs: number,
  mainLimit: number | undefined
): ReadonlyArray<string> => {
  const { clock } = subject.target
  const planned = Selection.programsFor(subject, selection)
  const checks = Selection.checksFor(subject, selection.level).filter((check) =>
    Selection.isSelected(check, selection)
  )
  const possible = planned.filter((program) => JudgedRun.missing(program, subject.target).length === 0)
  const requests = possible.reduce((sum, program) => sum + program.requests, 0)
  const waits = clock === undefined ? possible.reduce((sum, { waitsMs = 0 }) => sum + waitsMs, 0) : 0
  const paced =
    clock === undefined && mainLimit !== undefined ? Math.floor(requests / mainLimit) * MINUTE_MS : 0
  const seconds = Math.ceil((requests * (latencyMs + OWN_MS) + Math.max(waits, paced)) / 1_000)
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
