/** Selects the checks of a run, one for each clause, and the programs that can decide them. */
import * as Data from "effect/Data"
import * as Predicate from "effect/Predicate"
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

/** What the user selects. */
export interface SelectionOptions {
  /** By default `spec` for servers, and `design` for ports, because their laws are promises of this project. */
  readonly level?: Level | undefined
  /** Ids, profiles, or patterns such as `list.*`; empty for all. */
  readonly only?: ReadonlyArray<string> | undefined
  readonly exclude?: ReadonlyArray<string> | undefined
}

/** The checks of a run. */
export interface Selection {
  readonly level: Level
  /** Every check for the subject at the level, in run order. */
  readonly checks: ReadonlyArray<Check>
  /** The clauses of the selected ones. */
  readonly selected: ReadonlySet<string>
}

/** A pattern matches nothing. If this error were ignored, a run would seem to check more than it does. */
export class UnknownSelection extends Data.TaggedError("UnknownSelection")<{ readonly pattern: string }> {
  override get message(): string {
    return `${JSON.stringify(this.pattern)} names no check or profile: see 'animal-store conformance list'`
  }
}

/** A clause that a run can decide. */
export type Check = Clause<ClauseSlug> & { readonly profile: Profile.Profile }

/** Every check, in run order of the profiles. */
export const checks: ReadonlyArray<Check> = clauses
  .filter((clause: Clause) => clause.unchecked === undefined)
  .map((clause) => ({ ...clause, profile: Profile.ofClause(clause.slug) }))
  .toSorted((a, b) => Profile.profiles.indexOf(a.profile) - Profile.profiles.indexOf(b.profile))

/** Creates a predicate for the checks that a pattern matches by id or profile; `*` matches any text. */
const matcher = (pattern: string): ((check: Check) => boolean) => {
  const source = pattern.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")
  const expression = new RegExp(`^${source}$`)
  return ({ profile, slug }) => expression.test(slug) || expression.test(profile)
}

/** Selects checks. Fails if Node is too old, a pattern matches nothing, or no check is left. */
export const of = (
  subject: Subject,
  { exclude = [], level = subject.kind === "port" ? "design" : "spec", only = [] }: SelectionOptions
): Result.Result<Selection, UnknownSelection | SetupError> => {
  const fail = (reason: string) => Result.fail(new SetupError({ reason }))
  const problem = Platform.problem()
  if (problem !== undefined) return fail(problem)
  const pattern = [...only, ...exclude].find((each) => !checks.some(matcher(each)))
  if (pattern !== undefined) return Result.fail(new UnknownSelection({ pattern }))
  const promised = PortSubject.is(subject) ? PortRun.clausesOf(subject.target) : undefined
  const planned = checks.filter(
    ({ level: own, observable, slug }) =>
      (level === "design" || own === "spec") &&
      observable !== (promised === undefined ? "port" : "http") &&
      promised?.has(slug) !== false
  )
  const [isOnly, isExcluded] = [Predicate.some(only.map(matcher)), Predicate.some(exclude.map(matcher))]
  const selected = planned.filter((check) => (only.length === 0 || isOnly(check)) && !isExcluded(check))
  return selected.length === 0
    ? fail(
        `none of the selected checks applies to ${subject.name} at level ${level}: see 'animal-store conformance list'`
      )
    : Result.succeed({ level, checks: planned, selected: new Set(selected.map(({ slug }) => slug)) })
}

/** Returns the programs of the selected checks' profiles, in run order. */
export const programsFor = (
  { target }: HttpSubject,
  { checks, level, selected }: Selection
): ReadonlyArray<Program> => {
  const wanted = new Set(checks.filter(({ slug }) => selected.has(slug)).map(({ profile }) => profile))
  return programs.filter(
    ({ isDesign = false, profile }) =>
      wanted.has(profile) &&
      (level === "design" || !isDesign) &&
      (profile !== "ban" || target.declared?.bans !== false)
  )
}
