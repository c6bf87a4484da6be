/**
 * Checks that Node is new enough for the suite: on an older version, the suite reports violations that do not exist.
 */
import packageJson from "../../package.json" with { type: "json" }

/**
 * Returns the reason why a version of Node is too old for a range such as `>=22.19.0`; `undefined` if the version is
 * new enough or unknown.
 */
export const problem = (
  version: string | undefined = globalThis.process?.versions?.node,
  range: string = packageJson.engines.node
): string | undefined => {
  const minimum = range.replace(">=", "")
  return version === undefined || version.localeCompare(minimum, "en", { numeric: true }) >= 0
    ? undefined
    : `Node ${minimum} or newer is required; this is Node ${version}`
}
