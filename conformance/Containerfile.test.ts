/** Tests the Containerfile of the suite by parsing it, without a container engine. */
import * as fs from "node:fs"
import { describe, expect, it } from "vitest"
import { instructionsOf } from "../docs/deploying/Instructions.fixture.ts"

const root = new URL("../", import.meta.url)
const read = (file: string): string => fs.readFileSync(new URL(file, root), "utf8")

const instructions = instructionsOf(read("conformance/Containerfile"))

const all = (keyword: string): ReadonlyArray<string> =>
  instructions.filter((instruction) => instruction.keyword === keyword).map(({ text }) => text)

describe("the Containerfile of the suite", () => {
  it("has only known instructions", () => {
    const known = "CMD COPY ENTRYPOINT FROM RUN USER VOLUME WORKDIR".split(" ")
    expect(instructions.filter(({ keyword }) => !known.includes(keyword))).toEqual([])
  })

  it("builds and runs on the pinned Node of the repository", () => {
    const { version } = JSON.parse(read(".config/node/package.json"))
    expect(all("FROM")).toEqual([`node:${version}-bookworm-slim AS build`, `node:${version}-bookworm-slim`])
    expect(read("conformance/Containerfile")).toContain(
      `animal-store-conformance:${JSON.parse(read("package.json")).version} `
    )
  })

  it("copies only existing files, and sends the engine only the files that the build reads", () => {
    const sources = all("COPY").flatMap((text) =>
      text.startsWith("--from=") ? [] : text.split(" ").slice(0, -1)
    )
    expect(sources.filter((source) => !fs.existsSync(new URL(source, root)))).toEqual([])
    const ignored = read("conformance/Containerfile.dockerignore").split("\n")
    expect(ignored).toEqual(expect.arrayContaining([".git", "secrets", "data", "**/node_modules"]))
  })

  it("installs the command of the package, and does not run as root", () => {
    const { bin } = JSON.parse(read("package.json"))
    expect(all("RUN").at(-1)).toContain(
      `ln -s /opt/animal-store/${bin["animal-store"].slice(2)} /usr/local/bin/animal-store `
    )
    const last = instructions.findLastIndex(({ keyword }) => keyword === "USER")
    expect(instructions[last]?.text).toBe("node")
    expect(instructions.slice(last).filter(({ keyword }) => keyword === "RUN")).toEqual([])
  })

  it("passes its arguments to the suite, without a shell", () => {
    expect(JSON.parse(all("ENTRYPOINT")[0] ?? "")).toEqual(["animal-store", "conformance"])
  })
})
