/** Runs the suite on a subject, and creates the report. */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import packageJson from "../../package.json" with { type: "json" }
import * as Versions from "../clauses/Versions.ts"
import * as PortRun from "../ports/PortRun.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as PortSubject from "../subjects/PortSubject.ts"
import type { Subject } from "../subjects/Subject.ts"
import * as Counts from "./Counts.ts"
import * as Doctor from "./Doctor.ts"
import * as Findings from "./Findings.ts"
import * as JudgedRun from "./JudgedRun.ts"
import * as Reasons from "./Reasons.ts"
import type { Implementation, Report, Verdict } from "./Report.ts"
import { schemaVersion } from "./Report.ts"
import * as ReportRedaction from "./ReportRedaction.ts"
import * as Results from "./Results.ts"
import * as Selection from "./Selection.ts"
import { failSetup, type SetupError } from "./SetupError.ts"

export interface RunOptions extends Selection.SelectionOptions {
  /** The seed of the random choices; a random one if absent. The report contains the seed. */
  readonly seed?: number | undefined
  /** For ports: multiplier of the number of random cases; 1 by default. */
  readonly effort?: number | undefined
  /** For ports: timeout in milliseconds; 20,000 by default. */
  readonly timeLimitMs?: number | undefined
  /** Whether the exit code of an inconclusive run is 0 if the subject may claim at least one profile. */
  readonly allowInconclusive?: boolean | undefined
  /** The tested implementation, for the report. */
  readonly implementation?: Implementation | undefined
  /** Called when a program begins, and each second while it waits. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** For servers: ends the run early; the report contains what was found so far. */
  readonly signal?: AbortSignal | undefined
}

export interface Progress {
  readonly index: number
  readonly total: number
  /** What the run is doing: the name of a program, or the search of the smallest histories. */
  readonly id: string
  readonly requests: number
  /** Time spent waiting for limits so far, in milliseconds. */
  readonly waitedMs: number
}

/**
 * Runs the suite on a subject. Fails for a pattern that matches nothing, if no check is selected, and if the set-up of
 * a server is invalid.
 */
export const run = Effect.fnUntraced(function* (
  subject: Subject,
  options: RunOptions = {}
): Effect.fn.Return<Report, Selection.UnknownSelection | SetupError> {
  const selection = yield* Effect.fromResult(Selection.of(subject, options))
  const startedAt = yield* Clock.currentTimeMillis
  const seed = options.seed ?? (yield* Random.nextIntBetween(0, 2 ** 31 - 1))
  const observed = HttpSubject.is(subject)
    ? yield* observeServer(subject, selection, seed, options)
    : yield* observePorts(subject, selection, seed, options)
  const checks = Results.of(selection, observed)
  const counts = Counts.of(checks)
  const verdict = Counts.verdictOf(counts)
  const claims = Counts.claims(checks)
  const isAllowed = options.allowInconclusive === true && verdict === "inconclusive" && claims.length > 0
  const report: Report = {
    schemaVersion,
    suite: { name: packageJson.name, version: packageJson.version, laws: Versions.suite },
    contract: Versions.contract,
    implementation: options.implementation,
    subject: { name: subject.name, kind: subject.kind, capabilities: [...subject.capabilities] },
    level: selection.level,
    seed,
    startedAt: new Date(startedAt).toISOString(),
    milliseconds: (yield* Clock.currentTimeMillis) - startedAt,
    ...observed.told,
    counts,
    causes: Results.causes(observed.findings),
    checks,
    verdict,
    profiles: Counts.byProfile(checks),
    limits: {
      ...(HttpSubject.is(subject) ? subject.budget : {}),
      effort: options.effort ?? 1,
      only: options.only ?? [],
      exclude: options.exclude ?? []
    },
    claims,
    exitCode: isAllowed ? 0 : exitCodes[verdict]
  }
  return HttpSubject.is(subject) ? ReportRedaction.ofReport(report, subject.redact) : report
})

