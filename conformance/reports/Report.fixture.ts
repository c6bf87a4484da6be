/** Provides an example report for tests. */
import * as Counts from "../engine/Counts.ts"
import { type CheckResult, type Report, schemaVersion } from "../engine/Report.ts"

const token = "asc1_q1bKzVeyUkrOz03MVbBVMjBUqgUA"

const failed: ReadonlyArray<CheckResult> = [
  {
    id: "limits.remaining-truth",
    law: "The window shown admits at least as many further requests as Remaining says.",
    section: "§8.3",
    level: "spec",
    profile: "limits",
    status: "fail",
    reason: "expected remaining 3, got remaining 4",
    decided: 31,
    counterexample: {
      expected: 'remaining 3 (plan "tiny")',
      actual: "remaining 4",
      steps: [
        { did: "GET /pets?limit=1 (tiny key)", got: "200, remaining 4 []" },
        { did: "0.6 s pass", got: "" },
        {
          did: "GET /pets?limit=0 (tiny key)",
          got: '400, remaining 4 {"code":"invalid_parameter"}',
          curl: "curl -i -H \"Authorization: Bearer $TINY\" 'http://127.0.0.1:3000/v1/pets?limit=0'"
        }
      ],
      times: 38,
      token
    }
  },
  {
    id: "list.limit.ceiling",
    law: "No list holds more than 100 animals, whatever the requested limit.",
    section: "§8.1",
    level: "spec",
    profile: "core",
    status: "fail",
    reason: "expected at most 100 animals, got 101",
    decided: 4,
    counterexample: {
      expected: "at most 100 animals",
      actual: "101",
      steps: [{ did: "GET /pets?limit=101", got: "200 [...]" }],
      times: 1,
      token: undefined
    }
  }
]

const others: ReadonlyArray<CheckResult> = (
  [
    ["list.array", "core", "pass", undefined],
    ["limits.per-day", "limits", "inconclusive", "it needs a clock"],
    ["limits.per-minute", "limits", "inconclusive", "it needs a clock"],
    ["ban.temporary", "ban", "not-applicable", "the subject declares that it never bans"],
    ["get.removed", "deprecation", "excluded", "not selected for this run"],
    ["limits.atomic", "concurrency", "error", "TypeError: x is undefined"]
  ] as const
).map(([id, profile, status, reason]) => ({
  id,
  law: `The law of ${id}.`,
  section: "§4.1",
  level: "spec",
  profile,
  status,
  reason,
  decided: status === "pass" ? 12 : 0,
  counterexample: undefined
}))

const checks = [...failed, ...others]

/** A realistic report with at least one result of every status. */
export const example: Report = {
  schemaVersion,
  suite: { name: "animal-store", version: "0.1.0", laws: "1.0.0" },
  contract: { name: "Animal Store Service Interface", version: "1.0.0" },
  implementation: { name: "Shop", version: "2.1", contact: "https://shop.example/about" },
  subject: { name: "http://127.0.0.1:3000/v1", kind: "http", capabilities: ["tinyPlan"] },
  level: "spec",
  seed: 184210,
  startedAt: "2026-11-20T10:00:00.000Z",
  milliseconds: 38_000,
  waitedMs: 9_000,
  requests: 412,
  counts: Counts.of(checks),
  findings: ["the key is accepted", "the subject's clock is 2 s ahead"],
  stopped: ["the request budget is spent (412): day by all requests, day by creations"],
  choices: ["a limit above 100: rejected", "29 of 58 creations undecided: the server rejects charset=utf-8"],
  causes: [
    { check: "list.limit.ceiling", follows: [], more: 0 },
    { check: "limits.remaining-truth", follows: ["limits.per-minute"], more: 37 }
  ],
  checks,
  verdict: "not-conformant",
  profiles: Counts.byProfile(checks),
  limits: { requests: 5_000, milliseconds: 180_000, effort: 1, only: [], exclude: ["get.removed"] },
  claims: [],
  exitCode: 1
}
