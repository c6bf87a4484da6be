/** Runs the commands of README.md and of the guides with other ports, keys and databases. */
import { spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import * as readline from "node:readline"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, it, onTestFinished } from "vitest"
import * as CommandLine from "../adapters/cli/CommandLine.fixture.ts"
import { commandsOf, createDirectory, describeWith, read, root, shell } from "./Pages.fixture.ts"
import { programOf, save } from "./Programs.fixture.ts"

/** Creates a directory and an environment in which `animal-store` and `npx animal-store` run the source code. */
const createShell = () => {
  const directory = createDirectory()
  const programs = path.join(directory, "bin")
  fs.mkdirSync(programs)
  const saveScript = (name: string, lines: ReadonlyArray<string>): void =>
    fs.writeFileSync(path.join(programs, name), ["#!/bin/sh", ...lines, ""].join("\n"), { mode: 0o755 })
  saveScript("animal-store", [`exec '${process.execPath}' '${root}adapters/cli/main.ts' "$@"`])
  saveScript("npx", [
    'while :; do case "$1" in animal-store*) break ;; esac; shift; done',
    'shift; exec animal-store "$@"'
  ])
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("ANIMAL_STORE_"))
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(inherited),
    PATH: `${programs}:${process.env.PATH}`,
    NO_COLOR: "1",
    ANIMAL_STORE_DRAIN: "0"
  }
  return { directory, env }
}

type Shell = ReturnType<typeof createShell>

/** Runs shell commands, and returns their standard output; fails if a command fails, or after four minutes. */
const run = ({ env, directory }: Shell, commands: ReadonlyArray<string>): string => {
  const { status, stderr, stdout } = spawnSync("sh", ["-ec", commands.join("\n")], {
    cwd: directory,
    env,
    encoding: "utf8",
    timeout: 240_000
  })
  expect({ status, stdout, stderr }).toMatchObject({ status: 0 })
  return stdout
}

/** Returns a function that runs an `animal-store` command in the test process, on a database in a new directory. */
const createCommandLine = () => {
  const env = { ANIMAL_STORE_DATABASE: `sqlite:${path.join(createDirectory(), "animal-store.db")}` }
  return async (command: string): Promise<string> => {
    const words = shell(command.replace(/^animal-store/, "printf '%s\\n'"))
      .stdout.trimEnd()
      .split("\n")
    const { code, stderr, stdout } = await CommandLine.run(words, env)
    expect({ code, stderr }).toMatchObject({ code: 0 })
    return stdout
  }
}

interface Greeting {
  /** The address that controls the test clock, if the server has one. */
  readonly clock?: string
  readonly url: string
  readonly admin?: { readonly url: string; readonly token: string }
  readonly keys: ReadonlyArray<{ readonly id: string; readonly plan: string; readonly key: string }>
}

/** Runs a serve command, but with free ports, JSON output and a database in memory; stops it after the test. */
const serve = async (shell: Shell, command: string): Promise<Greeting> => {
  const missing = ["--json", "--database memory:"].filter((flag) => !command.includes(flag))
  const adapted = `${command.replaceAll(/(port) [0-9]+/g, "$1 0")} ${missing.join(" ")}`
  const { errors, line } = await startUntilLine(shell, adapted)
  const [clock] = /http:\S+\/clock/.exec(errors) ?? []
  return { ...JSON.parse(line), ...(clock === undefined ? {} : { clock }) }
}

/** Starts a shell command, and returns its first line and its error output so far; stops it after the test. */
const startUntilLine = async ({ directory, env }: Shell, command: string) => {
  const program = spawn("sh", ["-c", `exec ${command}`], {
    cwd: directory,
    env,
    stdio: ["ignore", "pipe", "pipe"]
  })
  onTestFinished(
    () =>
      new Promise((resolve) => {
        program.once("close", () => resolve())
        program.kill()
      })
  )
  let errors = ""
  program.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text
  })
  for await (const line of readline.createInterface({ input: program.stdout })) return { line, errors }
  throw new Error(`${command} printed nothing: ${errors}`)
}

/** Returns the names and categories of the animals in a SQLite file. */
const animalsIn = (shell: Shell, file: string) => {
  const database = new DatabaseSync(path.join(shell.directory, file), { readOnly: true, readBigInts: true })
  const rows = database.prepare("SELECT * FROM pets").all()
  database.close()
  return rows
}

