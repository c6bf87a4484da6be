/** Checks that Spectral (all OpenAPI rules except two) and Redocly (recommended rules) accept the OpenAPI document. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, describe, expect, it } from "vitest"
import * as OpenApi from "../../core/openapi/OpenApi.ts"
import * as Operations from "../../core/operations/Operations.ts"
import * as ServiceOptions from "../../core/service/ServiceOptions.ts"
import { describeInstalled } from "../Packages.fixture.ts"

const here = fileURLToPath(new URL(".", import.meta.url))

const programs = {
  spectral: path.join(here, "node_modules/@stoplight/spectral-cli/dist/index.js"),
  redocly: path.join(here, "node_modules/@redocly/cli/bin/cli.js")
}

const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-lint-"))
afterAll(() => fs.rmSync(directory, { recursive: true, force: true }))

const json = (given: Partial<ServiceOptions.ServiceOptions>): string =>
  OpenApi.json({ ...ServiceOptions.defaults, ...given }, Operations.all)

/** Runs a linter, and returns each finding as JSON text that names the rule; throws if there is no report. */
const lint = (tool: keyof typeof programs, document: string): ReadonlyArray<string> => {
  const file = path.join(fs.mkdtempSync(path.join(directory, "document-")), "openapi.json")
  fs.writeFileSync(file, document)
  const parameters = {
    spectral: [
      "lint",
      "--ruleset",
      path.join(here, "spectral.yaml"),
      "--format",
      "json",
      "--fail-severity",
      "hint",
      file
    ],
    redocly: ["lint", "--extends", "recommended", "--format", "json", file]
  }
  const { stderr, stdout } = spawnSync(process.execPath, [programs[tool], ...parameters[tool]], {
    // No configuration of another project is found in this directory, and the variables disable telemetry.
    cwd: directory,
    env: { ...process.env, NO_COLOR: "1", REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
    encoding: "utf8"
  })
  const start = stdout.search(/[[{]/)
  expect(start, `${tool} wrote no JSON: ${stdout} ${stderr}`).toBeGreaterThanOrEqual(0)
  const report: unknown = JSON.parse(
    stdout.slice(start, stdout.lastIndexOf(tool === "spectral" ? "]" : "}") + 1)
  )
  const findings = tool === "spectral" ? report : Reflect.get(Object(report), "problems")
  if (!Array.isArray(findings)) throw new Error(`${tool} wrote an unexpected report: ${stdout}`)
  return findings.map((finding: unknown) =>
    JSON.stringify([Reflect.get(Object(finding), "code") ?? Reflect.get(Object(finding), "ruleId"), finding])
  )
}

const variants: ReadonlyArray<readonly [name: string, options: Partial<ServiceOptions.ServiceOptions>]> = [
  ["with default options", {}],
  ["with the `strict` option", { strict: true }],
  [
    "with a public and a staging address",
    { publicBaseUrl: "https://a.example.org/v1", stagingBaseUrl: "https://b.example.org/v1" }
  ],
  ["without standard headers", { standardHeaders: false }],
  ["without idempotency keys", { idempotencyKeys: false }],
  ["with a deprecation page", { deprecationUrl: "https://docs.example.org" }]
]

describeInstalled("docs/document-lint", "linters of the document", () => {
  describe.each(["spectral", "redocly"] as const)("%s", (tool) => {
    it.each(variants)("finds no problem in the document %s", (_, options) => {
      expect(lint(tool, json(options))).toEqual([])
    })

    it("finds an unused component and a missing license or contact", () => {
      const { info, ...rest } = JSON.parse(json({}))
      const { license: _, contact: __, ...bare } = info
      const unused = {
        ...rest.components,
        schemas: { ...rest.components.schemas, Unused: { type: "string" } }
      }
      const broken = lint(tool, JSON.stringify({ ...rest, info: bare, components: unused }))
      expect(broken.join()).toMatch(/unused-component/)
      expect(broken.join()).toMatch(/info-(?:contact|license)/)
    })
  })
})
