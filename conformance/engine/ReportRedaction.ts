/** Redacts keys in all texts of a report that may come from a subject. */
import type { CheckResult, Implementation, Report } from "./Report.ts"

/** Redacts a report, except for texts that come only from the suite. */
export const ofReport = (report: Report, redact: (text: string) => string): Report => ({
  ...report,
  subject: { ...report.subject, name: redact(report.subject.name) },
  ...(report.implementation === undefined
    ? {}
    : { implementation: redactImplementation(report.implementation, redact) }),
  findings: report.findings.map(redact),
  stopped: report.stopped.map(redact),
  choices: report.choices.map(redact),
  checks: report.checks.map((check) => ofCheck(check, redact))
})

const redactImplementation = (
  { contact, name, version }: Implementation,
  redact: (text: string) => string
): Implementation => ({
  name: redact(name),
  ...(version === undefined ? {} : { version: redact(version) }),
  ...(contact === undefined ? {} : { contact: redact(contact) })
})

/** Redacts the result of one check. */
export const ofCheck = (check: CheckResult, redact: (text: string) => string): CheckResult => ({
  ...check,
  reason: check.reason === undefined ? undefined : redact(check.reason),
  counterexample: check.counterexample && {
    ...check.counterexample,
    expected: redact(check.counterexample.expected),
    actual: redact(check.counterexample.actual),
    steps: check.counterexample.steps.map(({ curl, did, got }) => ({
      did: redact(did),
      got: redact(got),
      ...(curl === undefined ? {} : { curl: redact(curl) })
    }))
  }
})
