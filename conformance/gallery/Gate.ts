/** Runs the self-test: the suite must catch each fault and accept each correct server, and each check needs a fault. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { ambientChecks, checks } from "../checks/Checks.ts"
import { matcher } from "../engine/Selection.ts"
import { type Decoy, decoys } from "./Decoys.ts"
import type { Fault } from "./Fault.ts"
import { faults } from "./Faults.ts"
import * as SelfTest from "./SelfTest.ts"
import * as Subjects from "./Subjects.ts"

/** The minimum fraction of seeds with which a fault must be caught. */
const MIN_KILL_SHARE = 19 / 20

export interface GateOptions {
  /** The number of seeds for each fault. */
  readonly faultSeeds: number
  /** The number of seeds for each decoy, at its level. */
  readonly decoySeeds: number
  /** The number of seeds for the reference, at level `design`. */
  readonly referenceSeeds: number
  /** Ids of faults, decoys and references, or patterns such as `list.*`; all of them if empty. */
  readonly only?: ReadonlyArray<string> | undefined
  readonly onProgress?: ((what: string) => void) | undefined
}

/** The result for a fault, and the ids of all checks that fail with the first seed. */
export interface Caught extends SelfTest.Hunt {
  readonly killers: ReadonlyArray<string>
}

/** The result for a correct subject: the complaints of the suite, which should be empty. */
export interface Tried {
  readonly id: string
  readonly differs: string
  readonly seeds: number
  readonly complaints: ReadonlyArray<string>
}

export interface GateResult {
  readonly caught: ReadonlyArray<Caught>
  readonly tried: ReadonlyArray<Tried>
  /** The ids of the checks of level `spec` that no fault names: there is no evidence that these checks are useful. */
  readonly idle: ReadonlyArray<string>
  readonly milliseconds: number
  readonly passed: boolean
}

/** This project's service over the memory stores, as a server and as ports. */
const references = [
  { id: "reference", subject: Subjects.reference },
  { id: "reference-ports", subject: Subjects.referencePorts }
]

/** The ids that `GateOptions.only` selects from, in the order of the results. */
export const ids: ReadonlyArray<string> = [...references, ...decoys, ...faults].map(({ id }) => id)

const seedsUpTo = (count: number): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, index) => index + 1)

const isCaught = ({ kills, seeds }: SelfTest.Hunt): boolean => kills >= seeds * MIN_KILL_SHARE

const tryDecoy = Effect.fnUntraced(function* (decoy: Decoy, count: number) {
  const complaints = new Set<string>()
  for (const seed of seedsUpTo(count)) {
    for (const complaint of yield* SelfTest.complaints(decoy, seed)) complaints.add(complaint)
  }
  const tried: Tried = { id: decoy.id, differs: decoy.differs, seeds: count, complaints: [...complaints] }
  return tried
})

const tryReference = Effect.fnUntraced(function* (
  id: string,
  subject: Parameters<typeof SelfTest.examine>[0],
  count: number
) {
  const complaints = new Set<string>()
  for (const seed of seedsUpTo(count)) {
    const report = yield* SelfTest.examine(subject, { level: "design", seed })
    for (const complaint of SelfTest.objections(report)) complaints.add(complaint)
  }
  const tried: Tried = { id, differs: "conforms at level design", seeds: count, complaints: [...complaints] }
  return tried
})

const catchFault = Effect.fnUntraced(function* (fault: Fault, count: number) {
  const hunt = yield* SelfTest.hunt(fault, seedsUpTo(count))
  const caught: Caught = { ...hunt, killers: yield* SelfTest.killersOf(fault, 1) }
  return caught
})

/** Runs the self-test; it takes minutes with many seeds. */
export const run = Effect.fnUntraced(function* ({
  decoySeeds,
  faultSeeds,
  onProgress = () => undefined,
  only = [],
  referenceSeeds
}: GateOptions): Effect.fn.Return<GateResult, unknown> {
  const startedAt = yield* Clock.currentTimeMillis
  const isSelected = ({ id }: { readonly id: string }): boolean =>
    only.length === 0 || only.some((pattern) => matcher(pattern)(id))
  const tried: Array<Tried> = []
  for (const { id, subject } of references.filter(isSelected)) {
    onProgress(`reference ${id}`)
    tried.push(yield* tryReference(id, subject, referenceSeeds))
  }
  for (const decoy of decoys.filter(isSelected)) {
    onProgress(`decoy ${decoy.id}`)
    tried.push(yield* tryDecoy(decoy, decoySeeds))
  }
  const caught: Array<Caught> = []
  for (const fault of faults.filter(isSelected)) {
    onProgress(`fault ${fault.id}`)
    caught.push(yield* catchFault(fault, faultSeeds))
  }
  const idle = [...checks, ...ambientChecks]
    .filter(({ level }) => level === "spec")
    .map(({ id }) => id)
    .filter((id) => !faults.some(({ killedBy }) => killedBy === id))
  return {
    caught,
    tried,
    idle,
    milliseconds: (yield* Clock.currentTimeMillis) - startedAt,
    passed:
      caught.length + tried.length > 0 &&
      caught.every(isCaught) &&
      tried.every(({ complaints }) => complaints.length === 0) &&
      idle.length === 0
  }
})

/** Renders the kill matrix for a terminal, one fault on each line; the last line is the verdict. */
export const render = ({ caught, idle, milliseconds, passed, tried }: GateResult): string => {
  const width = Math.max(0, ...caught.map(({ fault }) => fault.id.length))
  const rows = caught.map(({ fault, killers, kills, missed, seeds }) => {
    const others = killers.filter((id) => id !== fault.killedBy)
    const otherKillers = others.length === 0 ? "" : `, also ${others.join(", ")}`
    const mark = isCaught({ fault, kills, missed, seeds }) ? "caught" : "MISSED"
    return `${mark}  ${fault.id.padEnd(width)}  ${kills}/${seeds} by ${fault.killedBy}${otherKillers}${
      missed === undefined ? "" : ` (${missed})`
    }`
  })
  const alarms = tried
    .filter(({ complaints }) => complaints.length > 0)
    .map(({ complaints, id }) => `FALSE ALARM  ${id}: ${complaints.join("; ")}`)
  const useless = idle.map((id) => `IDLE  ${id} catches no faulty backend`)
  const missed = caught.filter((hunt) => !isCaught(hunt)).length
  const verdict = passed ? "SELF-TEST PASSED" : "SELF-TEST FAILED"
  return [
    ...rows,
    ...alarms,
    ...useless,
    `${verdict}: ${caught.length - missed} of ${caught.length} faulty backends caught, ${alarms.length} false alarms on ${
      tried.length
    } correct backends, ${Math.round(milliseconds / 1_000)} s`
  ].join("\n")
}
