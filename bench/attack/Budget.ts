/** Limits the time of a quick run, and reports the time of any run. */

/** Seconds that a quick run takes on two idle cores. */
const EXPECTED_SECONDS = 120

/**
 * Seconds after which a quick run starts no further scenario; on a busy machine, scenarios are slower and some are
 * repeated.
 */
export const LIMIT_SECONDS = 600

/** Whether a run may start another scenario. */
export const hasTimeLeft = (isQuick: boolean, seconds: number): boolean => !isQuick || seconds < LIMIT_SECONDS

/** Formats the duration of a run, for a quick run with the time that it should take. */
export const report = (isQuick: boolean, seconds: number): string => {
  const whole = Math.round(seconds)
  if (!isQuick) return `${whole} s`
  return whole <= EXPECTED_SECONDS
    ? `${whole} s, within ${EXPECTED_SECONDS} s`
    : `${whole} s, more than the ${EXPECTED_SECONDS} s expected on two idle cores`
}
