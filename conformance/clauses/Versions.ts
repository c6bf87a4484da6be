/** Versions that a report names, besides that of the package. */

/** The document that an implementation is tested against, and the version that it gives itself (contract §9). */
export const contract = { name: "Animal Store Service Interface", version: "1.0.0" } as const

/**
 * Version of the set of checks and clauses: their ids, laws and levels. It changes with any of them, so that equal
 * versions demand the same. `versions.json` has the hash of each version.
 */
export const suite = "1.0.0"
