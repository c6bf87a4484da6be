/** Runs workers that share a key and wait for Retry-After, in virtual time: no worker may be banned. */
import { AttackedServer } from "../AttackedServer.ts"
import * as Finding from "../Finding.ts"
import type { Scenario } from "../Scenario.ts"

const PER_MINUTE = 60
const WORKERS = [2, 8, PER_MINUTE]

const HOUR_MS = 3_600_000

export const obedientWorkers: Scenario = {
  name: "obedient-workers",
  description:
    "2, 8 and 60 workers share a key with a limit of 60 per minute and each wait for Retry-After, for an hour (quick: 5 minutes) of virtual time",
  databases: ["SQLite", "memory"],
  run: async ({ isQuick }, database) => {
    const findings: Array<Finding.Finding> = []
    for (const workers of WORKERS) {
      findings.push(
        ...(await workTogether(await database.create(), workers, isQuick ? HOUR_MS / 12 : HOUR_MS))
      )
    }
    return findings
  }
}

const workTogether = async (
  database: string,
  workers: number,
  durationMs: number
): Promise<ReadonlyArray<Finding.Finding>> => {
  const server = await AttackedServer.start({
    database,
    arguments: [
      ...["--test-clock-port", "0"],
      ...["--issue-key", `Enterprise:perMinute=${PER_MINUTE},perDay=1000000`]
    ]
  })
  try {
    const clock = /http:\S+\/clock/.exec(server.log)?.[0] ?? ""
    const statuses = new Map<string, number>()
    // The time of each worker's next request, in milliseconds since the start.
    const due = Array.from({ length: workers }, (_, index) => index)
    let now = 0
    while (now < durationMs) {
      const worker = due.indexOf(Math.min(...due))
      const next = due[worker] ?? 0
      if (next > now) await advance(clock, next - now)
      now = Math.max(now, next)
      const { outcome, waitMs } = await sendRequest(server)
      statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1)
      due[worker] = now + waitMs
    }
    const count = (outcome: string): number => statuses.get(outcome) ?? 0
    return [
      Finding.measured(`${workers} workers: admitted`, count("admitted")),
      Finding.measured(`${workers} workers: denied`, count("rate_limit_exceeded")),
      Finding.equal(`${workers} workers: banned`, count("api_key_banned"), 0)
    ]
  } finally {
    await server.stop()
  }
}

const advance = async (clock: string, ms: number): Promise<void> => {
  const response = await fetch(`${clock}/advance`, { method: "POST", body: JSON.stringify({ ms }) })
  await response.arrayBuffer()
}

/** Sends a request; `waitMs` is the time until the next one: `Retry-After`, or 1 ms if it was admitted. */
const sendRequest = async (
  server: AttackedServer
): Promise<{ readonly outcome: string; readonly waitMs: number }> => {
  const headers = { authorization: `Bearer ${server.keys[0]}` }
  const response = await fetch(`${server.origin}/v1/pets?limit=1`, { headers })
  const body: unknown = await response.json()
  if (response.status === 200) return { outcome: "admitted", waitMs: 1 }
  const code = typeof body === "object" && body !== null ? String(Reflect.get(body, "code")) : "none"
  return { outcome: code, waitMs: Number(response.headers.get("retry-after")) * 1_000 }
}
