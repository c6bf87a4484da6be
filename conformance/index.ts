/** The public API of the conformance suite. */

export * as Conformance from "./Conformance.ts"
export type { Level } from "./clauses/Clause.ts"
export type { Step } from "./clauses/Finding.ts"
export type { Profile } from "./clauses/Profile.ts"
export type {
  Cause,
  CheckResult,
  Counterexample,
  Implementation,
  ProfileResult,
  Report,
  RunLimits,
  Status,
  schemaVersion,
  Verdict
} from "./engine/Report.ts"
export type { Progress, RunOptions } from "./engine/Run.ts"
export { type SelectionOptions, UnknownSelection } from "./engine/Selection.ts"
export { SetupError } from "./engine/SetupError.ts"
export type { FetchHandler } from "./http/FetchTransport.ts"
export type { PortTarget as PortSubjectOptions } from "./ports/PortTarget.ts"
export * as Badge from "./reports/Badge.ts"
export * as Har from "./reports/Har.ts"
export * as Html from "./reports/Html.ts"
export * as Json from "./reports/Json.ts"
export * as JUnit from "./reports/JUnit.ts"
export * as Terminal from "./reports/Terminal.ts"
export * as Cases from "./runners/Cases.ts"
export type { Budget, Declarations, Keys, SmallKey } from "./subjects/HttpSubject.ts"
export type { Capability, Subject } from "./subjects/Subject.ts"
