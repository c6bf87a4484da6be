/** Implements four ways to count requests in a window. All times are epoch milliseconds and never decrease. */
import type { Algorithm, Choices } from "./Choices.ts"

/** The time of the reset for each meaning of a reset, in epoch milliseconds. */
type Resets = Readonly<Record<Choices["reset"], number>>

export interface Window {
  readonly limit: number
  /** Returns the number of requests left. */
  readonly left: (now: number) => number
  readonly take: (now: number) => void
  /** Returns the time from which a request is admitted, if no other request is counted before. */
  readonly freeAt: (now: number) => number
  readonly resets: (now: number) => Resets
}

/** Creates a token bucket that refills evenly. A request costs `length` units, so that all numbers are integers. */
const bucket = (limit: number, length: number): Window => {
  const capacity = limit * length
  let level = capacity
  let at = 0
  const levelAt = (now: number) => {
    level = Math.min(capacity, level + Math.max(0, now - at) * limit)
    at = Math.max(at, now)
    return level
  }
  const left = (now: number) => Math.floor(levelAt(now) / length)
  const reachedAt = (target: number, now: number) =>
    now + Math.max(0, Math.ceil((target - levelAt(now)) / limit))
  return {
    limit,
    left,
    take: (now) => {
      level = Math.max(0, levelAt(now) - length)
    },
    freeAt: (now) => reachedAt(length, now),
    resets: (now) => ({
      "window end": now + length,
      "all left again": reachedAt(capacity, now),
      "one more left": reachedAt(Math.min(capacity, (left(now) + 1) * length), now)
    })
  }
}

/** Creates a window that restarts if it ended or is unused; `endOf` returns the end of a window that contains `now`. */
const fixed = (limit: number, endOf: (now: number) => number): Window => {
  let used = 0
  let end = 0
  const restartIfEnded = (now: number) => {
    if (now < end && used > 0) return
    used = 0
    end = endOf(now)
  }
  const left = (now: number) => {
    restartIfEnded(now)
    return Math.max(0, limit - used)
  }
  return {
    limit,
    left,
    take: (now) => {
      restartIfEnded(now)
      used++
    },
    freeAt: (now) => (left(now) > 0 ? now : end),
    resets: (now) => {
      restartIfEnded(now)
      return { "window end": end, "all left again": end, "one more left": end }
    }
  }
}

/** Creates a log of request times: admits a request if fewer than `limit` were logged in the last `length` ms. */
const log = (limit: number, length: number): Window => {
  let times: Array<number> = []
  const timesAt = (now: number) => {
    const kept = times.findIndex((time) => time > now - length)
    if (kept !== 0) times = kept === -1 ? [] : times.slice(kept)
    return times
  }
  const expiryOf = (time: number | undefined, now: number) => (time === undefined ? now : time + length)
  return {
    limit,
    left: (now) => Math.max(0, limit - timesAt(now).length),
    take: (now) => {
      timesAt(now).push(now)
    },
    freeAt: (now) => expiryOf(timesAt(now).at(-limit), now),
    resets: (now) => ({
      "window end": now + length,
      "all left again": expiryOf(timesAt(now).at(-1), now),
      "one more left": expiryOf(timesAt(now)[0], now)
    })
  }
}

/** Creates an unused window of `length` milliseconds; `zoneMs` shifts the windows that follow the clock. */
export const make = (algorithm: Algorithm, limit: number, length: number, zoneMs: number): Window => {
  switch (algorithm) {
    case "token bucket":
      return bucket(limit, length)
    case "clock window":
      return fixed(limit, (now) => (Math.floor((now + zoneMs) / length) + 1) * length - zoneMs)
    case "window from first use":
      return fixed(limit, (now) => now + length)
    case "sliding log":
      return log(limit, length)
  }
}
