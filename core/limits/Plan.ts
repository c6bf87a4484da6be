/** What a caller may send (contract §8.2): requests per minute and per UTC day. Plans are data. */
import * as Schema from "effect/Schema"

/** Largest number a plan may grant per window; far above any need, far below where integers stop being exact. */
export const maxRequests = 1_000_000_000

const Requests = Schema.Int.check(
  Schema.makeFilter((count: number) => count >= 1 && count <= maxRequests, {
    message: `must be an integer between 1 and ${maxRequests}`
  })
)

/** Limits as data: requests per minute and per UTC day, whole numbers from 1 to `maxRequests`. */
export const Plan = Schema.Struct({ perMinute: Requests, perDay: Requests })

export type Plan = typeof Plan.Type

/** The plans of contract §8.2. */
export const names = ["Free", "Pro", "Business", "Enterprise"] as const

/** The name of a plan, as contract §8.2 writes it. */
export type PlanName = (typeof names)[number]

/** The numbers of contract §8.2; Enterprise has none, they are agreed for each key. */
export const standard = {
  Free: { perMinute: 60, perDay: 1_000 },
  Pro: { perMinute: 300, perDay: 10_000 },
  Business: { perMinute: 1_000, perDay: 100_000 }
} as const satisfies { readonly [name in Exclude<PlanName, "Enterprise">]: Plan }

/** Whether a value is a plan. */
export const isValid = Schema.is(Plan)