const exitCodes = {
  conformant: 0,
  "selection-passed": 0,
  "not-conformant": 1,
  error: 2,
  inconclusive: 3
} as const satisfies { readonly [verdict in Verdict]: number }

/** Minimum time for the search of the smallest histories, in milliseconds, if the budget is spent. */
const MIN_SEARCH_MS = 5_000

const TICK_MS = 1_000

/** Examines the set-up of a server, runs the programs, and judges every exchange. */
const observeServer = Effect.fnUntraced(function* (
  subject: HttpSubject.HttpSubject,
  selection: Selection.Selection,
  seed: number,
  { onProgress, signal }: RunOptions
): Effect.fn.Return<Results.Observed, SetupError> {
  const clock = yield* Clock.Clock
  const endsAt = clock.currentTimeMillisUnsafe() + subject.budget.milliseconds
  const { lines, traffic } = yield* Effect.catchTag(
    JudgedRun.until(Doctor.examine(subject, selection), signal),
    "Stopped",
    ({ reason }) => failSetup(reason)
  )
  const programs = Selection.programsFor(subject, selection)
  let doing = { index: 0, id: "" }
  const tell = (now = doing): void => {
    doing = now
    const [requests, waitedMs] = [traffic.requests(), traffic.waitedMs()]
    onProgress?.({ ...doing, total: programs.length, requests, waitedMs })
  }
  const tick = Effect.sync(() => tell()).pipe(Effect.delay(TICK_MS))
  const completed = yield* Effect.raceFirst(
    JudgedRun.complete(subject, traffic, {
      programs,
      level: selection.level,
      seed,
      signal,
      onProgress: ({ name }, index) => tell({ index, id: name })
    }),
    Effect.forever(tick)
  )
  const violations = completed.violations.filter(({ clause }) => selection.selected.has(clause))
  if (violations.length > 0) tell({ index: programs.length, id: "searching the smallest histories" })
  const searchEndsAt = Math.max(endsAt, clock.currentTimeMillisUnsafe() + MIN_SEARCH_MS)
  const isLate = () => signal?.aborted === true || clock.currentTimeMillisUnsafe() >= searchEndsAt
  const { choices, decided, errors, stopped } = completed
  const byReason = Arr.groupBy([...errors, ...stopped], ([, reason]) => reason)
  return {
    decided,
    findings: yield* Findings.of(subject, selection.level, violations, isLate),
    reasonFor: (check) => Reasons.reasonFor(check, completed, subject),
    told: {
      requests: traffic.requests(),
      waitedMs: traffic.waitedMs(),
      findings: lines,
      stopped: Object.entries(byReason).map(
        ([reason, all]) => `${reason}: ${all.map(([name]) => name).join(", ")}`
      ),
      choices
    }
  }
})

/** Default timeout of the random cases of each port, in milliseconds. */
const TIME_LIMIT_MS = 20_000

/** Runs cases on storage ports, and judges every call. */
const observePorts = Effect.fnUntraced(function* (
  subject: Subject,
  { selected }: Selection.Selection,
  seed: number,
  { effort, timeLimitMs = TIME_LIMIT_MS }: RunOptions
): Effect.fn.Return<Results.Observed> {
  if (!PortSubject.is(subject))
    return yield* Effect.die(new Error(`${subject.name} is no subject of this suite`))
  const isWanted = (clause: string) => selected.has(clause)
  const { lacking, undecided, ...found } = yield* PortRun.run(subject.target, {
    seed,
    effort,
    timeLimitMs,
    isWanted
  })
  return {
    ...found,
    reasonFor: ({ slug }) => {
      const [missing, reason] = [lacking.get(slug), undecided.get(slug)]
      if (missing !== undefined) return Results.notApplicable(missing)
      return reason === undefined ? undefined : Results.inconclusive(reason)
    },
    told: { requests: 0, waitedMs: 0, findings: [], stopped: [], choices: [] }
  }
})
