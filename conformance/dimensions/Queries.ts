/** Lists queries for a list of animals (contract §4.1): no, one, two (in either order) or unknown parameters. */

export interface Query {
  /** The query with its question mark, as it follows the path. */
  readonly text: string
  readonly limit?: number
  readonly status?: "available" | "pending" | "sold"
  /** Whether the query has only parameters that the contract names. */
  readonly isKnown: boolean
}

export const queries = {
  "no query": { text: "", isKnown: true },
  "limit alone": { text: "?limit=1", limit: 1, isKnown: true },
  "status alone": { text: "?status=sold", status: "sold", isKnown: true },
  "limit, then status": { text: "?limit=100&status=pending", limit: 100, status: "pending", isKnown: true },
  "status, then limit": { text: "?status=available&limit=2", limit: 2, status: "available", isKnown: true },
  "an unknown parameter": { text: "?zz=1", isKnown: false },
  "status and an unknown one": { text: "?zz=1&status=sold", status: "sold", isKnown: false }
} as const satisfies { readonly [name: string]: Query }

export type QueryName = keyof typeof queries
