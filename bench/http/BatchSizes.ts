/** Reads the sizes of statement batches from the metrics of servers. */

/** The number of statements, and the number of calls that shared them. */
export interface BatchSizes {
  readonly statements: number
  readonly calls: number
}

const HISTOGRAM = "animal_store_commit_group_size"

/** Reads the sizes from metrics in Prometheus text format; they are 0 if the histogram is absent. */
export const parse = (metrics: string): BatchSizes => {
  const valueOf = (kind: string) =>
    Number(new RegExp(`^${HISTOGRAM}_${kind} ([\\d.eE+]+)$`, "m").exec(metrics)?.[1] ?? 0)
  return { statements: valueOf("count"), calls: valueOf("sum") }
}

/** Adds up the sizes of several nodes after a load, and subtracts the sizes before the load. */
export const total = (before: ReadonlyArray<BatchSizes>, after: ReadonlyArray<BatchSizes>): BatchSizes => {
  const sum = (sizes: ReadonlyArray<BatchSizes>, key: keyof BatchSizes) =>
    sizes.reduce((total, each) => total + each[key], 0)
  return {
    statements: sum(after, "statements") - sum(before, "statements"),
    calls: sum(after, "calls") - sum(before, "calls")
  }
}
