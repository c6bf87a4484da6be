import * as fs from "node:fs"
import { describe, expect, it } from "vitest"
import * as Laws from "./Simulation.fixture.ts"
import * as Table from "./Table.ts"

const TIMEOUT_MS = 1_800_000

describe("a simulation", () => {
  it(
    "admits no request over the limits and makes no batching mistake without failover",
    () => Laws.expectExact(1_000),
    TIMEOUT_MS
  )

  it(
    "admits at most one request over the limits for each count that a failover loses",
    () => Laws.expectBoundedByLostCounts(500),
    TIMEOUT_MS
  )
})

describe("the table in docs/scaling.md", () => {
  const page = fs.readFileSync(Table.file, "utf8")

  it.each(Table.scenarios)(
    "has the figures of the current code: %s",
    (...scenario) => expect(page, "run: npm run simulate").toContain(`\n${Table.row(scenario)}\n`),
    TIMEOUT_MS
  )
})
