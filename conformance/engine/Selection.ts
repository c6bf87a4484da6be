/** Selects the checks of a run, and gives a reason for each check that does not run. */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type { Check } from "../checks/Check.ts"
import type { Level } from "../clauses/Clause.ts"
import { type Capability, descriptions } from "../evaluation/Capability.ts"
import { profiles } from "../evaluation/Profile.ts"
import type { Subject } from "../subjects/Subject.ts"
import type { Status } from "./Report.ts"

/** The user's selection of checks. */
export interface Selection {
  readonly level: Level
  /** Ids, clause slugs, profiles, or patterns such as `list.*`; empty for all. */
  readonly only: ReadonlyArray<string>
  readonly exclude: ReadonlyArray<string>
}

/** A pattern matches nothing. If this error were ignored, a run would seem to check more than it does. */
export class UnknownSelection extends Data.TaggedError("UnknownSelection")<{ readonly pattern: string }> {
  override get message(): string {
    return `${JSON.stringify(this.pattern)} names no check, clause or profile: see 'animal-store conformance list'`
  }
}

/** The fields of a check that a selection uses. */
export type Selectable = Pick<Check, "id" | "clauses" | "profile">

/** Creates a predicate for the names that a pattern matches; `*` matches any text. */
export const matcher = (pattern: string): ((name: string) => boolean) => {
  const source = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")
  const expression = new RegExp(`^${source}$`)
  return (name) => expression.test(name)
}

const namesOf = ({ clauses, id, profile }: Selectable): ReadonlyArray<string> => [id, profile, ...clauses]

/** Whether any of the patterns matches a check. */
const isNamed = (check: Selectable, patterns: ReadonlyArray<string>): boolean =>
  patterns.some((pattern) => namesOf(check).some(matcher(pattern)))

/** Fails with the first pattern that matches nothing. */
export const validate = (
  { exclude, only }: Pick<Selection, "only" | "exclude">,
  all: ReadonlyArray<Selectable>
): Result.Result<void, UnknownSelection> => {
  const unknown = [...only, ...exclude].find((pattern) => !all.some((check) => isNamed(check, [pattern])))
  return unknown === undefined ? Result.void : Result.fail(new UnknownSelection({ pattern: unknown }))
}

/** Whether the user selected the check. */
export const isSelected = (check: Selectable, { exclude, only }: Selection): boolean =>
  (only.length === 0 || isNamed(check, only)) && !isNamed(check, exclude)

/**
 * Whether a check belongs to a level. Level `spec` includes recommendations of standards; violating one causes only a
 * warning.
 */
export const isOfLevel = ({ advisedBy, level }: Pick<Check, "level" | "advisedBy">, wanted: Level): boolean =>
  wanted === "design" || level === "spec" || advisedBy !== undefined

export type Plan =
  | { readonly run: true }
  | { readonly run: false; readonly status: Status; readonly reason: string }

/** The result of a check that the user did not select. */
export const unselected = { status: "excluded", reason: "not selected for this run" } as const

/** Returns the capabilities that a check needs and the subject lacks. */
export const missing = (
  { needs = [] }: Pick<Check, "needs">,
  { capabilities }: Subject
): ReadonlyArray<Capability> => needs.filter((need) => !capabilities.has(need))

/** Decides whether a check of the right level and interface runs; if not, returns its status and the reason. */
export const planOf = (check: Check, subject: Subject, selection: Selection): Plan => {
  if (!isSelected(check, selection)) return { run: false, ...unselected }
  const inapplicable = subject.notApplicable?.(check)
  if (inapplicable !== undefined) return { run: false, status: "not-applicable", reason: inapplicable }
  const missingCapabilities = missing(check, subject)
  return missingCapabilities.length === 0
    ? { run: true }
    : {
        run: false,
        status: "inconclusive",
        reason: `it needs ${missingCapabilities.map((need) => descriptions[need]).join(" and ")}`
      }
}

/** Returns the position of a check in a run. Closing checks precede those that move time to the removal of getPet. */
const positionOf = ({ isClosing = false, profile }: Check): number =>
  isClosing ? profiles.indexOf("deprecation") - 0.5 : profiles.indexOf(profile)

/** Sorts checks by profile, and keeps their order within a profile. */
export const ordered = (checks: ReadonlyArray<Check>): ReadonlyArray<Check> =>
  checks.toSorted((a, b) => positionOf(a) - positionOf(b))
