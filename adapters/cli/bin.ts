#!/usr/bin/env node
/** The installed command: checks the version of Node before it loads modules that an old Node cannot parse. */
import packageJson from "../../package.json" with { type: "json" }
import * as NodeVersion from "./NodeVersion.ts"

const fault = NodeVersion.fault(process.versions.node, packageJson.engines.node)
if (fault === undefined) {
  await import("./main.ts")
} else {
  console.error(`animal-store: ${fault}`)
  // For `conformance`, 1 means "not conformant".
  process.exitCode = process.argv[2] === "conformance" ? 2 : 1
}
