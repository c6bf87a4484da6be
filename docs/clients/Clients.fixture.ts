/** Reads the programs of docs/clients.md, and provides a directory and a server to run them. */
import { execFile, spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../", import.meta.url))
const here = fileURLToPath(new URL(".", import.meta.url))

const page = fs.readFileSync(path.join(root, "docs/clients.md"), "utf8")

const programs = new Map(
  [...page.matchAll(/^<!-- run: ([\w-]+) -->\n```\w+\n([\s\S]*?)^```$/gm)].map(([, name = "", code = ""]) => [
    name,
    code
  ])
)

/** Returns the program with this name on the page; throws an error if there is no such program. */
export const program = (name: string): string => {
  const code = programs.get(name)
  if (code === undefined) throw new Error(`docs/clients.md has no program ${name}`)
  return code
}

/** The names of all programs on the page. */
export const names: ReadonlyArray<string> = [...programs.keys()]

/** The code blocks on the page without a name, which no test runs. */
export const unnamed: ReadonlyArray<string> = [
  ...page
    .replaceAll(/^<!-- run: [\w-]+ -->\n```\w+\n[\s\S]*?^```$/gm, "")
    .matchAll(/^```\w*\n([\s\S]*?)^```$/gm)
].map(([, code = ""]) => code)

/** The rows of the page's table of default settings: the name of a library and a description of its retries. */
export const rows: ReadonlyArray<ReadonlyArray<string>> = [...page.matchAll(/^\| (.+) \| (.+) \|$/gm)].map(
  ([, name = "", retries = ""]) => [name, retries]
)

/** Creates a directory below this one, so that programs in it find the packages. The caller removes it. */
export const createDirectory = (): string => fs.mkdtempSync(path.join(here, ".programs-"))

/** The exit status and the output of a program. */
export interface ProcessResult {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program with a timeout of two minutes; the status is -1 if it cannot start or is killed. */
export const run = (
  command: string,
  parameters: ReadonlyArray<string>,
  environment: NodeJS.ProcessEnv,
  cwd: string
): Promise<ProcessResult> =>
  new Promise((resolve) => {
    execFile(
      command,
      parameters,
      { cwd, env: { ...process.env, NO_COLOR: "1", ...environment }, timeout: 120_000, maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => {
        const status = error === null ? 0 : typeof error.code === "number" ? error.code : -1
        resolve({ status, stdout, stderr })
      }
    )
  })

/** Compiles TypeScript files in strict mode to JavaScript next to them, and returns the error messages. */
export const compile = async (
  directory: string,
  files: ReadonlyArray<string>
): Promise<ReadonlyArray<string>> => {
  fs.writeFileSync(
    path.join(directory, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        target: "es2023",
        lib: ["es2023", "dom", "dom.iterable"],
        module: "nodenext",
        types: ["node"],
        strict: true,
        noUncheckedIndexedAccess: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: true
      },
      files
    })
  )
  const tsc = path.join(here, "node_modules/typescript/bin/tsc")
  const { stdout } = await run(process.execPath, [tsc, "--pretty", "false", "-p", directory], {}, directory)
  return stdout.split("\n").filter((line) => line.includes(": error "))
}

/** Returns the suffix for the title of a test that may be skipped, and warns if it is; empty without a reason. */
export const skipSuffix = (name: string, reason: string | undefined): string => {
  if (reason === undefined) return ""
  console.warn(`${name} is skipped: ${reason}`)
  return ` (skipped: ${reason})`
}

/** Whether a command exists on this machine and exits with status 0 within 30 seconds. */
export const isAvailable = (command: string, ...parameters: ReadonlyArray<string>): boolean =>
  spawnSync(command, parameters, { encoding: "utf8", timeout: 30_000 }).status === 0

/** A line of the access log. */
export interface Logged {
  readonly key: string
  readonly method: string
  readonly status: number
  readonly code?: string
}

/** A running `animal-store serve`. */
export interface Server {
  readonly url: string
  readonly keys: ReadonlyArray<{ readonly id: string; readonly key: string }>
  /** Returns the entries in the access log, one for each response so far. */
  readonly log: () => ReadonlyArray<Logged>
  readonly stop: () => Promise<void>
}

/**
 * Starts a server with an in-memory database and one key for each plan, such as `enterprise:perMinute=6,perDay=1000`.
 */
export const serve = async (plans: ReadonlyArray<string>): Promise<Server> => {
  const server = spawn(
    process.execPath,
    [
      path.join(root, "adapters/cli/main.ts"),
      ...["serve", "--json", "--port", "0", "--database", "memory:", "--access-log", "--log-format", "json"],
      ...plans.flatMap((plan) => ["--issue-key", plan])
    ],
    { env: { ...process.env, ANIMAL_STORE_DRAIN: "0" }, stdio: ["ignore", "pipe", "pipe"] }
  )
  const exit = new Promise<void>((resolve) => server.once("exit", () => resolve()))
  let logged = ""
  server.stderr.setEncoding("utf8").on("data", (text: string) => {
    logged += text
  })
  const greeting = await new Promise<string>((resolve, reject) => {
    let text = ""
    server.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk
      if (text.endsWith("\n")) resolve(text)
    })
    void exit.then(() => reject(new Error(`the server exited: ${logged}`)))
  })
  return {
    ...JSON.parse(greeting),
    log: () =>
      logged
        .split("\n")
        .filter((line) => line.includes('"message":"response"'))
        .map((line) => JSON.parse(line)),
    stop: () => {
      server.kill("SIGTERM")
      return exit
    }
  }
}

/** Parses JSON with all numbers as text, so that no digit is lost. */
export const parseExactly = (json: string) =>
  JSON.parse(json, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" ? (context?.source ?? value) : value
  )

/** Sends a GET request with an API key. */
export const get = (url: string, key: string): Promise<Response> =>
  fetch(url, { headers: { Authorization: `Bearer ${key}` } })

/** Creates an animal; `categoryId` is the text of an integer. Throws unless the response is a 201. */
export const createAnimal = async (server: Server, name: string, categoryId: string): Promise<void> => {
  const response = await fetch(`${server.url}/pets`, {
    method: "POST",
    headers: { Authorization: `Bearer ${server.keys[0]?.key}`, "Content-Type": "application/json" },
    body: `{"name":${JSON.stringify(name)},"categoryId":${categoryId}}`
  })
  if (response.status !== 201) throw new Error(await response.text())
}

/** Lists the first 100 animals, with their numbers as text. */
export const listAnimals = async (server: Server): Promise<ReadonlyArray<unknown>> => {
  const response = await get(`${server.url}/pets?limit=100`, server.keys[0]?.key ?? "")
  return parseExactly(await response.text())
}
