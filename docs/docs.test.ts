import { existsSync, readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import config from "../.config/dependency-cruiser.cjs"
import * as ServiceOptions from "../core/service/ServiceOptions.ts"
import { anchorsOf } from "./Anchors.fixture.ts"

const root = new URL("../", import.meta.url)
const read = (file: string): string => readFileSync(new URL(file, root), "utf8")

const pages = [
  "README.md",
  ".github/CONTRIBUTING.md",
  ".github/SECURITY.md",
  ...readdirSync(new URL("docs/", root), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
    .map((name) => `docs/${name}`)
]

describe("documentation", () => {
  it.each(pages)("links in %s only to files that exist", (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(
      (match) => match[1] ?? ""
    )
    const missing = links.filter((link) => !existsSync(new URL(link, new URL(page, root))))
    expect(missing).toEqual([])
  })

  it.each(pages)("links in %s only to headings that exist", (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]*)#([^)]*)\)/g)]
    const dead = links.filter(([, file = "", anchor = ""]) => {
      const target = file === "" ? page : new URL(file, new URL(page, root)).href.slice(root.href.length)
      return target.endsWith(".md") && !anchorsOf(read(target)).includes(anchor)
    })
    expect(dead.map(([link]) => link)).toEqual([])
  })

  it.each(pages)(
    "prints in %s no request with a fixed Idempotency-Key, which a client would send twice",
    (page) => {
      const keys = [...read(page).matchAll(/^.*["']Idempotency-Key["']?: ?(.*)$/gim)]
      expect(
        keys.filter(([, value = ""]) => !/\$|uuid|idempotency_?key/i.test(value)).map(([line]) => line)
      ).toEqual([])
    }
  )

  it("lists in conformance.md which directories each directory of the suite may import", () => {
    const rules = config.forbidden.flatMap(({ name, to }) => {
      const [, directory] = /^conformance-(\w+)-imports-lower-rooms$/.exec(name) ?? []
      const allowed = /\((.*)\)/.exec(String(to.pathNot))?.[1]?.split("|") ?? []
      return directory === undefined ? [] : [[directory, allowed.slice(1)] as const]
    })
    const rows = read("docs/conformance.md").matchAll(/^\| `(\w+)\/` \| .* \| (.*) ?\|$/gm)
    const listed = [...rows].map(([, directory, cell = ""]) => [directory, cell.match(/\w+/g) ?? []] as const)
    expect(new Map(listed)).toEqual(new Map(rules))
  })

  it("names only existing source files in life-of-a-request.md", () => {
    const files = [...read("docs/life-of-a-request.md").matchAll(/`((?:core|adapters)\/[^`]+\.ts)`/g)].map(
      (match) => match[1] ?? ""
    )
    expect(files.length).toBeGreaterThan(20)
    expect(files.filter((file) => !existsSync(new URL(file, root)))).toEqual([])
  })

  it.each(["core", "adapters", "conformance", "bench", "docs"])(
    "lists the directories of %s in the map of decisions/README.md",
    (topDirectory) => {
      const [, map = ""] = read("docs/decisions/README.md").split("## The map")
      const [, section = ""] = new RegExp(`^${topDirectory}/.*\n((?: .*\n)*)`, "m").exec(map) ?? []
      const listed = [...section.matchAll(/^ {2}([\w-]+)\/ /gm)].map(([, name = ""]) => name)
      const directories = readdirSync(new URL(`${topDirectory}/`, root), { withFileTypes: true })
        .filter(
          (entry) => entry.isDirectory() && entry.name !== "node_modules" && !entry.name.startsWith(".")
        )
        .map(({ name }) => name)
      expect(listed.toSorted()).toEqual(directories.toSorted())
    }
  )

  it("names every option of the service in embedding.md", () => {
    const page = read("docs/embedding.md")
    const unnamed = Object.keys(ServiceOptions.defaults).filter((option) => !page.includes(`| \`${option}\``))
    expect(unnamed).toEqual([])
  })
})

describe("the reading order in CONTRIBUTING.md", () => {
  it("names only existing files and directories", () => {
    const [, section = ""] =
      /^## Read in this order$([\s\S]*?)^## /m.exec(read(".github/CONTRIBUTING.md")) ?? []
    const places = [...section.matchAll(/`((?:core|adapters)\/[^`]+)`/g)].map(([, place = ""]) => place)
    expect(places.length).toBeGreaterThan(4)
    expect(places.filter((place) => !existsSync(new URL(place, root)))).toEqual([])
  })
})

describe("the pages about embedding", () => {
  it.each([
    ["embedding", "node-http"],
    ["embedding", "express"],
    ["embedding", "fastify"],
    ["embedding", "hono"],
    ["embedding", "pino"],
    ["embedding", "accounts"],
    ["effect", "effect"],
    ["own-operations", "orders"]
  ])("contain, in %s.md, the program of the recipe for %s", (page, name) => {
    const program = read(`docs/recipes/${name}/main.mjs`)
    expect(read(`docs/${page}.md`)).toContain(`\n\`\`\`js\n${program}\`\`\`\n`)
  })

  it.each(["app/v1/[...path]/route.js", "store.mjs", "instrumentation.js", "next.config.mjs"])(
    "contain the file %s of the recipe for Next.js",
    (file) => {
      const program = read(`docs/recipes/next/${file}`)
      expect(read("docs/embedding.md")).toContain(`\n\`\`\`js\n${program}\`\`\`\n`)
    }
  )
})
