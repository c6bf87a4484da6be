/**
 * Sends many random requests to a server, independently of all checks, to find out whether a mutant that no check
 * detected has any effect.
 */
import * as Effect from "effect/Effect"
import type { Transport, WireRequest } from "../../http/Wire.ts"
import { bytes, header } from "../../http/Wire.ts"
import type { HttpTarget } from "../../subjects/HttpSubject.ts"

const DAY = 86_400_000

const names = ["Rex", "Ré", "🐈 Mia", "x".repeat(70), " two  spaces ", "a<b&c", "e\u0301", "n".repeat(210)]
const categories = ["1", "0", "-7", "9007199254740993", "-9223372036854775808", "4294967297"]
const statuses = ["available", "pending", "sold"]
const bodies = [
  "{",
  "{}",
  '{"name":"Rex"}',
  '{"categoryId":1}',
  '{"name":7,"categoryId":1}',
  '{"name":"Rex","categoryId":"1"}',
  '{"name":"Rex","categoryId":1.5}',
  '{"name":"Rex","categoryId":9223372036854775808}',
  '{"name":"Rex","categoryId":1,"status":"lost"}',
  '{"name":"Rex","categoryId":1,"status":7}'
]

/** Returns the ms until the next instant that is `offset` ms after the start of a minute or a day of `length` ms. */
const msUntil = (now: number, length: number, offset: number): number =>
  (((offset - now) % length) + length) % length

/** Sends `count` random requests, and sometimes moves the clock between them. */
export const run = Effect.fnUntraced(function* (
  { basePath, clock, keys, transport }: Pick<HttpTarget, "basePath" | "clock" | "keys" | "transport">,
  count: number,
  random: () => number
) {
  const pick = <A>(all: readonly [A, ...ReadonlyArray<A>] | ReadonlyArray<A>): A | undefined =>
    all[Math.floor(random() * all.length)]
  const ids: Array<string> = ["1"]
  const secrets = [
    keys.main,
    keys.main,
    keys.main,
    keys.tiny?.secret,
    keys.victim?.secret,
    "wrong",
    undefined
  ]

  const request = (): WireRequest => {
    const secret = pick(secrets)
    const headers: ReadonlyArray<readonly [string, string]> = [
      ["Content-Type", "application/json"],
      ...(secret === undefined ? [] : [["Authorization", `Bearer ${secret}`] as const])
    ]
    const kind = random()
    if (kind < 0.4) {
      const specialBody = pick([...bodies, "", "", "", "", "", "", "", "", "", ""]) ?? ""
      const status = pick([...statuses, ""]) ?? ""
      const body =
        specialBody ||
        `{"name":${JSON.stringify(pick(names))},"categoryId":${pick(categories)}${status && `,"status":"${status}"`}}`
      return { method: "POST", target: `${basePath}/pets`, headers, body: bytes(body) }
    }
    const method = random() < 0.15 ? "HEAD" : "GET"
    if (kind < 0.7) {
      const target = `${basePath}/pets/${pick([...ids.slice(-5), ...ids.slice(0, 5), "99999999", "-1"])}`
      return { method, target, headers, body: undefined }
    }
    const limit = pick(["", "limit=1", "limit=7", "limit=20", "limit=100", "limit=0"]) ?? ""
    const status = pick(["", "", ...statuses.map((value) => `status=${value}`)]) ?? ""
    const query = [limit, status].filter((part) => part !== "").join("&")
    return { method, target: `${basePath}/pets${query === "" ? "" : `?${query}`}`, headers, body: undefined }
  }

  const wait = Effect.suspend(() => {
    if (clock === undefined || random() < 0.8) return Effect.void
    const choice = random()
    return Effect.flatMap(clock.now, (now) => {
      if (choice < 0.3) return clock.advance(1 + Math.floor(random() * 3_000))
      if (choice < 0.5) return clock.advance(msUntil(now, 60_000, 59_200))
      if (choice < 0.7) return clock.advance(msUntil(now, 60_000, 0) + 100)
      if (choice < 0.8) return clock.advance(msUntil(now, DAY, DAY - 20_000))
      if (choice < 0.9) return clock.advance(msUntil(now, DAY, 0) + 10_000)
      return clock.advance(70_000)
    })
  })

  const send: Transport = transport
  for (let index = 0; index < count; index++) {
    const sent = request()
    const response = yield* Effect.orElseSucceed(send(sent), () => undefined)
    const created =
      response?.status === 201 ? /"id":(-?[0-9]+)/.exec(new TextDecoder().decode(response.body)) : null
    if (created?.[1] !== undefined) ids.push(created[1])
    // Half of the denied requests are repeated immediately, as some clients do.
    if (response !== undefined && header(response, "retry-after") !== undefined && random() < 0.5) {
      yield* Effect.ignore(send(sent))
    }
    yield* Effect.ignore(wait)
  }
})
