/** What not every subject has. */

/** What a check needs beyond its face; a subject declares what it has. */
export const capabilities = [
  "clock",
  "tinyPlan",
  "victimKey",
  "revokedKey",
  "parallel",
  "anyCategory",
  "outage"
] as const

export type Capability = (typeof capabilities)[number]
