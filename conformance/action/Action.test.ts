/**
 * Tests the action and the workflows of docs/conformance/ci.md: parses them, and runs the script of the action as
 * GitHub does.
 */
import { execFile, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { Ajv2020 } from "ajv/dist/2020.js"
import { afterAll, describe, expect, it } from "vitest"
import { parse } from "yaml"

const root = fileURLToPath(new URL("../../", import.meta.url))
const main = path.join(root, "adapters/cli/main.ts")
const read = (file: string): string => fs.readFileSync(path.join(root, file), "utf8")

const text = { type: "string", minLength: 1 }
const step = {
  type: "object",
  properties: {
    id: text,
    if: text,
    name: text,
    shell: { enum: ["bash"] },
    env: { type: "object", additionalProperties: { type: "string" } },
    run: text,
    uses: { type: "string", pattern: "^[\\w-]+/[\\w/-]+@[0-9a-f]{40}$" },
    with: { type: "object" }
  },
  additionalProperties: false,
  // A step of a composite action either runs a script in a named shell or uses another action.
  oneOf: [{ required: ["run", "shell"] }, { required: ["uses"] }]
}
const describedItems = (extra: object, required: ReadonlyArray<string> = []) => ({
  type: "object",
  additionalProperties: {
    type: "object",
    properties: { description: text, ...extra },
    required: ["description", ...required],
    additionalProperties: false
  }
})
/**
 * The metadata syntax of composite actions, as a JSON Schema:
 * https://docs.github.com/actions/reference/workflows-and-actions/metadata-syntax
 */
const schema = {
  type: "object",
  properties: {
    name: text,
    description: text,
    inputs: describedItems({ required: { type: "boolean" }, default: { type: "string" } }),
    outputs: describedItems({ value: text }, ["value"]),
    runs: {
      type: "object",
      properties: { using: { const: "composite" }, steps: { type: "array", items: step, minItems: 1 } },
      required: ["using", "steps"],
      additionalProperties: false
    }
  },
  required: ["name", "description", "runs"],
  additionalProperties: false
}

interface Step {
  readonly id?: string
  readonly run?: string
  readonly uses?: string
  readonly env?: Readonly<Record<string, string>>
  readonly with?: Readonly<Record<string, string | number | boolean>>
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly required?: boolean; readonly default?: string }>>
  readonly runs: { readonly steps: ReadonlyArray<Step> }
}

const source = read("conformance/action/action.yml")
const action: Action = parse(source, { strict: true, uniqueKeys: true })
const inputs = Object.keys(action.inputs)

describe("the action", () => {
  it("is a valid composite action, and pins the actions that it uses by commit", () => {
    const validate = new Ajv2020({ strict: false }).compile(schema)
    validate(action)
    expect(validate.errors ?? []).toEqual([])
  })

  it("uses every declared input, and no undeclared input", () => {
    const used = [...source.matchAll(/\$\{\{ inputs\.([\w-]+) \}\}/g)].map(([, name = ""]) => name)
    expect([...new Set(used)].toSorted()).toEqual(inputs.toSorted())
  })

  it("contains no GitHub expression in a script, because the shell would execute its value", () => {
    for (const { run = "" } of action.runs.steps) expect(run).not.toContain("${{")
  })

  it("passes inputs in environment variables with the names of existing flags", () => {
    const env = action.runs.steps.find(({ id }) => id === "run")?.env ?? {}
    const command = read("adapters/cli/Conformance.ts")
    for (const name of Object.keys(env).filter((variable) => variable.startsWith("ANIMAL_STORE_"))) {
      const flag = name.replace("ANIMAL_STORE_", "").toLowerCase().replaceAll("_", "-")
      expect(command).toContain(`"${flag}"`)
    }
  })

  it("installs the current version of the package by default", () => {
    expect(action.inputs.package?.default).toBe(`animal-store@${JSON.parse(read("package.json")).version}`)
  })
})

const cleanups: Array<() => void> = []
afterAll(() => {
  for (const cleanUp of cleanups) cleanUp()
})
const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-action-"))
cleanups.push(() => fs.rmSync(directory, { recursive: true, force: true }))

/** A stub of npx that runs the sources instead of a package from the registry, and records its arguments. */
const npxStub = `#!/usr/bin/env bash
printf '%s\\n' "$@" >"$RECORDED_ARGUMENTS"
shift 4
exec "${process.execPath}" "${main}" "$@"
`
fs.writeFileSync(path.join(directory, "npx"), npxStub, { mode: 0o755 })

const startServer = () =>
  new Promise<{ readonly url: string; readonly key: string }>((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [main, "serve", "--json", "--port", "0", "--database", "memory:", "--issue-key", "business"],
      { stdio: ["ignore", "pipe", "ignore"], env: { PATH: process.env.PATH ?? "" } }
    )
    cleanups.push(() => child.kill("SIGKILL"))
    child.stdout.setEncoding("utf8").once("data", (line: string) => {
      const { keys, url } = JSON.parse(line)
      resolve({ url, key: keys[0].key })
    })
    child.once("error", reject)
  })

let runs = 0

