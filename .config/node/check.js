// The last step of `npm ci`: fails unless npm scripts run on the pinned Node. npm silently omits an optional package
// that it cannot install, even if the reason is a wrong hash; npm scripts would then run on the machine's Node.
import { readFileSync } from "node:fs"

const { optionalDependencies, version } = JSON.parse(
  readFileSync(new URL("package.json", import.meta.url), "utf8")
)
const platform = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`
const isPinned = `node-${platform}` in optionalDependencies
const actual = process.versions.node
const isAccepted = isPinned ? actual === version : Number.parseInt(actual, 10) >= Number.parseInt(version, 10)
const isWithoutTools = (process.env.npm_config_omit ?? "").split(/[\s,]+/).includes("dev")

if (!isAccepted && !isWithoutTools) {
  console.error(
    isPinned
      ? `npm scripts would run on Node ${actual} instead of ${version}: node-${platform} was not installed. Its download failed, or its hash is not the one in package-lock.json.`
      : `npm has no package of Node ${version} for ${platform}: install Node ${Number.parseInt(version, 10)} or newer (this is ${actual}).`
  )
  process.exitCode = 1
}
