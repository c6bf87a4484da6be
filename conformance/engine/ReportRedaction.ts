/** Redacts keys in all texts of a report that may come from a subject. */
import type { Report } from "./Report.ts"

/** Redacts a report, except for texts that come only from the suite. */
export const ofReport = (report: Report, redact: (text: string) => string): Report => {
  /** Redacts every text inside a value. */
  const clean = <A extends object>(value: A): A =>
    JSON.parse(JSON.stringify(value), (_name, member) =>
      typeof member === "string" ? redact(member) : member
    )
  const { checks, choices, findings, implementation, stopped, subject } = report
  return {
    ...report,
    subject: { ...subject, name: redact(subject.name) },
    ...clean({ implementation, findings, stopped, choices }),
    checks: checks.map(({ counterexample, reason, ...check }) => ({
      ...check,
      ...clean({ reason }),
      counterexample: counterexample && { ...clean(counterexample), token: counterexample.token }
    }))
  }
}
