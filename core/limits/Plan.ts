/** Defines the rate limit plans (contract §8.2): requests per minute and per UTC day. */
import * as Schema from "effect/Schema"

/** Maximum number of requests per window; small enough that all computations are exact. */
export const maxRequests = 1_000_000_000

/** Minimum and maximum number of requests per window. */
export const bounds = { min: 1, max: maxRequests } as const

const Requests = Schema.Int.check(
  Schema.makeFilter((count: number) => count >= 1 && count <= maxRequests, {
    message: `must be an integer between 1 and ${maxRequests}`
  })
)

/** The limits of a plan as a schema: requests per minute and per UTC day, integers from 1 to `maxRequests`. */
export const Plan = Schema.Struct({ perMinute: Requests, perDay: Requests })

export type Plan = typeof Plan.Type

/** The limits of each plan (contract §8.2); `undefined` if they are agreed for each key. */
export const standard = {
  Free: { perMinute: 60, perDay: 1_000 },
  Pro: { perMinute: 300, perDay: 10_000 },
  Business: { perMinute: 1_000, perDay: 100_000 },
  Enterprise: undefined
} as const satisfies { readonly [name: string]: Plan | undefined }

type StandardName = keyof typeof standard

/** The name of a plan of the contract, or of a plan that the operator adds (`OwnPlans`). */
export type PlanName = StandardName | (string & {})

/** The names of the plans of the contract. */
export const names = Object.keys(standard) as ReadonlyArray<StandardName> // exactly its keys

/** Returns whether a plan is one of the contract. */
export const isStandard = (name: PlanName): name is StandardName => Object.hasOwn(standard, name)

/** The names of the plans whose limits are agreed for each key, for messages. */
export const agreed = names.filter((name) => standard[name] === undefined).join(" or ")

/** Returns whether a value is a valid plan. */
export const isValid = Schema.is(Plan)
