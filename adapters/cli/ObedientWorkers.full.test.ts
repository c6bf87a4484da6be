/** Runs workers that share a key and wait for Retry-After, in virtual time: no worker may be banned. */
import { expect, it } from "vitest"
import * as Attack from "./Attack.fixture.ts"
import { AttackedServer } from "./AttackedServer.fixture.ts"

const PER_MINUTE = 60
const DURATION_MS = Attack.isFull ? 3_600_000 : 300_000

/** Sends a request; `waitMs` is the time until the next one: `Retry-After`, or 1 ms if it was admitted. */
const sendRequest = async ({ key, origin }: AttackedServer) => {
  const response = await fetch(`${origin}/v1/pets?limit=1`, { headers: { authorization: `Bearer ${key}` } })
  const body: unknown = await response.json()
  if (response.status === 200) return { outcome: "admitted", waitMs: 1 }
  const code = typeof body === "object" && body !== null ? String(Reflect.get(body, "code")) : "none"
  return { outcome: code, waitMs: Number(response.headers.get("retry-after")) * 1_000 }
}

Attack.describeOn(["SQLite", "memory"], "workers that share a key with 60 requests per minute", (create) => {
  it.each([2, 8, PER_MINUTE])(
    "are not banned if %i of them wait for Retry-After",
    async (workers) => {
      const server = await AttackedServer.start({
        database: await create(),
        arguments: [
          ...["--test-clock-port", "0"],
          ...["--issue-key", `Enterprise:perMinute=${PER_MINUTE},perDay=1000000`]
        ]
      })
      const clock = /http:\S+\/clock/.exec(server.log)?.[0] ?? ""
      const outcomes = new Map<string, number>()
      // The time of each worker's next request, in milliseconds since the start.
      const due = Array.from({ length: workers }, (_, index) => index)
      for (let now = 0; now < DURATION_MS; ) {
        const worker = due.indexOf(Math.min(...due))
        const ms = Math.max((due[worker] ?? 0) - now, 0)
        if (ms > 0)
          await (
            await fetch(`${clock}/advance`, { method: "POST", body: JSON.stringify({ ms }) })
          ).arrayBuffer()
        now += ms
        const { outcome, waitMs } = await sendRequest(server)
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        due[worker] = now + waitMs
      }
      const count = (outcome: string): number => outcomes.get(outcome) ?? 0
      expect([...outcomes.keys()].toSorted()).toEqual(["admitted", "rate_limit_exceeded"])
      expect(count("admitted")).toBeGreaterThanOrEqual((DURATION_MS / 60_000) * PER_MINUTE)
    },
    Attack.TIMEOUT_MS
  )
})
