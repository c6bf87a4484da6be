/** Sends many random requests to a server, independently of the programs, to find out whether a mutant has any effect. */
import * as Effect from "effect/Effect"
import { bytes, header, text, type WireRequest, type WireResponse } from "../../http/Wire.ts"
import type { HttpTarget } from "../../subjects/HttpSubject.ts"

const [MINUTE, DAY] = [60_000, 86_400_000]

const names = ["Rex", "Ré", "🐈 Mia", "x".repeat(70), " two  spaces ", "a<b&c", "e\u0301", "n".repeat(210)]
const categories = ["1", "0", "-7", "9007199254740993", "-9223372036854775808", "4294967297"]
const statuses = ["available", "pending", "sold"]
const invalid = [
  ...["{", "{}", '{"name":"Rex"}', '{"categoryId":1}', '{"name":7,"categoryId":1}'],
  ...['"1"', "1.5", "9223372036854775808"].map((category) => `{"name":"Rex","categoryId":${category}}`),
  ...['"lost"', "7"].map((status) => `{"name":"Rex","categoryId":1,"status":${status}}`)
]

/** Sends `count` random requests, and sometimes moves the clock between them; returns the responses. */
export const run = Effect.fnUntraced(function* (
  { basePath, clock, keys, transport }: Pick<HttpTarget, "basePath" | "clock" | "keys" | "transport">,
  count: number,
  random: () => number
) {
  const pick = <A>(all: ReadonlyArray<A>): A | undefined => all[Math.floor(random() * all.length)]
  const ids: Array<string> = ["1"]
  const { main, tiny, victim } = keys
  const secrets = [main, main, main, tiny?.secret, victim?.secret, "wrong", undefined]

  const request = (): WireRequest => {
    const secret = pick(secrets)
    const headers: WireRequest["headers"] = [
      ["Content-Type", "application/json"],
      ...(secret === undefined ? [] : [["Authorization", `Bearer ${secret}`] as const])
    ]
    const kind = random()
    if (kind < 0.4) {
      const status = pick([...statuses, ""])
      const more = status === "" ? "" : `,"status":"${status}"`
      const valid = `{"name":${JSON.stringify(pick(names))},"categoryId":${pick(categories)}${more}}`
      const body = random() < 0.5 ? pick(invalid) : valid
      return { method: "POST", target: `${basePath}/pets`, headers, body: bytes(body ?? valid) }
    }
    const id = pick([...ids.slice(-5), ...ids.slice(0, 5), "99999999", "-1"])
    const limit = pick(["", "limit=1", "limit=7", "limit=20", "limit=100", "limit=0"])
    const status = pick(["", "", ...statuses.map((value) => `status=${value}`)])
    const target = kind < 0.7 ? `/pets/${id}` : `/pets?${limit}&${status}`
    // No empty parameters.
    const path = target.replace(/\?&$/, "").replace("?&", "?").replace(/&$/, "")
    return { method: random() < 0.15 ? "HEAD" : "GET", target: basePath + path, headers, body: undefined }
  }

  /** Lets time pass until an instant that is `offset` ms after the start of a minute or a day. */
  const until = (now: number, length: number, offset: number) => (((offset - now) % length) + length) % length
  const wait = Effect.suspend(() => {
    if (clock === undefined || random() < 0.8) return Effect.void
    return Effect.flatMap(clock.now, (now) => {
      const waits = [
        1 + Math.floor(random() * 3_000),
        until(now, MINUTE, 59_200),
        until(now, MINUTE, 0) + 100
      ]
      const rare = [until(now, DAY, DAY - 20_000), until(now, DAY, 0) + 10_000, 70_000]
      return clock.advance(pick(random() < 0.7 ? waits : rare) ?? 0)
    })
  })

  const responses: Array<WireResponse | undefined> = []
  for (let index = 0; index < count; index++) {
    const sent = request()
    const response = yield* Effect.orElseSucceed(transport(sent), () => undefined)
    responses.push(response)
    const created = response?.status === 201 ? /"id":(-?[0-9]+)/.exec(text(response.body))?.[1] : undefined
    if (created !== undefined) ids.push(created)
    // Half of the denied requests are repeated immediately, as some clients do.
    if (response !== undefined && header(response, "retry-after") !== undefined && random() < 0.5) {
      yield* Effect.ignore(transport(sent))
    }
    yield* Effect.ignore(wait)
  }
  return responses
})
