import { execFileSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import { start, stop } from "./Serve.fixture.ts"

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

/** A module that prints, to standard error, each V8 flag that a program sets. */
const flagReporter = `data:text/javascript,${encodeURIComponent(
  `import v8 from "node:v8"
   import { syncBuiltinESMExports } from "node:module"
   const set = v8.setFlagsFromString
   v8.setFlagsFromString = (flags) => { process.stderr.write("V8 flags: " + flags + "\\n"); set(flags) }
   syncBuiltinESMExports()`
)}`

describe("Pretenuring.disable", () => {
  it("makes V8 allocate long-lived objects in the young generation", () => {
    expect(traceDecisions("")).toMatch(/=> (maybe )?tenure/)
    expect(traceDecisions(`const { disable } = await import(${module}); disable()`)).not.toMatch(
      /=> (maybe )?tenure/
    )
  })

  it("is called by serve", async () => {
    const server = await start(
      ["--database", "memory:", "--port", "0"],
      {},
      { nodeFlags: ["--import", flagReporter] }
    )
    const { stderr } = await stop(server)
    expect(stderr).toContain("V8 flags: --no-allocation-site-pretenuring")
  })
})
