/** Checks the Dockerfile and the compose file by parsing them; builds no image and starts no container. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as path from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { parse } from "yaml"
import { main, run, start, stop } from "../../adapters/cli/Serve.fixture.ts"
import { openAnimalStore } from "../../adapters/embed/index.ts"
import { createDirectory, describeWith, read, root, shell } from "../Pages.fixture.ts"
import { instructionsOf } from "./Instructions.fixture.ts"

const instructions = instructionsOf(read("docs/deploying/Dockerfile"))

const textsOf = (keyword: string): ReadonlyArray<string> =>
  instructions.filter((instruction) => instruction.keyword === keyword).map(({ text }) => text)

const manifest = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"))

describe("the Dockerfile", () => {
  it("has only known instructions", () => {
    const known =
      "ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK RUN STOPSIGNAL USER VOLUME WORKDIR".split(" ")
    expect(instructions.filter(({ keyword }) => !known.includes(keyword))).toEqual([])
  })

  it("builds in one stage and runs in another, both on the repository's pinned Node", () => {
    const { version } = JSON.parse(fs.readFileSync(path.join(root, ".config/node/package.json"), "utf8"))
    expect(textsOf("FROM")).toEqual([
      `node:${version}-bookworm-slim AS build`,
      `node:${version}-bookworm-slim`
    ])
  })

  it("copies only files that exist, and links the command that package.json names", () => {
    const sources = textsOf("COPY").flatMap((text) =>
      text.startsWith("--from=") ? [] : text.split(" ").slice(0, -1)
    )
    expect(sources.filter((source) => !fs.existsSync(path.join(root, source)))).toEqual([])
    expect(textsOf("RUN").join("\n")).toContain(
      `ln -s /opt/animal-store/${path.normalize(manifest.bin["animal-store"])} `
    )
  })

  it("does not run as root, and excludes secrets and the Git history", () => {
    const last = instructions.findLastIndex(({ keyword }) => keyword === "USER")
    // Kubernetes cannot verify a name.
    expect(instructions[last]?.text).toMatch(/^[1-9]\d*:0$/)
    expect(instructions.slice(last).filter(({ keyword }) => keyword === "RUN")).toEqual([])
    const ignored = read("docs/deploying/Dockerfile.dockerignore").split("\n")
    expect(ignored).toEqual(expect.arrayContaining([".git", "secrets", "data", "**/node_modules"]))
  })

  it("has commands in exec form, so that the server receives SIGTERM", () => {
    expect([...textsOf("ENTRYPOINT"), ...textsOf("CMD")].map((text) => JSON.parse(text))).toEqual([
      ["animal-store"],
      ["serve"]
    ])
    expect(textsOf("STOPSIGNAL")).toEqual(["SIGTERM"])
  })

  it("has a health check that needs only Node, and fails while the server drains or is down", async () => {
    const [, text = "[]"] = /CMD (\[.*\])$/.exec(textsOf("HEALTHCHECK")[0] ?? "") ?? []
    const [command, ...args]: ReadonlyArray<string> = JSON.parse(text)
    expect(command).toBe("node")
    const check = async (port: number): Promise<number> => {
      const environment = { ...process.env, ANIMAL_STORE_PORT: String(port) }
      const [code] = await once(spawn(process.execPath, args, { env: environment }), "exit")
      return code
    }
    const store = await openAnimalStore()
    onTestFinished(() => store.close())
    const { port } = await store.listen({ port: 0 })
    expect(await check(port)).toBe(0)
    await store.drain(0)
    expect(await check(port)).toBe(1)
    const unused = createServer().listen(0, "127.0.0.1")
    await once(unused, "listening")
    const { port: closed } = unused.address() as AddressInfo // the address of a TCP server is neither a pipe name nor null
    await new Promise((resolve) => unused.close(resolve))
    expect(await check(closed)).toBe(1)
  })
})

/** A user that OpenShift could choose; it has no name. */
const ANY_USER = { uid: 1_000_710_000, gid: 0 }

const problem = (() => {
  if (process.getuid?.() !== 0) return "needs root"
  const attempt = spawnSync(process.execPath, ["-e", `fs.readFileSync(${JSON.stringify(main)})`], ANY_USER)
  return attempt.status === 0 ? undefined : "another user cannot read the repository"
})()

