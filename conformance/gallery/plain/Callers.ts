/** The callers, and whether their limits and bans admit a request. */
import type { Header, WireRequest } from "../../http/Wire.ts"
import type { Choices } from "./Choices.ts"
import * as Windows from "./Windows.ts"

/** An API key of the server, and its plan. */
export interface PlainKey {
  readonly secret: string
  readonly perMinute: number
  readonly perDay: number
  /** False if the key is revoked or expired. */
  readonly isValid?: boolean
}

export interface Caller {
  readonly minute: Windows.Window
  readonly day: Windows.Window
  /** False for callers without a valid key. */
  readonly hasKey: boolean
  /** Consecutive denied requests before the announced retry time. */
  ignored: number
  /** The latest announced retry time. */
  retryAt: number
  bannedUntil: number
}

/** A denial: its status, and the value of `Retry-After`. */
export interface Denial {
  readonly status: 403 | 429
  readonly retryAfter: string
}

const minuteMs = 60_000
const dayMs = 86_400_000

const freeAt = ({ day, minute }: Caller, now: number) => Math.max(minute.freeAt(now), day.freeAt(now))

const take = ({ day, minute }: Caller, now: number): void => {
  minute.take(now)
  day.take(now)
}

/** Callers that the server has not seen before. */
export const make = (keys: ReadonlyArray<PlainKey>, choices: Choices) => {
  const valid = new Map(
    keys.filter(({ isValid }) => isValid !== false).map((key) => [key.secret, key] as const)
  )
  const keyOf = ({ headers }: WireRequest): PlainKey | undefined => {
    const given = headers.filter(([name]) => name.toLowerCase() === "authorization")
    const credential = choices.scheme === "exact" ? /^Bearer +([^ ]+)$/ : /^Bearer +([^ ]+)$/i
    const secret = given.length === 1 ? credential.exec(given[0]?.[1] ?? "")?.[1] : undefined
    return secret === undefined ? undefined : valid.get(secret)
  }
  const started = (plan: Pick<PlainKey, "perMinute" | "perDay">, hasKey: boolean): Caller => ({
    minute: Windows.make(choices.minute, plan.perMinute, minuteMs, 0),
    day: Windows.make(choices.day, plan.perDay, dayMs, choices.dayZone * minuteMs),
    hasKey,
    ignored: 0,
    retryAt: 0,
    bannedUntil: 0
  })
  /** All callers without a valid key, with the numbers of the Free plan. */
  const anonymous = started({ perMinute: 60, perDay: 1000 }, false)
  const callers = new Map<string, Caller>()
  const accounts = new Map<string, Caller>()
  /** Keys of one account share their windows, but no ban: §8.4.3 bans keys. */
  const known = (key: PlainKey): Caller => {
    const earlier = callers.get(key.secret)
    if (earlier !== undefined) return earlier
    const account = `${key.perMinute}/${key.perDay}`
    const sibling = choices.counted === "per account" ? accounts.get(account) : undefined
    const caller = { ...started(key, true), ...(sibling && { minute: sibling.minute, day: sibling.day }) }
    callers.set(key.secret, caller)
    accounts.set(account, caller)
    return caller
  }
  const isCounted = ({ hasKey }: Caller): boolean => hasKey || choices.anonymous === "counted"
  return {
    of: (request: WireRequest): Caller => {
      const key = keyOf(request)
      return key === undefined ? anonymous : known(key)
    },
    isDenied: (caller: Caller, now: number): boolean =>
      isCounted(caller) && (freeAt(caller, now) > now || now < caller.bannedUntil),
    /** Records an admitted request with the status of its response. */
    count: (caller: Caller, status: number, now: number): void => {
      caller.ignored = 0
      if (isCounted(caller) && (status < 400 || choices.errorsCost)) take(caller, now)
    },
    /** Records a denied request, which may lead to a ban. */
    deny: (caller: Caller, now: number): Denial => {
      if (choices.denialsCost) take(caller, now)
      const { ban } = choices
      if (ban !== "never" && caller.hasKey && now >= caller.bannedUntil && now < caller.retryAt) {
        caller.ignored++
        if (caller.ignored >= ban.after) caller.bannedUntil = now + ban.seconds * 1000
      }
      const wait = Math.max(freeAt(caller, now), caller.bannedUntil) - now
      const seconds = Math.max(1, Math.ceil(wait / 1000)) + choices.slack
      caller.retryAt = now + seconds * 1000
      const date = new Date(Math.ceil(caller.retryAt / 1000) * 1000)
      return {
        // §8.4.1: over the limit it is 429 even during a ban.
        status: ban === "never" || freeAt(caller, now) > now ? 429 : ban.status,
        retryAfter: choices.retryAfter === "date" ? date.toUTCString() : String(seconds)
      }
    },
    rateHeaders: ({ day, hasKey, minute }: Caller, now: number): ReadonlyArray<Header> => {
      const least = day.left(now) < minute.left(now) ? day : minute
      const window = { "least remaining": least, minute, day }[choices.shown]
      const isZero = !hasKey && choices.anonymous === "zeros"
      const resetAt = isZero ? now : window.resets(now)[choices.reset]
      return [
        ["X-RateLimit-Limit", String(isZero ? 0 : window.limit)],
        ["X-RateLimit-Remaining", String(isZero ? 0 : window.left(now))],
        ["X-RateLimit-Reset", String(Math.ceil(resetAt / 1000))]
      ]
    }
  }
}