describe("README.md and docs/using.md", { timeout: 300_000 }, () => {
  it("have commands that start a server, list animals, create one, and repeat a creation without a duplicate", async () => {
    const [install, start = ""] = commandsOf("start")
    expect(install).toBe("npm ci") // .ci/run begins with it
    const { env } = createShell()
    // Without this level, npm first prints the script that it runs.
    const shell: Shell = { directory: root, env: { ...env, npm_config_loglevel: "silent" } }
    const { keys, url } = await serve(shell, `${start} -- --port 0 --issue-key free`)
    const key = keys[0]?.key ?? ""

    const [, curl = "", printed = ""] = /^```console\n\$ (.*)\n([\s\S]*?)^```$/m.exec(read("README.md")) ?? []
    const command = curl
      .replace(/ast_\w+/, key)
      .replace("http://127.0.0.1:3000/v1", url)
      .replace("curl", "curl --silent")
    expect(shapeOf(run(shell, [command]))).toEqual(shapeOf(printed))

    const [exported = ""] = commandsOf("apikey")
    const send = (commands: ReadonlyArray<string>): string =>
      run(shell, [
        exported.replace(/=.*/, `=${key}`),
        ...commands.map((line) => line.replace("http://127.0.0.1:3000/v1", url))
      ])
    const [, returned = ""] = /^The response is 201 with `(.*)`/m.exec(read("docs/using.md")) ?? []
    expect(send(commandsOf("create"))).toBe(returned)
    expect(send(commandsOf("list"))).toMatch(/^HTTP\/1\.1 200 /)
    expect(send(commandsOf("list"))).toContain(`[${returned}]`)
    // Pasted again, the commands create another animal.
    for (const id of [2, 3]) {
      const [, first = "", second] = send(commandsOf("repeat")).split("HTTP/1.1 201 ")
      expect(first).toContain(`"id":${id},`)
      expect(first).not.toContain("Idempotency-Replayed")
      expect(second).toContain(`"id":${id},`)
      expect(second).toContain("Idempotency-Replayed: true\r\n")
    }
  })

  it("have a serve command that lets web pages from two other origins read responses", async () => {
    const [command = ""] = commandsOf("cors")
    const { url } = await serve(createShell(), command)
    for (const origin of command.match(/https?:\S+/g) ?? []) {
      const { headers } = await fetch(`${url}/pets`, { headers: { Origin: origin } })
      expect(headers.get("Access-Control-Allow-Origin")).toBe(origin)
    }
  })
})

/**
 * Returns the parts of an HTTP response that do not depend on time, key or request: header names in order, and fixed
 * values.
 */
const shapeOf = (response: string) => {
  const [head = "", body] = response.replaceAll("\r", "").trimEnd().split("\n\n")
  const varying = /^(Date|X-RateLimit-Reset|RateLimit|X-Request-Id): .*$/gm
  return { head: head.replaceAll(varying, "$1"), body }
}

