/** Tests the Containerfile of the suite by parsing it, without a container engine. */
import * as fs from "node:fs"
import { describe, expect, it } from "vitest"
import { instructionsOf } from "../docs/deploying/Instructions.fixture.ts"

const root = new URL("../", import.meta.url)
const read = (file: string): string => fs.readFileSync(new URL(file, root), "utf8")

const instructions = instructionsOf(read("conformance/Containerfile"))

const textsOf = (keyword: string): ReadonlyArray<string> =>
  instructions.filter((instruction) => instruction.keyword === keyword).map(({ text }) => text)

describe("the Containerfile of the suite", () => {
  it("has only known instructions", () => {
    const known = "CMD COPY ENTRYPOINT FROM RUN USER VOLUME WORKDIR".split(" ")
    expect(instructions.filter(({ keyword }) => !known.includes(keyword))).toEqual([])
  })

  it("builds and runs on the Node version that the repository pins", () => {
    const { version } = JSON.parse(read(".config/node/package.json"))
    expect(textsOf("FROM")).toEqual([
      `node:${version}-bookworm-slim AS build`,
      `node:${version}-bookworm-slim`
    ])
  })

  it("documents an image tag with the version of the package", () => {
    expect(read("conformance/Containerfile")).toContain(
      `animal-store-conformance:${JSON.parse(read("package.json")).version} `
    )
  })

  it("copies only existing files", () => {
    const sources = textsOf("COPY").flatMap((text) =>
      text.startsWith("--from=") ? [] : text.split(" ").slice(0, -1)
    )
    expect(sources.filter((source) => !fs.existsSync(new URL(source, root)))).toEqual([])
  })

  it("excludes git data, secrets, databases and installed packages from the build context", () => {
    const ignored = read("conformance/Containerfile.dockerignore").split("\n")
    expect(ignored).toEqual(expect.arrayContaining([".git", "secrets", "data", "**/node_modules"]))
  })

  it("installs the package's command, and does not run as root", () => {
    const { bin } = JSON.parse(read("package.json"))
    expect(textsOf("RUN").at(-1)).toContain(
      `ln -s /opt/animal-store/${bin["animal-store"].slice(2)} /usr/local/bin/animal-store `
    )
    const last = instructions.findLastIndex(({ keyword }) => keyword === "USER")
    expect(instructions[last]?.text).toBe("node")
    expect(instructions.slice(last).filter(({ keyword }) => keyword === "RUN")).toEqual([])
  })

  it("passes its arguments to the suite, without a shell", () => {
    expect(JSON.parse(textsOf("ENTRYPOINT")[0] ?? "")).toEqual(["animal-store", "conformance"])
  })
})
