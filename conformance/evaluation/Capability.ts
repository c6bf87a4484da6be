/** Features that only some subjects have. */

/** What a check needs besides its interface; a subject declares which of these it has. */
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
