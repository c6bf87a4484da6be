/**
 * Global setup of the package tests: packs the package (which builds it), and installs it in an empty directory as users
 * do. Sets `ANIMAL_STORE_TEST_TARBALL` and `ANIMAL_STORE_TEST_INSTALLATION` for the tests, and keeps a tarball that is
 * already set.
 */
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import packageJson from "../package.json" with { type: "json" }

const root = fileURLToPath(new URL("../", import.meta.url))

const npm = (cwd: string, ...args: ReadonlyArray<string>): string =>
  execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })

/** Returns the highest version of the peer dependency that can be installed. */
const highestEffect = (): string => {
  const versions: unknown = JSON.parse(
    npm(root, "view", `effect@${packageJson.peerDependencies.effect}`, "version", "--json")
  )
  return String([versions].flat().at(-1))
}

export const setup = (): (() => void) => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-package-"))
  const tarball = process.env.ANIMAL_STORE_TEST_TARBALL
  if (tarball === undefined) npm(root, "pack", "--silent", "--pack-destination", directory)
  process.env.ANIMAL_STORE_TEST_TARBALL =
    tarball ?? path.join(directory, `animal-store-${packageJson.version}.tgz`)
  const installation = path.join(directory, "installation")
  fs.mkdirSync(installation)
  npm(installation, "init", "--yes")
  npm(installation, "pkg", "set", "type=module")
  const packages = [process.env.ANIMAL_STORE_TEST_TARBALL, `effect@${highestEffect()}`]
  npm(installation, "install", "--no-audit", "--no-fund", ...packages)
  process.env.ANIMAL_STORE_TEST_INSTALLATION = installation
  return () => fs.rmSync(directory, { recursive: true, force: true })
}