describe("docs/embedding.md", { timeout: 300_000 }, () => {
  it("has a command that runs a program with an option of Node", async () => {
    const [command = ""] = commandsOf("pretenuring")
    const program = programOf("README.md", "openAnimalStore")
      .replace(/sqlite:[^"]*/, "memory:")
      .replace(/listen\(\d+/, "listen(0")
    const directory = path.dirname(save("server.mjs", `${program}\nconsole.log(process.execArgv.join())\n`))
    const { line } = await startUntilLine({ directory, env: createShell().env }, command)
    expect(command).toContain(` ${line} `)
  })
})

describe("docs/operating.md", { timeout: 300_000 }, () => {
  it("has a serve command that prints the fields and plans that the page shows", async () => {
    const [command = ""] = commandsOf("serve")
    const { keys } = await serve(createShell(), command)
    const [, shown = ""] = /^```json\n(.*)\n```$/m.exec(read("docs/operating.md")) ?? []
    const printed: Greeting = JSON.parse(shown)
    expect(keys.map((key) => Object.keys(key))).toEqual(printed.keys.map((key) => Object.keys(key)))
    expect(keys.map(({ plan }) => plan)).toEqual(printed.keys.map(({ plan }) => plan))
  })

  it("has commands that issue, list, change, unban, rotate and revoke keys", async () => {
    const runCommand = createCommandLine()
    const [issue = "", ...others] = commandsOf("keys")
    const [id = ""] = /key_\w+/.exec(await runCommand(issue)) ?? []
    let printed = ""
    for (const line of others) printed += await runCommand(line.replace(/key_\w+/, id))
    expect(printed).toContain("shop front")
    for (const action of ["changed", "unbanned", "rotated", "revoked"]) expect(printed).toContain(action)
  })
})

describe("docs/console.md", { timeout: 300_000 }, () => {
  it("has commands that issue, list and revoke a token, and a request for keys", async () => {
    const runCommand = createCommandLine()
    const [issue = "", ...others] = commandsOf("admin")
    const [id = ""] = /adm_\w+/.exec(await runCommand(issue)) ?? []
    let printed = ""
    for (const line of others) printed += await runCommand(line.replace(/adm_\w+/, id))
    expect(printed).toMatch(/Z {2}active, expires at .*Z {2}ada\nRevoked adm_/)

    const shell = createShell()
    const { admin } = await serve(shell, "animal-store serve --port 0 --admin-port 0")
    const requests = commandsOf("adminapi").map((line) =>
      line.replace("http://127.0.0.1:9464", admin?.url ?? "").replace("$TOKEN", admin?.token ?? "")
    )
    expect(JSON.parse(run(shell, requests))).toEqual({ keys: [], next: null })
  })
})

describe("docs/moving-data.md", { timeout: 300_000 }, () => {
  it("has commands that export, import and copy the animals in a database", () => {
    const shell = createShell()
    const animal = '{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"sold"}\n'
    fs.writeFileSync(path.join(shell.directory, "one.ndjson"), animal)
    run(shell, ["animal-store import one.ndjson"])
    run(
      shell,
      commandsOf("move").map((line) => line.replace(/postgres:\S+/, "sqlite:./copy.db"))
    )
    expect(fs.readFileSync(path.join(shell.directory, "animals.ndjson"), "utf8")).toBe(animal)
    for (const file of ["new.db", "copy.db"]) {
      expect(animalsIn(shell, file)).toEqual([
        expect.objectContaining({ id: 1n, name: "Rex", category_id: 2n ** 63n - 1n, status: "sold" })
      ])
    }
  })
})

describeWith(["sqlite3"], "the sqlite3 backup command of docs/operating.md", () => {
  it("creates a database that contains the animal", { timeout: 300_000 }, () => {
    const shell = createShell()
    fs.writeFileSync(path.join(shell.directory, "one.ndjson"), '{"name":"Rex","categoryId":7}\n')
    run(shell, ["animal-store import one.ndjson", ...commandsOf("vacuum")])
    expect(animalsIn(shell, "backup.db")).toEqual([expect.objectContaining({ id: 1n, name: "Rex" })])
  })
})

describe("docs/conformance.md", { timeout: 300_000 }, () => {
  it("has commands that test a server with one key, and that write a report in a pipeline", async () => {
    const shell = createShell()
    // With a higher limit and a test clock, the suite does not have to wait.
    const [serveAll = ""] = commandsOf("subject")
    const { clock, keys, url } = await serve(shell, serveAll.replace("=1000,", "=100000,"))
    const [main = "", tiny = ""] = keys.map(({ key }) => key)
    const env = {
      ...shell.env,
      ...{ ANIMAL_KEY: main, MAIN_KEY: main, TINY_KEY: tiny },
      ANIMAL_STORE_CLOCK: clock,
      // Other tests run all checks against this project's server.
      ANIMAL_STORE_ONLY: "auth.*"
    }
    const [, conformance = ""] = commandsOf("conformance")
    const printed = run({ ...shell, env }, [`${conformance.replace(/http:\S+/, url)} || test $? = 3`])
    expect(printed).toMatch(/[1-9] of \d+ checks decided/)
    expect(printed).not.toContain("NOT CONFORMANT")
    const [settings = "", pipeline = ""] = commandsOf("pipeline")
    run({ ...shell, env }, [settings.replace(/http:\S+/, url).replace(":5:1000", ":5:40"), pipeline])
    expect(fs.existsSync(path.join(shell.directory, "conformance-report/report.json"))).toBe(true)
  })
})
