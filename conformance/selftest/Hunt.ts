/** Hunts one server or store with the programs, and returns what the model finds. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Level } from "../clauses/Clause.ts"
import { bySlug } from "../clauses/Clauses.ts"
import * as JudgedRun from "../engine/JudgedRun.ts"
import type { Exchange, Setup, Violation } from "../model/Exchange.ts"
import * as PortRun from "../ports/PortRun.ts"
import { programs } from "../programs/Programs.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as PortSubject from "../subjects/PortSubject.ts"
import type { Subject } from "../subjects/Subject.ts"
import type { Where } from "./Fault.ts"
import { faults } from "./Faults.ts"
import * as Draws from "./mutants/Draws.ts"
import * as Mutant from "./mutants/Mutant.ts"
import { mutants } from "./mutants/Mutants.ts"
import * as RandomConversation from "./mutants/RandomConversation.ts"
import * as Variants from "./plain/Variants.ts"
import * as Recording from "./Recording.ts"
import * as Subjects from "./Subjects.ts"

export interface Task {
  /** `reference` is the service of the core, and `ports` its stores; both are correct. */
  readonly kind: "fault" | "mutant" | "variant" | "reference" | "ports"
  readonly id: string
  readonly seed: number
  /** The level of the violations that count; `clause` is that of the clause that a fault breaks. */
  readonly level: Level | "clause"
  /** Whether to end with the first violation. */
  readonly isBrief: boolean
  /** Whether a mutant is hunted only in a recorded run, and not on a server afterwards. */
  readonly isOnlyRecorded?: boolean | undefined
}

export interface Result extends Task {
  /** The violations, one line each. */
  readonly found: ReadonlyArray<string>
  /** Their clauses. */
  readonly clauses: ReadonlyArray<string>
  readonly requests: number
  readonly ms: number
  readonly stopped: ReadonlyArray<string>
  /** The number of values that a mutant changed; 0 if no response shows a difference, also to random requests. */
  readonly changed: number
}

/** Timeout of one run, in milliseconds. */
const TIMEOUT_MS = 90_000

const line = ({ actual, clause, evidence, expected }: Violation): string =>
  `${clause}: expected ${expected}, got ${actual} [${evidence.map(({ did, index }) => `#${index} ${did}`).join(" ; ")}]`

type Opened = Effect.Effect<Subject, unknown, Scope.Scope>

interface Hunted {
  readonly subject: Opened
  readonly level: Level
  readonly mutant?: Mutant.Mutant | undefined
}

const named = <A extends { readonly id: string }>(all: ReadonlyArray<A>, id: string): A => {
  const found = all.find((each) => each.id === id)
  if (found === undefined) throw new Error(`"${id}" does not exist`)
  return found
}

const huntedBy = ({ id, kind, level }: Task, tally: Mutant.Tally): Hunted => {
  const chosen = level === "clause" ? "spec" : level
  switch (kind) {
    case "ports":
      return { subject: Subjects.referencePorts, level: "design" }
    case "reference":
      return { subject: Subjects.reference, level: chosen }
    case "variant": {
      const { choices } = named(Variants.of(Number(id.split(".")[0])), id)
      return { subject: Subjects.ofChoices(id, choices), level: "spec" }
    }
    case "fault": {
      const { breaks, where } = named(faults, id)
      const ofClause = bySlug.get(breaks)?.level ?? "spec"
      return { subject: Subjects.ofFault(id, where), level: level === "clause" ? ofClause : level }
    }
    case "mutant": {
      const mutant = named(mutants, id)
      return { subject: Subjects.ofFault(id, Mutant.install(mutant, tally)), level: chosen, mutant }
    }
  }
}

/** What a hunt uses of a run. */
type Live = Pick<JudgedRun.Completed, "violations" | "stopped"> & {
  readonly exchanges: ReadonlyArray<Exchange>
}

/** Runs programs on a server. */
const runServer = Effect.fnUntraced(function* (
  subject: HttpSubject.HttpSubject,
  options: JudgedRun.Options
): Effect.fn.Return<Live, unknown> {
  const traffic = yield* JudgedRun.open(subject)
  const { stopped, violations } = yield* JudgedRun.complete(subject, traffic, options)
  return { violations, exchanges: subject.exchanges, stopped }
})

/** Makes calls of stores. */
const runPorts = (subject: PortSubject.PortSubject, seed: number): Effect.Effect<Live> =>
  Effect.map(PortRun.run(subject.target, { seed, shrinkingMs: 0 }), ({ findings }) => ({
    violations: findings.map((finding): Violation => ({ ...finding, evidence: [] })),
    exchanges: [],
    stopped: new Map()
  }))

