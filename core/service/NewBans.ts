/**
 * Distinguishes the request that began a ban from others of the same millisecond, for which `Verdict.beganBan` is
 * present too: each ban is reported once.
 */

/** Maximum number of recent bans that are stored. */
const MAX_BANS = 1_000

export interface NewBans {
  /** Returns true for the first call with this key and this end of a ban, and false for later ones. */
  readonly isNew: (keyId: string, until: number) => boolean
}

/** Creates the set of recent bans, empty. */
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
