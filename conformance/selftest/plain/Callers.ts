/** Identifies callers, counts their requests, and decides whether their limits and bans admit a request. */
import type { Header, WireRequest } from "../../http/Wire.ts"
import type { Choices } from "./Choices.ts"
import * as Windows from "./Windows.ts"

/** An API key of the server, and its plan. */
export interface PlainKey {
  readonly secret: string
  readonly perMinute: number
  readonly perDay: number
  /** False if the key is revoked or expired; valid when absent. */
  readonly isValid?: boolean
}

export interface Caller {
  readonly minute: Windows.Window
  readonly day: Windows.Window
  /** False for callers without a valid key. */
  readonly hasKey: boolean
  /** How many denied requests came before the announced retry time, since the last admitted request. */
  ignored: number
  /** The latest announced retry time, in epoch milliseconds. */
  retryAt: number
  bannedUntil: number
}

/** The status of a denial, and its `Retry-After` header if it has one. */
export interface Denial {
  readonly status: 403 | 429
  readonly retryAfter: string | undefined
}

const minuteMs = 60_000
const dayMs = 86_400_000

const freeAt = ({ day, minute }: Caller, now: number) => Math.max(minute.freeAt(now), day.freeAt(now))

const take = ({ day, minute }: Caller, now: number): void => {
  minute.take(now)
  day.take(now)
}

/** Creates an empty record of callers. */
export const make = (keys: ReadonlyArray<PlainKey>, choices: Choices) => {
  const validKeys = new Map(
    keys.filter(({ isValid }) => isValid !== false).map((key) => [key.secret, key] as const)
  )
  const keyOf = ({ headers }: WireRequest): PlainKey | undefined => {
    const given = headers.filter(([name]) => name.toLowerCase() === "authorization")
    const credential = choices.scheme === "exact" ? /^Bearer +([^ ]+)$/ : /^Bearer +([^ ]+)$/i
    const secret = given.length === 1 ? credential.exec(given[0]?.[1] ?? "")?.[1] : undefined
    return secret === undefined ? undefined : validKeys.get(secret)
  }
  const newCaller = (plan: Pick<PlainKey, "perMinute" | "perDay">, hasKey: boolean): Caller => ({
    minute: Windows.make(choices.minute, plan.perMinute, minuteMs, 0),
    day: Windows.make(choices.day, plan.perDay, dayMs, choices.dayZone * minuteMs),
    hasKey,
    ignored: 0,
    retryAt: 0,
    bannedUntil: 0
  })
  /** Requests without a valid key share this caller, which has the limits of the Free plan. */
  const anonymous = newCaller({ perMinute: 60, perDay: 1000 }, false)
  const callers = new Map<string, Caller>()
  const accounts = new Map<string, Caller>()
  /**
   * Returns the caller for a key. If requests are counted per account, the keys of an account share windows. They never
   * share bans, because §8.4.3 bans keys.
   */
  const callerOf = (key: PlainKey): Caller => {
    const earlier = callers.get(key.secret)
    if (earlier !== undefined) return earlier
    const account = `${key.perMinute}/${key.perDay}`
    const sibling = choices.counted === "per account" ? accounts.get(account) : undefined
    const caller = { ...newCaller(key, true), ...(sibling && { minute: sibling.minute, day: sibling.day }) }
    callers.set(key.secret, caller)
    accounts.set(account, caller)
    return caller
  }
  const isCounted = ({ hasKey }: Caller): boolean => hasKey || choices.anonymous === "counted"
  return {
    of: (request: WireRequest): Caller => {
      const key = keyOf(request)
      return key === undefined ? anonymous : callerOf(key)
    },
    isDenied: (caller: Caller, now: number): boolean =>
      isCounted(caller) && (freeAt(caller, now) > now || now < caller.bannedUntil),
    /** Records an admitted request with the status of its response. */
    count: (caller: Caller, status: number, now: number): void => {
      caller.ignored = 0
      if (isCounted(caller) && (status < 400 || choices.errorsCost)) take(caller, now)
    },
    /** Records a denied request, bans the caller if necessary, and returns the denial. */
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
      const retryAfter = choices.retryAfter === "date" ? date.toUTCString() : String(seconds)
      // §8.4.1: a request over the limit gets 429 even during a ban.
      if (ban === "never" || freeAt(caller, now) > now) return { status: 429, retryAfter }
      return { status: ban.status, retryAfter: ban.isSilent === true ? undefined : retryAfter }
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
