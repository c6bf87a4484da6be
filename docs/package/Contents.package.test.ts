/** What the package contains, what its installation takes, and whether other programs can compile against it. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { describe, expect, it } from "vitest"
import manifest from "../../package.json" with { type: "json" }
import { createDirectory, installation, root, run, tarball } from "./Package.fixture.ts"

/** The files that users need, apart from those in `dist`. */
const needed = [
  /^(?:package\.json|README\.md|CHANGELOG\.md|LICENSE|\.github\/[A-Z]+\.md)$/,
  /^docs\/(?:[a-z-]+\/)*[A-Za-z-]+\.(?:md|svg|png)$/,
  /^docs\/conformance\/config\.schema\.json$/,
  /^docs\/recipes\/[a-z-]+\/(?:main\.mjs|express\.mjs|start\.mjs|config\.capnp|package\.json)$/,
  /^docs\/recipes\/next\/(?:(?:store|next\.config)\.mjs|instrumentation\.js|app\/v1\/\[\.\.\.path\]\/route\.js)$/,
  /^docs\/deploying\/(?:[A-Z][a-z]+|[A-Za-z.-]+\.(?:service|timer|sh|ya?ml|conf|json|dockerignore))$/
]

const built =
  /^dist\/(?!conformance\/selftest)(?:[^.]+(?:\.js|\.d\.ts)|adapters\/pages\/(?:client|@knadh\/oat(?:\/css)?|lit-html|swagger-ui-dist)\/[A-Za-z\d.-]+)$/

/** A module for each entry point; the compiler must find a name for the type of each export. */
const modules: { readonly [name: string]: string } = {
  open: 'import { openAnimalStore } from "animal-store"\nexport const open = openAnimalStore',
  core: `import { KeyLifecycle, RateLimit, Service } from "animal-store/core"
export const service = Service.layer()
export const { issue, list, rotate } = KeyLifecycle
export const { step } = RateLimit`,
  http: 'import { FetchHandler } from "animal-store/http-fetch"\nexport const handler = FetchHandler.make',
  node: `import { NodeListener, NodeServer } from "animal-store/http-node"
export const server = NodeServer.make
export const listener = NodeListener.make`,
  memory: 'import { Memory } from "animal-store/memory"\nexport const { layer, layerWith } = Memory',
  sql: `import { Postgres, Sql, Sqlite } from "animal-store/sql"
export const sql = Sql.layer
export const sqlite = Sqlite.layer
export const postgres = Postgres.layer`,
  redis: 'import { Redis } from "animal-store/redis"\nexport const { layer } = Redis',
  conformance: `import { Cases, Conformance, Json } from "animal-store/conformance"
export const { cases } = Cases
export const { check, handler, ports, server } = Conformance
export const { parse } = Json`,
  vitest: 'import { suite } from "animal-store/conformance/vitest"\nexport const conformance = suite'
}

const directorySize = (directory: string): number => {
  const [size = ""] = spawnSync("du", ["-sm", directory], { encoding: "utf8" }).stdout.split("\t")
  return Number(size)
}

describe("the package", () => {
  it("contains only the built code, its types and what users read", () => {
    const { stdout } = spawnSync("tar", ["-tzf", tarball], { encoding: "utf8" })
    const files = stdout
      .trim()
      .split("\n")
      .map((name) => name.replace(/^package\//, ""))
    expect(files).toContain("dist/adapters/embed/index.js")
    expect(files.filter((name) => ![built, ...needed].some((form) => form.test(name)))).toEqual([])
  })

  it("is installed with a single copy of effect", () => {
    const { stdout } = run(installation, "npm", ["ls", "effect", "--all", "--parseable"])
    expect(new Set(stdout.trim().split("\n"))).toEqual(
      new Set([path.join(installation, "node_modules/effect")])
    )
  })

  it("takes as much disk space as embedding.md states, within 5%", () => {
    const [, text = ""] =
      /^The installation takes about (\d+) MB/m.exec(
        fs.readFileSync(path.join(root, "docs/embedding.md"), "utf8")
      ) ?? []
    const documented = Number(text)
    const installed = directorySize(path.join(installation, "node_modules"))
    expect(Math.abs(installed - documented)).toBeLessThanOrEqual(0.05 * documented)
  })

  it("has types that a module with declarations can use from one entry point", () => {
    const entryPoints = Object.entries(manifest.exports).filter(([, target]) => typeof target === "object")
    expect(Object.keys(modules)).toHaveLength(entryPoints.length)
    const directory = createDirectory()
    const files = Object.entries(modules).map(([name, code]) => {
      fs.writeFileSync(path.join(directory, `${name}.ts`), `${code}\n`)
      return path.join(directory, `${name}.ts`)
    })
    const options = ["--declaration", "--emitDeclarationOnly", "--strict", "--skipLibCheck"]
    const target = ["--module", "nodenext", "--target", "es2023", "--types", "node"]
    const types = ["--typeRoots", path.join(root, "node_modules/@types")]
    const outDir = path.join(directory, "declarations")
    const compiler = path.join(root, "node_modules/typescript/bin/tsc")
    const args = [compiler, ...options, ...target, ...types, "--outDir", outDir, ...files]
    const { status, stdout } = run(directory, process.execPath, args)
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" })
  })
})
