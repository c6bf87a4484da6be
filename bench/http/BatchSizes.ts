/** The sizes of batches that a server has counted in its metrics. */

/** Statements, and the calls that shared them. */
export interface BatchSizes {
  readonly statements: number
  readonly calls: number
}

const HISTOGRAM = "animal_store_commit_group_size"

/** Reads the sizes from metrics in Prometheus's text format. */
export const parse = (metrics: string): BatchSizes => {
  const valueOf = (kind: string) =>
    Number(new RegExp(`^${HISTOGRAM}_${kind} ([\\d.eE+]+)$`, "m").exec(metrics)?.[1] ?? 0)
  return { statements: valueOf("count"), calls: valueOf("sum") }
}

/** The sizes of several nodes together; `before` is subtracted. */
export const total = (before: ReadonlyArray<BatchSizes>, after: ReadonlyArray<BatchSizes>): BatchSizes => {
  const sum = (sizes: ReadonlyArray<BatchSizes>, key: keyof BatchSizes) =>
    sizes.reduce((total, each) => total + each[key], 0)
  return {
    statements: sum(after, "statements") - sum(before, "statements"),
    calls: sum(after, "calls") - sum(before, "calls")
  }
}
