/** Shows the effect of `Pretenuring.disable` on V8; `Process.test.ts` shows that `serve` calls it. */
import { execFileSync } from "node:child_process"
import { expect, it } from "vitest"

const module = JSON.stringify(new URL("Pretenuring.ts", import.meta.url).href)

/** Runs `setup`, then code that allocates long-lived arrays at one site; returns V8's trace of its decisions. */
const traceDecisions = (setup: string): string =>
  execFileSync(
    process.execPath,
    [
      "--trace-pretenuring-statistics",
      // V8 makes pretenuring decisions only once the young generation has reached its maximum size; a small one reaches
      // it soon.
      "--max-semi-space-size=1",
      "--input-type=module",
      "--eval",
      `${setup}
       const kept = []
       const make = (n) => [n, n + 1, n + 2]
       for (let n = 0; n < 3_000_000; n++) kept.push(make(n))`
    ],
    { encoding: "utf8" }
  )

it("Pretenuring.disable makes V8 allocate long-lived objects in the young generation", () => {
  expect(traceDecisions("")).toMatch(/=> (maybe )?tenure/)
  expect(traceDecisions(`const { disable } = await import(${module}); disable()`)).not.toMatch(
    /=> (maybe )?tenure/
  )
})
