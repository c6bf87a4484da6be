import { expect, it } from "vitest"
import * as BatchSizes from "./BatchSizes.ts"

const metrics = `# TYPE animal_store_commit_group_size histogram
animal_store_commit_group_size_bucket{le="1"} 3
animal_store_commit_group_size_sum 70
animal_store_commit_group_size_count 20
http_server_request_duration_seconds_count 4
`

it("BatchSizes.parse returns the numbers of statements and calls, or 0 if the metric is absent", () => {
  expect(BatchSizes.parse(metrics)).toEqual({ statements: 20, calls: 70 })
  expect(BatchSizes.parse("")).toEqual({ statements: 0, calls: 0 })
})

it("BatchSizes.total adds up the counts of all nodes, and subtracts the counts before the load", () => {
  const before = { statements: 4, calls: 10 }
  expect(BatchSizes.total([before], [BatchSizes.parse(metrics), before])).toEqual({
    statements: 20,
    calls: 70
  })
})
