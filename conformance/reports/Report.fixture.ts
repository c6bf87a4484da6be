/** Provides an example report for tests. */
import { type CheckResult, type Report, schemaVersion } from "../engine/Report.ts"

const token = "asc1_q1bKzVeyUkrOz03MVbBVMjBUqgUA"

/** A realistic report with at least one result of every status. */
export const example: Report = {
  schemaVersion,
  suite: { name: "animal-store conformance", version: "0.1.0", laws: "1.0.0" },
  contract: { name: "Animal Store Service Interface", version: "1.0.0" },
  implementation: { name: "Shop", version: "2.1", contact: "https://shop.example/about" },
  limits: {
    requests: 5_000,
    milliseconds: 180_000,
    checkMilliseconds: 20_000,
    effort: 1,
    only: [],
    exclude: ["sunset.gone"]
  },
  profiles: [{ profile: "core", planned: 60, passed: 58, status: "fail" }],
  subject: { name: "http://127.0.0.1:3000/v1", kind: "http", capabilities: ["tinyPlan", "parallel"] },
  level: "spec",
  seed: 184210,
  startedAt: "2026-11-20T10:00:00.000Z",
  milliseconds: 38_000,
  waitedMs: 9_000,
  requests: 412,
  counts: {
    planned: 84,
    executed: 80,
    pass: 74,
    fail: 2,
    warn: 1,
    inconclusive: 2,
    "not-applicable": 3,
    excluded: 1,
    error: 1
  },
  findings: ["the key is accepted", "the subject's clock is 2 s ahead"],
  checks: [
    {
      id: "rate.remaining.decrements",
      law: "Remaining falls by one for every request that is counted.",
      clauses: ["rate.remaining", "rate.headers"],
      level: "spec",
      profile: "limits",
      status: "fail",
      reason: "expected remaining 3, got remaining 4",
      runs: { planned: 16, executed: 9, decided: 9 },
      requests: 31,
      milliseconds: 1_240,
      coverage: undefined,
      counterexample: {
        expected: 'remaining 3 (plan "tiny")',
        actual: "remaining 4",
        clause: undefined,
        case: '{"limits":[1,0]}',
        steps: [
          { did: "GET /pets?limit=1 (tiny key)", got: "200, remaining 4 []" },
          { did: "GET /pets?limit=0 (tiny key)", got: '400, remaining 4 {"code":"invalid_parameter"}' }
        ],
        reproduced: { times: 3, of: 3 },
        found: { runs: 14, shrinks: 6 },
        script: "#!/bin/sh\ncurl -sS -i 'http://127.0.0.1:3000/v1/pets?limit=1'\n",
        token
      }
    },
    {
      id: "list.limit.maximum",
      law: "A limit above 100 is rejected.",
      clauses: ["list.limit.maximum"],
      level: "spec",
      profile: "core",
      status: "fail",
      reason: "expected 400, got 200",
      runs: { planned: 4, executed: 1, decided: 1 },
      requests: 4,
      milliseconds: 40,
      coverage: undefined,
      counterexample: {
        expected: "400",
        actual: "200",
        clause: undefined,
        case: '"101"',
        steps: [{ did: "GET /pets?limit=101", got: "200, remaining 51 []" }],
        reproduced: { times: 1, of: 3 },
        found: { runs: 0, shrinks: 0 },
        script: undefined,
        token
      }
    },
    {
      id: "list.repeatable",
      law: "Two lists without a creation between them are the same.",
      clauses: ["list.limit"],
      level: "spec",
      profile: "core",
      status: "pass",
      reason: undefined,
      runs: { planned: 12, executed: 12, decided: 12 },
      requests: 24,
      milliseconds: 410,
      coverage: undefined,
      counterexample: undefined
    },
    ...(
      [
        ["cache.no-store", "core", "warn", "no Cache-Control on 401 (RFC 9111)"],
        [
          "rate.window.restores",
          "limits",
          "inconclusive",
          "the window is 86400 s; a clock makes it possible"
        ],
        ["rate.day.restores", "limits", "inconclusive", "the window is 86400 s; a clock makes it possible"],
        ["ban.ends", "ban", "not-applicable", "the subject declares no victimKey"],
        ["sunset.gone", "deprecation", "excluded", "--exclude sunset.gone"],
        ["pets.parallel", "concurrency", "error", "TypeError: x is undefined"]
      ] as const
    ).map(
      ([id, profile, status, reason]): CheckResult => ({
        id,
        law: `The law of ${id}.`,
        clauses: ["list.limit"],
        level: "spec",
        profile,
        status,
        reason,
        runs: { planned: 12, executed: 3, decided: 0 },
        requests: 3,
        milliseconds: 100,
        coverage: undefined,
        counterexample: undefined
      })
    )
  ],
  clauses: [
    {
      slug: "rate.remaining",
      section: "§8.3",
      says: "X-RateLimit-Remaining is the number of requests left in the current window.",
      checks: ["rate.remaining.decrements"],
      status: "fail"
    },
    {
      slug: "list.limit.maximum",
      section: "§4.1",
      says: "limit is at most 100.",
      checks: ["list.limit.maximum"],
      status: "fail"
    },
    {
      slug: "environment.staging",
      section: "§4",
      says: "A staging environment has the same paths.",
      checks: [],
      status: "unchecked"
    }
  ],
  verdict: "not-conformant",
  exitCode: 1
}
