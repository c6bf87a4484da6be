/** Lists the optional features of subjects. */

/** The features that a check may need in addition to its interface; a subject declares those that it has. */
export const capabilities = [
  "clock",
  "tinyPlan",
  "victimKey",
  "revokedKey",
  "expiredKey",
  "parallel",
  "anyCategory",
  "outage"
] as const

export type Capability = (typeof capabilities)[number]