/** Runs the script of the action with the given inputs, as GitHub does. */
const runAction = async (inputValues: Readonly<Record<string, string>>) => {
  const runDirectory = path.join(directory, String(runs++))
  fs.mkdirSync(runDirectory)
  const value = (name: string) => inputValues[name] ?? action.inputs[name]?.default ?? ""
  const { env = {}, run = "" } = action.runs.steps.find(({ id }) => id === "run") ?? {}
  const variables = Object.entries(env).map(([name, expression]) => [
    name,
    expression.replaceAll(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_all, input: string) => value(input))
  ])
  const files = ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "RECORDED_ARGUMENTS"].map(
    (name) => [name, path.join(runDirectory, name)] as const
  )
  for (const [, file] of files) fs.writeFileSync(file, "")
  fs.writeFileSync(path.join(runDirectory, "script"), run)
  const code = await new Promise<number>((resolve) => {
    execFile(
      "bash",
      ["--noprofile", "--norc", "-eo", "pipefail", path.join(runDirectory, "script")],
      {
        cwd: runDirectory,
        env: {
          PATH: `${directory}:${path.dirname(process.execPath)}:${process.env.PATH ?? ""}`,
          ...Object.fromEntries([...variables, ...files])
        }
      },
      (error) => resolve(error === null ? 0 : Number(error.code))
    )
  })
  const content = (name: string) => fs.readFileSync(path.join(runDirectory, name), "utf8")
  return {
    code,
    runDirectory,
    summary: content("GITHUB_STEP_SUMMARY"),
    output: content("GITHUB_OUTPUT"),
    recordedArguments: content("RECORDED_ARGUMENTS").split("\n")
  }
}

describe("the script of the action", () => {
  it("writes the report, the job summary and the outputs, and exits with the code of the run", async () => {
    const { key, url } = await startServer()
    const { code, recordedArguments, output, runDirectory, summary } = await runAction({
      url,
      key,
      args: "--only=list.array\n\n--only=create.concurrent",
      implementation: "Shop",
      "implementation-version": "2.1"
    })
    expect(code).toBe(0)
    expect(recordedArguments.slice(0, 5)).toEqual([
      "--yes",
      "--package",
      "animal-store@0.1.0",
      "animal-store",
      "conformance"
    ])
    expect(summary).toMatch(/^\n(?: {4}.*\n)+$/)
    expect(summary).toContain("SELECTION PASSED")
    expect(output).toMatch(/^verdict=selection-passed\nclaims=\n$/)
    expect(fs.readdirSync(path.join(runDirectory, "conformance-report"))).toEqual(
      expect.arrayContaining(["badge.svg", "exchanges.har", "report.html", "report.json", "report.txt"])
    )
    for (const name of fs.readdirSync(path.join(runDirectory, "conformance-report"))) {
      expect(fs.readFileSync(path.join(runDirectory, "conformance-report", name), "utf8")).not.toContain(key)
    }
  }, 600_000)

  it("fails if the suite fails, and never executes the text of an input", async () => {
    const injection = `$(touch injected)\`touch injected\`"; touch injected; "`
    const { code, output, runDirectory } = await runAction({
      url: `http://127.0.0.1:1/v1${injection}`,
      key: injection,
      args: injection,
      implementation: injection,
      wait: "0s"
    })
    expect(code).toBeGreaterThan(0)
    expect(output).toBe("")
    expect(fs.existsSync(path.join(runDirectory, "injected"))).toBe(false)
  }, 600_000)
})

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<
    Record<string, { readonly "timeout-minutes": number; readonly steps: ReadonlyArray<Step> }>
  >
}

const workflows = [
  ...read("docs/conformance/ci.md").matchAll(/^## ([^\n]+)\n[^`]*```yaml\n([\s\S]*?)^```$/gm)
].map(([, title = "", code = ""]) => ({ title, code }))

describe("the workflows in the docs", () => {
  it("cover Go, Python and Java", () => {
    expect(workflows.map(({ title }) => title)).toEqual(["Go", "Python", "Java"])
  })

  it.each(workflows)(
    "pass all required inputs, and only declared inputs, to the action ($title)",
    ({ code }) => {
      const { jobs, permissions }: Workflow = parse(code, { strict: true, uniqueKeys: true })
      expect(permissions).toEqual({ contents: "read" })
      for (const job of Object.values(jobs)) {
        expect(job["timeout-minutes"]).toBeGreaterThan(0)
        const [actionStep] = job.steps.filter(({ uses = "" }) =>
          uses.includes("/animal-store/conformance/action@")
        )
        const givenNames = Object.keys(actionStep?.with ?? {})
        expect(givenNames.filter((name) => !inputs.includes(name))).toEqual([])
        expect(
          inputs.filter((name) => action.inputs[name]?.required === true && !givenNames.includes(name))
        ).toEqual([])
        // The server continues in the background, with its output in a file, so that the step can end.
        expect(job.steps.some(({ run = "" }) => />server\.log 2>&1 &\s*$/.test(run))).toBe(true)
        for (const { run = "" } of job.steps) expect(run).not.toContain("${{")
      }
    }
  )
})
