/** The time of the removal of getPet (contract §4.3, §9.3), which names a day but no time zone. */

/** When 5 December 2030 begins in the first time zone, in epoch ms: midnight at UTC+14 is 10:00 UTC on the 4th. */
export const REMOVAL_BEGINS = Date.UTC(2030, 11, 4, 10)

/** When 5 December 2030 has ended in every time zone, in epoch ms: midnight at UTC-12 is 12:00 UTC on the 6th. */
export const REMOVAL_OVER = Date.UTC(2030, 11, 6, 12)
