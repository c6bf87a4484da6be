/**
 * Detects bans that have not been reported yet, so that each ban is reported once: `Verdict.beganBan` is also present
 * for other requests in the millisecond in which the ban began.
 */

/** Maximum number of stored bans: the latest ban of each recently banned key or account. */
const MAX_BANS = 1_000

/**
 * Creates the function that returns whether a ban differs from the stored ban of the caller, and stores it; `until` is
 * the end of the ban.
 */
export const make = (): ((caller: string, until: number) => boolean) => {
  const latest = new Map<string, number>()
  return (caller, until) => {
    if (latest.get(caller) === until) return false
    latest.delete(caller)
    latest.set(caller, until)
    if (latest.size > MAX_BANS) {
      const [oldest = caller] = latest.keys()
      latest.delete(oldest)
    }
    return true
  }
}
