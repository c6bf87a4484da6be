/** Runs recipes as their readers do: copies them to an empty directory and installs the packed package. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import * as readline from "node:readline"
import { fileURLToPath } from "node:url"

const here = fileURLToPath(new URL(".", import.meta.url))

const root = fileURLToPath(new URL("../../", import.meta.url))

/** The path of the packed package, from `ANIMAL_STORE_TEST_TARBALL`; `undefined` if there is none. */
const givenTarball = process.env.ANIMAL_STORE_TEST_TARBALL

/** The command that runs a recipe. */
export interface Run {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: NodeJS.ProcessEnv
  /** The beginning of the line to wait for. */
  readonly until: string
}

/** A directory of installed recipes, and their running servers. */
export class Recipes {
  readonly #work: string
  readonly #running: Array<ChildProcess> = []
  #tarball = givenTarball ?? ""

  constructor(name: string) {
    this.#work = fs.mkdtempSync(path.join(os.tmpdir(), `animal-store-${name}-`))
  }

  /** Returns a path in the directory of a recipe. */
  path(name: string, file = ""): string {
    return path.join(this.#work, name, file)
  }

  /** Builds and packs the package, unless `ANIMAL_STORE_TEST_TARBALL` names a tarball. */
  pack(): void {
    if (givenTarball !== undefined) return
    const parameters = ["pack", "--silent", "--pack-destination", this.#work]
    const { status, stderr, stdout } = spawnSync("npm", parameters, { cwd: root, encoding: "utf8" })
    if (status !== 0) throw new Error(`npm pack failed: ${stdout}${stderr}`)
    const [tarball = ""] = fs.readdirSync(this.#work).filter((name) => name.endsWith(".tgz"))
    this.#tarball = this.path(tarball)
  }

  /**
   * Copies a recipe and installs it. Returns npm's error output if other packages cannot be installed, for example
   * without a network; throws if only our package cannot be installed.
   */
  install(name: string): string | undefined {
    fs.cpSync(path.join(here, name), this.path(name), {
      recursive: true,
      filter: (file) => !file.includes("node_modules")
    })
    return this.installPackages(name, [])
  }

  /** Installs the package and others in the directory of a recipe. Returns and throws like `install`. */
  installPackages(name: string, others: ReadonlyArray<string>): string | undefined {
    const error = this.#npmInstall(name, [this.#tarball, ...others])
    if (error === undefined) return undefined
    const errorWithoutPackage = this.#npmInstall(name, others)
    if (errorWithoutPackage === undefined)
      throw new Error(`The animal-store package cannot be installed, although the others can: ${error}`)
    return errorWithoutPackage
  }

  #npmInstall(name: string, packages: ReadonlyArray<string>): string | undefined {
    return this.npm(name, ["install", "--no-audit", "--no-fund", "--no-package-lock", ...packages])
  }

  /** Runs npm in the directory of a recipe. Returns its error output if it fails. */
  npm(name: string, args: ReadonlyArray<string>): string | undefined {
    const { status, stderr } = spawnSync("npm", args, { cwd: this.path(name), encoding: "utf8" })
    return status === 0 ? undefined : stderr
  }

  /**
   * Starts a recipe, and returns the first printed line that begins with `until`; throws an error if the recipe exits
   * first.
   */
  async start(name: string, { args, command, env, until }: Run): Promise<string> {
    const server = spawn(command, args, {
      cwd: this.path(name),
      detached: true,
      env,
      stdio: ["ignore", "pipe", "inherit"]
    })
    this.#running.push(server)
    for await (const line of readline.createInterface({ input: server.stdout })) {
      if (line.startsWith(until)) {
        server.stdout.resume()
        return line
      }
    }
    throw new Error(`${name} exited without a line that begins with ${until}`)
  }

  /** Kills all running recipes and their child processes. */
  async stop(): Promise<void> {
    for (const server of this.#running.splice(0)) {
      if (server.pid === undefined || server.exitCode !== null) continue
      const closed = new Promise((resolve) => server.once("close", resolve))
      process.kill(-server.pid, "SIGKILL") // kills the process group, because npm runs scripts in a shell
      await closed
    }
  }

  /** Removes the directory with all installed recipes. */
  remove(): Promise<void> {
    return fs.promises.rm(this.#work, { recursive: true, force: true })
  }
}

/**
 * Prints the time from an empty directory to the first response with status 200; `startedAt` is the value of
 * `performance.now()` at the start. There is no bound, because the time depends on the network and the machine.
 */
export const printTimeToFirst200 = (name: string, startedAt: number): void => {
  const seconds = (performance.now() - startedAt) / 1000
  console.log(`${name}: ${seconds.toFixed(1)} s from an empty directory to the first 200`)
}

/** Returns a port that no program listens on. */
export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0))
    })
  })

/** Runs a printed `curl` command in a shell with additional options, and returns the response with its headers. */
export const runCurl = (line: string, options = ""): string =>
  spawnSync("bash", ["-c", `${line} --silent --include ${options}`], { encoding: "utf8" }).stdout
