/** Defines the versions that a report shows in addition to the version of the package. */

/** The contract that an implementation is tested against: its name and the version that it states (§9). */
export const contract = { name: "Animal Store Service Interface", version: "1.0.0" } as const

/**
 * Version of the set of checks and clauses: their ids, laws and levels. It changes whenever one of them changes, so
 * that equal versions have equal requirements. `versions.json` has the hash of each version.
 */
export const suite = "1.0.0"
