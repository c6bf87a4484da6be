/** Parses `--budget`: how many requests and seconds a run may take, such as `5000req`, `120s` or `5000req,120s`. */
import * as Result from "effect/Result"

export interface Budget {
  readonly requests?: number
  readonly seconds?: number
}

const units = { req: "requests", s: "seconds" } as const

const isUnit = (unit: string | undefined): unit is keyof typeof units => unit === "req" || unit === "s"

/**
 * Parses a budget, or fails with the reason.
 *
 * @example
 * ```ts
 * parse("500req,30s") // { requests: 500, seconds: 30 }
 * ```
 */
export const parse = (text: string): Result.Result<Budget, string> => {
  const budget: { requests?: number; seconds?: number } = {}
  for (const part of text.split(",")) {
    const [, digits, unit] = /^([1-9][0-9]{0,8})(req|s)$/.exec(part) ?? []
    if (!isUnit(unit) || budget[units[unit]] !== undefined) {
      return Result.fail("must be a number of requests, of seconds, or both, such as 5000req,120s")
    }
    budget[units[unit]] = Number(digits)
  }
  return Result.succeed(budget)
}
