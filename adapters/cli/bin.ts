#!/usr/bin/env node
/** The installed command: checks the version of Node before it loads modules that an old Node cannot parse. */
import packageJson from "../../package.json" with { type: "json" }
import * as NodeVersion from "../embed/NodeVersion.ts"

const problem = NodeVersion.findProblem(process.versions.node, packageJson.engines.node)
if (problem === undefined) {
  await import("./main.ts")
} else {
  console.error(`animal-store: ${problem}`)
  // For `conformance`, 1 means "not conformant".
  process.exitCode = process.argv[2] === "conformance" ? 2 : 1
}
