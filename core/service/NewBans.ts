/**
 * Detects bans that have not been reported yet, so that each ban is reported once: `Verdict.beganBan` is also present
 * for other requests in the millisecond in which the ban began.
 */

/** Maximum number of stored bans: the latest ban of each recently banned key. */
const MAX_BANS = 1_000

export interface NewBans {
  /** Returns whether this ban differs from the stored ban of the key; stores it. `until` is the end of the ban. */
  readonly isNew: (keyId: string, until: number) => boolean
}

/** Creates an empty set of recent bans. */
export const make = (): NewBans => {
  const latest = new Map<string, number>()
  return {
    isNew: (keyId, until) => {
      if (latest.get(keyId) === until) return false
      latest.delete(keyId)
      latest.set(keyId, until)
      if (latest.size > MAX_BANS) {
        const [oldest = keyId] = latest.keys()
        latest.delete(oldest)
      }
      return true
    }
  }
}