/** Runs the programs on a server; `isEnough` ends the run. */
const run = (
  subject: Opened,
  level: Level,
  seed: number,
  isEnough: (violations: ReadonlyArray<Violation>) => boolean = () => false
) => {
  const chosen = programs.filter(({ isDesign = false }) => level === "design" || !isDesign)
  return Subjects.withSubject(
    subject,
    seed,
    (opened): Effect.Effect<Live, unknown> =>
      HttpSubject.is(opened)
        ? runServer(opened, { programs: chosen, level, seed, isEnough })
        : PortSubject.is(opened)
          ? runPorts(opened, seed)
          : Effect.die(new Error(`${opened.name} is no subject of this suite`))
  )
}

/** Records a run on the reference server; returns it with a judge of its changed copies. */
const record = async (seed: number, level: Level) => {
  let setup: Setup | undefined
  const subject = Effect.tap(Subjects.reference, (opened) =>
    Effect.sync(() => {
      if (HttpSubject.is(opened)) setup = JudgedRun.setupOf(opened.target)
    })
  )
  const { exchanges } = await Effect.runPromise(run(subject, level, seed))
  if (setup === undefined) throw new Error("the reference is a server")
  const recording: Recording.Recording = { setup, exchanges }
  return { recording, judge: Recording.makeJudge(recording, level) }
}

const recorded = new Map<string, ReturnType<typeof record>>()

/** Returns the recording for a seed and a level, which is made once in each thread. */
const recordingFor = (seed: number, level: Level): ReturnType<typeof record> => {
  const id = `${seed} ${level}`
  const known = recorded.get(id) ?? record(seed, level)
  recorded.set(id, known)
  return known
}

/** Hunts a mutant that only changes responses in a recorded run. */
const huntRecording = async (seed: number, level: Level, mutant: Mutant.Mutant, tally: Mutant.Tally) => {
  const where: Where = Mutant.install(mutant, tally)
  if (!mutant.place.changesResponses || where.at !== "http" || where.transport === undefined) return undefined
  const { judge, recording } = await recordingFor(seed, level)
  return judge(Recording.replay(recording, where.transport))
}

/** Number of random requests that show whether a mutant has any effect. */
const RANDOM_REQUESTS = 3_000

/** Sends random requests to a server, and returns the responses. */
const converse = (subject: Opened, seed: number) =>
  Effect.runPromise(
    Subjects.withSubject(subject, seed, (opened) =>
      HttpSubject.is(opened)
        ? RandomConversation.run(opened.target, RANDOM_REQUESTS, Draws.make(seed))
        : Effect.succeed([])
    )
  )

/** Whether a server responds like the reference server, in a run of the programs and in a random conversation. */
const isAlike = async (subject: Opened, exchanges: Live["exchanges"], { level, seed }: Task) => {
  if (level === "design") return false
  const { recording } = await recordingFor(seed, "spec")
  const of = (all: Live["exchanges"]) => all.map(({ response }) => response)
  return (
    Recording.isAlike(of(exchanges), of(recording.exchanges)) &&
    Recording.isAlike(await converse(subject, seed), await converse(Subjects.reference, seed))
  )
}

/** Runs one hunt; for `Threads.map`. */
export const task = async (given: Task): Promise<Result> => {
  const begun = performance.now()
  const tally: Mutant.Tally = { reached: 0, changed: 0 }
  const hunted = huntedBy(given, tally)
  const { level, mutant, subject } = hunted
  const isCounted = ({ clause }: Violation) => level === "design" || bySlug.get(clause)?.level === "spec"
  const result = (
    violations: ReadonlyArray<Violation>,
    { requests = 0, stopped = [] }: { requests?: number; stopped?: ReadonlyArray<string> } = {}
  ): Result => ({
    ...given,
    found: violations.map(line),
    clauses: [...new Set(violations.map(({ clause }) => clause))],
    requests,
    ms: Math.round(performance.now() - begun),
    stopped,
    changed: tally.changed
  })
  if (mutant !== undefined) {
    const violation = await huntRecording(given.seed, level, mutant, tally)
    if (violation !== undefined || given.isOnlyRecorded === true) return result(violation ? [violation] : [])
  }
  const live = await Effect.runPromise(
    run(subject, level, given.seed, (violations) => given.isBrief && violations.some(isCounted)).pipe(
      Effect.timeoutOption(TIMEOUT_MS),
      Effect.map(Option.getOrUndefined),
      Effect.catchCause((cause) =>
        Effect.sync(() => void console.error(given.id, String(cause).slice(0, 500)))
      )
    )
  )
  const { exchanges = [], stopped = new Map<string, string>(), violations = [] } = live ?? {}
  const counted = violations.filter(isCounted)
  const isEqual = mutant !== undefined && counted.length === 0 && (await isAlike(subject, exchanges, given))
  const more = { requests: exchanges.length, stopped: [...stopped].map((each) => each.join(": ")) }
  return { ...result(counted, more), ...(isEqual && { changed: 0 }) }
}
