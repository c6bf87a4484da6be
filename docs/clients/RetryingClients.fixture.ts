/** Runs the programs in docs/clients.md that use a retrying library. */
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import * as Clients from "./Clients.fixture.ts"

const here = fileURLToPath(new URL(".", import.meta.url))

/** The base address and the API key that a program gets. */
export interface Access {
  readonly url: string
  readonly key: string
}

/**
 * A retrying library. Each function runs its program and returns the statuses that the program received; `skipReason`
 * states why this machine cannot run it.
 */
export interface Library {
  readonly name: string
  readonly skipReason: string | undefined
  readonly inSequence: (access: Access, count: number) => Promise<ReadonlyArray<number>>
  readonly concurrently: (access: Access, count: number) => Promise<ReadonlyArray<number>>
  readonly create: (access: Access, idempotencyKey: string) => Promise<ReadonlyArray<number>>
}

const statusesOf = ({ stderr, stdout }: Clients.ProcessResult): ReadonlyArray<number> => {
  if (!/^\[[\d,. ]*\]\s*$/.test(stdout))
    throw new Error(`the program printed no statuses: ${stdout}${stderr}`)
  return JSON.parse(stdout)
}

const environmentOf = ({ key, url }: Access) => ({ BASE_URL: url, API_KEY: key })

/** Creates a library whose program is a module; a driver imports the module and calls its exported functions. */
const moduleLibrary = (
  directory: () => string,
  name: string,
  extension: string,
  driver: ReadonlyArray<string>,
  skipReason?: string
): Library => {
  const run = async (access: Access, ...parameters: ReadonlyArray<string>) => {
    const file = path.join(directory(), `${name}.${extension}`)
    fs.writeFileSync(file, Clients.program(name))
    const [command = "", ...rest] = driver
    return statusesOf(
      await Clients.run(command, [...rest, file, ...parameters], environmentOf(access), directory())
    )
  }
  return {
    name,
    skipReason,
    inSequence: (access, count) => run(access, "in-sequence", String(count)),
    concurrently: (access, count) => run(access, "concurrently", String(count)),
    create: (access, idempotencyKey) => run(access, "create", name, idempotencyKey)
  }
}

const curlLibrary = (directory: () => string): Library => {
  const run = async (access: Access, program: string, environment: NodeJS.ProcessEnv = {}) => {
    // The program from the page, plus a curl option that prints the status after the body.
    const command = Clients.program(program).replace("curl ", "curl -w '\\n%{http_code}' ")
    const { stderr, stdout } = await Clients.run(
      "sh",
      ["-c", command],
      { ...environmentOf(access), ...environment },
      directory()
    )
    return statusesOf({ status: 0, stdout: `[${/\d+$/.exec(stdout)?.[0] ?? stderr}]`, stderr })
  }
  const list = (access: Access) => run(access, "curl-list")
  return {
    name: "curl",
    skipReason: Clients.isAvailable("curl", "--version") ? undefined : "curl is not installed",
    inSequence: async (access, count) => {
      const statuses: Array<number> = []
      while (statuses.length < count) statuses.push(...(await list(access)))
      return statuses
    },
    concurrently: async (access, count) =>
      (await Promise.all(Array.from({ length: count }, () => list(access)))).flat(),
    create: (access, idempotencyKey) => run(access, "curl-create", { IDEMPOTENCY_KEY: idempotencyKey })
  }
}

const javascript = [process.execPath, path.join(here, "RetryDriver.fixture.ts")]

const hasUrllib3 = Clients.isAvailable("python3", "-c", "import urllib3; assert urllib3.__version__ >= '2'")

/** Returns all libraries; `directory` returns the directory for their programs. */
export const libraries = (directory: () => string): ReadonlyArray<Library> => [
  moduleLibrary(directory, "got", "mjs", javascript),
  moduleLibrary(directory, "ky", "mjs", javascript),
  moduleLibrary(directory, "axios-retry", "mjs", javascript),
  moduleLibrary(directory, "undici", "mjs", javascript),
  curlLibrary(directory),
  moduleLibrary(
    directory,
    "urllib3",
    "py",
    ["python3", path.join(here, "retry_driver.py")],
    hasUrllib3 ? undefined : "Python with urllib3 2 or later is not installed"
  )
]
