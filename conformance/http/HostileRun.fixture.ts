/** Runs the suite in its own process, to measure its memory: `node HostileRun.fixture.ts URL BUDGET-MS`. */
import { check, server } from "../Conformance.ts"

const [url = "", milliseconds = "10000"] = process.argv.slice(2)
const subject = await server({
  url,
  keys: { main: "main-0123456789abcdef" },
  budget: { milliseconds: Number(milliseconds) }
})
const report = await check(subject, { level: "spec", seed: 1 })
const failed = report.checks.find(({ status }) => status === "fail")
console.log(
  JSON.stringify({
    verdict: report.verdict,
    exitCode: report.exitCode,
    errors: report.counts.error,
    failures: report.counts.fail,
    requests: report.requests,
    reason: failed?.reason,
    clause: failed?.id,
    reportLength: JSON.stringify(report).length,
    /** Peak memory in MB. */
    peak: process.resourceUsage().maxRSS / 1_000
  })
)
