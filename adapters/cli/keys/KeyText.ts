/** Formats times, limits and states of keys for messages. */
import { isStandard } from "../../../core/limits/Plan.ts"
import type { ApiKey, KeyStatus, Plan } from "../../embed/index.ts"

/** Formats epoch milliseconds as ISO 8601 in UTC; times that `Date` cannot represent are formatted as numbers. */
export const time = (ms: number): string => {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString()
}

/** Formats limits, such as "60 requests a minute, 1000 a day". */
export const limits = ({ perDay, perMinute }: Plan): string =>
  `${perMinute} requests a minute, ${perDay} a day`

/** Returns a line about the plans of these keys that neither the contract nor `plans` defines; none if all are defined. */
export const unknownPlans = (
  keys: ReadonlyArray<ApiKey>,
  plans: { readonly [name: string]: Plan }
): ReadonlyArray<string> => {
  const names = [...new Set(keys.map(({ plan }) => plan))]
  const unknown = names.filter((name) => !isStandard(name) && !Object.hasOwn(plans, name))
  if (unknown.length === 0) return []
  return [
    "",
    `Servers define the limits of ${unknown.join(", ")}; the limits shown are those with which a key was issued or set. Pass --plan ${unknown[0]}=PER_MINUTE/PER_DAY, as to the servers.`
  ]
}

/** Formats the state of a key at `now` (epoch milliseconds): revoked, expired, banned, rotating or active. */
export const state = ({ expiresAt, revokedAt, secrets, usage }: KeyStatus, now: number): string => {
  if (revokedAt !== undefined) return `revoked at ${time(revokedAt)}`
  if (expiresAt !== undefined && expiresAt <= now) return `expired at ${time(expiresAt)}`
  const oldSecret = secrets.find((secret) => secret.expiresAt !== undefined && secret.expiresAt > now)
  const states = [
    ...(usage.bannedUntil === undefined ? [] : [`banned until ${time(usage.bannedUntil)}`]),
    ...(oldSecret?.expiresAt === undefined ? [] : [`rotating until ${time(oldSecret.expiresAt)}`])
  ]
  const current = states.length === 0 ? "active" : states.join(", ")
  return expiresAt === undefined ? current : `${current}, expires at ${time(expiresAt)}`
}
