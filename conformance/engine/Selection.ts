/** Selects the checks of a run, one for each clause, and the programs that can decide them. */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type { Clause, Level } from "../clauses/Clause.ts"
import { type ClauseSlug, clauses } from "../clauses/Clauses.ts"
import * as Profile from "../clauses/Profile.ts"
import * as PortRun from "../ports/PortRun.ts"
import type { Program } from "../programs/Program.ts"
import { programs } from "../programs/Programs.ts"
import type { HttpSubject } from "../subjects/HttpSubject.ts"
import * as PortSubject from "../subjects/PortSubject.ts"
import type { Subject } from "../subjects/Subject.ts"
import * as Platform from "./Platform.ts"
import { SetupError } from "./SetupError.ts"

/** The user's selection of checks. */
export interface Selection {
  readonly level: Level
  /** Ids, profiles, or patterns such as `list.*`; empty for all. */
  readonly only?: ReadonlyArray<string> | undefined
  readonly exclude?: ReadonlyArray<string> | undefined
}

/** A pattern matches nothing. If this error were ignored, a run would seem to check more than it does. */
export class UnknownSelection extends Data.TaggedError("UnknownSelection")<{ readonly pattern: string }> {
  override get message(): string {
    return `${JSON.stringify(this.pattern)} names no check or profile: see 'animal-store conformance list'`
  }
}

/** A clause that a run can decide. */
export type Check = Clause<ClauseSlug> & { readonly profile: Profile.Profile }

/** Creates a predicate for the names that a pattern matches; `*` matches any text. */
const matcher = (pattern: string): ((name: string) => boolean) => {
  const source = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")
  const expression = new RegExp(`^${source}$`)
  return (name) => expression.test(name)
}

/** Every check, in run order of the profiles. */
export const checks: ReadonlyArray<Check> = clauses
  .filter((clause: Clause) => clause.unchecked === undefined)
  .map((clause) => ({ ...clause, profile: Profile.ofClause(clause.slug) }))
  .toSorted((a, b) => Profile.profiles.indexOf(a.profile) - Profile.profiles.indexOf(b.profile))

/** Whether any of the patterns matches a check. */
const isNamed = ({ profile, slug }: Check, patterns: ReadonlyArray<string>): boolean =>
  patterns.some((pattern) => [slug, profile].some(matcher(pattern)))

/** Whether the user selected the check. */
export const isSelected = (check: Check, { exclude = [], only = [] }: Selection): boolean =>
  (only.length === 0 || isNamed(check, only)) && !isNamed(check, exclude)

/** Returns the checks for a subject at a level, in run order. */
export const checksFor = (subject: Subject, level: Level): ReadonlyArray<Check> => {
  const promised = PortSubject.is(subject) ? PortRun.clausesOf(subject.target) : undefined
  return checks.filter(
    ({ level: own, observable, slug }) =>
      (level === "design" || own === "spec") &&
      observable !== (promised === undefined ? "port" : "http") &&
      promised?.has(slug) !== false
  )
}

/** Returns the selected checks for a subject, in run order. */
export const selected = (subject: Subject, selection: Selection): ReadonlyArray<Check> =>
  checksFor(subject, selection.level).filter((check) => isSelected(check, selection))

/**
 * Returns the user's selection with its defaults: for servers level `spec`, and for ports `design`, because their laws are
 * promises of this project. Fails if Node is too old, a pattern matches nothing, or no check is left.
 */
export const of = (
  subject: Subject,
  {
    exclude = [],
    level = subject.kind === "port" ? "design" : "spec",
    only = []
  }: { readonly [name in keyof Selection]?: Selection[name] | undefined }
): Result.Result<Selection, UnknownSelection | SetupError> => {
  const problem = Platform.problem()
  if (problem !== undefined) return Result.fail(new SetupError({ reason: problem }))
  const pattern = [...only, ...exclude].find((each) => !checks.some((check) => isNamed(check, [each])))
  if (pattern !== undefined) return Result.fail(new UnknownSelection({ pattern }))
  const selection = { level, only, exclude }
  const reason = `none of the selected checks applies to ${subject.name} at level ${level}: see 'animal-store conformance list'`
  return selected(subject, selection).length > 0
    ? Result.succeed(selection)
    : Result.fail(new SetupError({ reason }))
}

/** Returns the programs of the selected checks' profiles, in run order. */
export const programsFor = (subject: HttpSubject, selection: Selection): ReadonlyArray<Program> => {
  const wanted = new Set(selected(subject, selection).map(({ profile }) => profile))
  return programs.filter(
    ({ isDesign = false, profile }) =>
      wanted.has(profile) &&
      (selection.level === "design" || !isDesign) &&
      (profile !== "ban" || subject.target.declared?.bans !== false)
  )
}

/** Returns the names of the programs of a profile, in run order. */
export const programNames = (profile: string): ReadonlyArray<string> =>
  programs.filter((program) => program.profile === profile).map(({ name }) => name)
