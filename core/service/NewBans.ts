/**
 * Distinguishes the request that began a ban from others of the same millisecond, for which `Verdict.beganBan` is
 * present too: each ban is reported once.
 */

/** Maximum number of bans that are remembered. */
const MAX_BANS = 1_000

export interface NewBans {
  /** Whether a ban of the key that ends at `until` has not been asked for yet. */
  readonly isNew: (keyId: string, until: number) => boolean
}

/** Creates an empty memory of bans. */
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
