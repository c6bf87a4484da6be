/** Runs the suite on a subject, and creates the report. */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import packageJson from "../../package.json" with { type: "json" }
import type { Level } from "../clauses/Clause.ts"
import * as Versions from "../clauses/Versions.ts"
import * as Model from "../model/Model.ts"
import * as PortRun from "../ports/PortRun.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as PortSubject from "../subjects/PortSubject.ts"
import type { Subject } from "../subjects/Subject.ts"
import * as Counts from "./Counts.ts"
import * as Doctor from "./Doctor.ts"
import * as Findings from "./Findings.ts"
import * as JudgedRun from "./JudgedRun.ts"
import type { Implementation, Report, Verdict } from "./Report.ts"
import { schemaVersion } from "./Report.ts"
import * as ReportRedaction from "./ReportRedaction.ts"
import * as Results from "./Results.ts"
import * as Selection from "./Selection.ts"
import { failSetup, type SetupError } from "./SetupError.ts"

export interface RunOptions {
  /** By default `spec` for servers, and `design` for ports, because their laws are promises of this project. */
  readonly level?: Level | undefined
  /** The seed of the random choices; a random one if absent. The report contains the seed. */
  readonly seed?: number | undefined
  readonly only?: ReadonlyArray<string> | undefined
  readonly exclude?: ReadonlyArray<string> | undefined
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
  const results = Results.of(
    Selection.checksFor(subject, selection.level),
    observed,
    selection,
    subject.capabilities,
    HttpSubject.is(subject) ? subject.target.declared : undefined
  )
  const counts = Counts.of(results)
  const verdict = Counts.verdictOf(counts)
  const claims = Counts.claims(results)
  const isAllowed = options.allowInconclusive === true && verdict === "inconclusive" && claims.length > 0
  const { implementation } = options
  const report: Report = {
    schemaVersion,
    suite: { name: packageJson.name, version: packageJson.version, laws: Versions.suite },
    contract: Versions.contract,
    ...(implementation === undefined ? {} : { implementation }),
    subject: { name: subject.name, kind: subject.kind, capabilities: [...subject.capabilities] },
    level: selection.level,
    seed,
    startedAt: new Date(startedAt).toISOString(),
    milliseconds: (yield* Clock.currentTimeMillis) - startedAt,
    waitedMs: observed.waitedMs ?? 0,
    requests: observed.requests ?? 0,
    counts,
    findings: observed.examined ?? [],
    stopped: Object.entries(
      Arr.groupBy([...(observed.errors ?? []), ...(observed.stopped ?? [])], ([, reason]) => reason)
    ).map(([reason, all]) => `${reason}: ${all.map(([name]) => name).join(", ")}`),
    choices: observed.choices ?? [],
    causes: Results.causes(observed.findings),
    checks: results,
    verdict,
    profiles: Counts.byProfile(results),
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

/** Returns the selected clauses. */
const wantedBy = (subject: Subject, selection: Selection.Selection): ReadonlySet<string> =>
  new Set(Selection.selected(subject, selection).map(({ slug }) => slug))

/** Why clauses about counts may stay undecided at level design, if the clock did not stand still during requests. */
const inexact = new Map(
  Selection.checks.flatMap(({ level, slug }) =>
    level === "design" && /^(?:limits|ban)\./.test(slug)
      ? [[slug, "the times of requests are not known to the millisecond"] as const]
      : []
  )
)

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
  const { level } = selection
  const clock = yield* Clock.Clock
  const endsAt = clock.currentTimeMillisUnsafe() + subject.budget.milliseconds
  const session = yield* Doctor.open(subject, level)
  const examined = yield* Effect.catchTag(
    JudgedRun.until(Doctor.examine(subject, selection, session), signal),
    "Stopped",
    ({ reason }) => failSetup(reason)
  )
  const programs = Selection.programsFor(subject, selection)
  const { setup, traffic } = session
  let doing = { index: 0, id: "" }
  const tell = (now = doing): void => {
    doing = now
    const [requests, waitedMs] = [traffic.requests(), traffic.waitedMs()]
    onProgress?.({ ...doing, total: programs.length, requests, waitedMs })
  }
  const tick = Effect.sync(() => tell()).pipe(Effect.delay(TICK_MS))
  const { errors, known, stopped } = yield* Effect.raceFirst(
    JudgedRun.complete(session, subject.target, {
      programs,
      seed,
      signal,
      onProgress: ({ name }, index) => tell({ index, id: name })
    }),
    Effect.forever(tick)
  )
  const wanted = wantedBy(subject, selection)
  const violations = session.violations.filter(({ clause }) => wanted.has(clause))
  if (violations.length > 0) tell({ index: programs.length, id: "searching the smallest histories" })
  const searchEndsAt = Math.max(endsAt, clock.currentTimeMillisUnsafe() + MIN_SEARCH_MS)
  const isLate = () => signal?.aborted === true || clock.currentTimeMillisUnsafe() >= searchEndsAt
  return {
    decided: session.decided,
    findings: yield* Findings.of(subject, setup, level, session.exchanges, violations, isLate),
    programs,
    stopped,
    errors,
    lacking: session.exchanges.every(({ from, to }) => from === to) ? new Map() : inexact,
    choices: Model.tells(known.model),
    requests: traffic.requests(),
    waitedMs: traffic.waitedMs(),
    examined
  }
})

/** Default timeout of the random cases of each port, in milliseconds. */
const TIME_LIMIT_MS = 20_000

/** Runs cases on storage ports, and judges every call. */
const observePorts = (
  subject: Subject,
  selection: Selection.Selection,
  seed: number,
  { effort, timeLimitMs = TIME_LIMIT_MS }: RunOptions
): Effect.Effect<Results.Observed> => {
  const wanted = wantedBy(subject, selection)
  return PortSubject.is(subject)
    ? PortRun.run(subject.target, { seed, effort, timeLimitMs, isWanted: (clause) => wanted.has(clause) })
    : Effect.die(new Error(`${subject.name} is no subject of this suite`))
}
