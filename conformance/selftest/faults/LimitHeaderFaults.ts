/** Defines faults in the rate-limit headers. */