describe("the image's data directory", () => {
  it.skipIf(problem !== undefined)(
    `can be used by any user with the group 0${problem === undefined ? "" : ` (skipped: ${problem})`}`,
    async () => {
      const [, owner, group, mode = ""] =
        /install --directory --owner=(\d+) --group=(\d+) --mode=(\d+) \S+$/.exec(
          textsOf("RUN").at(-1) ?? ""
        ) ?? []
      const directory = createDirectory()
      fs.chmodSync(directory, 0o711)
      const data = path.join(directory, "data")
      fs.mkdirSync(data)
      fs.chownSync(data, Number(owner), Number(group))
      fs.chmodSync(data, Number.parseInt(mode, 8))
      const database = { ANIMAL_STORE_DATABASE: `sqlite://${data}/animal-store.db` }
      const issued = await run(["keys", "issue", "--plan", "Free"], database, ANY_USER)
      expect(issued).toMatchObject({ code: 0, stderr: "" })
      const server = await start(["--port", "0"], database, ANY_USER)
      expect((await stop(server)).code).toBe(0)
      const { stdout } = await run(["keys", "log"], database, ANY_USER)
      expect(stdout).toContain("uid 1000710000")
    }
  )
})

interface ComposeService {
  readonly image: string
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly environment: { readonly [name: string]: string }
  readonly secrets: ReadonlyArray<string>
  readonly read_only: boolean
  readonly cap_drop: ReadonlyArray<string>
  readonly security_opt: ReadonlyArray<string>
  readonly ports?: ReadonlyArray<string>
  readonly networks: ReadonlyArray<string>
  readonly depends_on?: { readonly [service: string]: { readonly condition: string } }
  readonly healthcheck?: { readonly test: ReadonlyArray<string> }
}

interface Compose {
  readonly services: { readonly [name: string]: ComposeService }
  readonly networks: { readonly [name: string]: { readonly internal?: boolean } }
  readonly secrets: { readonly [name: string]: { readonly file: string } }
}

describe("the compose file", () => {
  const compose: Compose = parse(read("docs/deploying/compose.yaml"), { strict: true, uniqueKeys: true })
  const services = Object.entries(compose.services)

  it.each(services)("runs %s without privileges and with a read-only root file system", (_, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"]
    })
    expect(service.image).toMatch(/:\d+\.\d+/)
  })

  it("passes the database password in a secret file, not in environment variables", () => {
    for (const [, service] of services) {
      expect(service.secrets).toEqual(["database-password"])
      expect(JSON.stringify(service.environment)).not.toMatch(/postgres:\/\/|"POSTGRES_PASSWORD"/)
    }
    expect(compose.secrets).toEqual({ "database-password": { file: "../../secrets/database-password" } })
  })

  it("publishes only the server, on 127.0.0.1, and starts it when the database is healthy", () => {
    expect(services.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]))).toEqual([
      ["animal-store", "127.0.0.1:3000:3000"]
    ])
    expect(compose.services["animal-store"]?.depends_on).toEqual({
      postgres: { condition: "service_healthy" }
    })
    expect(compose.services.postgres?.healthcheck?.test).toContain("pg_isready")
    expect(compose.services.postgres?.networks).toEqual(["database"])
    expect(compose.networks.database).toEqual({ internal: true })
  })

  it("builds the image from the Dockerfile, tagged with the version of the package", () => {
    const server = compose.services["animal-store"]
    expect(server?.image).toBe(`animal-store:${manifest.version}`)
    expect(
      fs.existsSync(path.join(root, "docs/deploying", server?.build?.context ?? "none", "package.json"))
    ).toBe(true)
    expect(fs.existsSync(path.join(root, server?.build?.dockerfile ?? "none"))).toBe(true)
  })
})

const hasCompose = shell("docker compose version").status === 0

describeWith(hasCompose ? [] : ["docker-compose-plugin"], "docker compose", () => {
  it("accepts the compose file", () => {
    const { status, stderr } = shell("docker compose --file docs/deploying/compose.yaml config --quiet")
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
  })
})
