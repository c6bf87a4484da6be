/** Redacts keys in all texts of a report that may come from a subject. */
import type { Report } from "./Report.ts"

/** Redacts a report, except for texts that come only from the suite. */
export const ofReport = (report: Report, redact: (text: string) => string): Report => {
  /** Redacts every text inside a value, except members that are named `kept`. */
  const clean = <A>(value: A, kept?: string): A =>
    JSON.parse(JSON.stringify(value), (name, member) =>
      typeof member === "string" && name !== kept ? redact(member) : member
    )
  const { checks, choices, findings, implementation, stopped, subject } = report
  return {
    ...report,
    ...clean({ choices, findings, implementation, stopped }),
    subject: { ...subject, name: redact(subject.name) },
    checks: checks.map((check) => {
      const { counterexample, reason } = check
      return { ...check, ...clean({ counterexample, reason }, "token") }
    })
  }
}
