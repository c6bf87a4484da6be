/** The public face of the conformance suite. */

export * as Conformance from "./Conformance.ts"
export * as Checks from "./checks/Checks.ts"
export * as Clauses from "./clauses/Clauses.ts"
export * as Run from "./engine/Run.ts"
export * as SetupFault from "./engine/SetupFault.ts"
export * as Html from "./reports/Html.ts"
export * as Json from "./reports/Json.ts"
export * as JUnit from "./reports/JUnit.ts"
export * as Markdown from "./reports/Markdown.ts"
export * as Terminal from "./reports/Terminal.ts"
export * as Cases from "./runners/Cases.ts"
