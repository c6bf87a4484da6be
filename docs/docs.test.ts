import { existsSync, readdirSync, readFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import express from "express"
import Fastify from "fastify"
import { Hono } from "hono"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type AnimalStore, openAnimalStore } from "../adapters/embed/AnimalStore.ts"
import * as ServiceOptions from "../core/service/ServiceOptions.ts"
import * as ErrorsPage from "./ErrorsPage.ts"

const root = new URL("../", import.meta.url)
const read = (file: string): string => readFileSync(new URL(file, root), "utf8")

const pages = [
  "README.md",
  ...readdirSync(new URL("docs/", root), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`)
]

describe("documentation", () => {
  it("lists exactly the errors of the catalogue", () => {
    expect(read("docs/errors.md"), "run: node docs/ErrorsPage.ts").toBe(ErrorsPage.render())
  })

  it.each(pages)("%s links to files that exist", (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(
      (match) => match[1] ?? ""
    )
    const missing = links.filter((link) => !existsSync(new URL(link, new URL(page, root))))
    expect(missing).toEqual([])
  })

  it("names every option of the service", () => {
    const page = read("docs/embedding.md")
    const unnamed = Object.keys(ServiceOptions.defaults).filter((option) => !page.includes(`| \`${option}\``))
    expect(unnamed).toEqual([])
  })
})

describe("the recipes of docs/embedding.md", () => {
  let store: AnimalStore
  let key: string

  beforeAll(async () => {
    store = await openAnimalStore()
    key = (await store.keys.issue({ plan: "Pro" })).key
  })
  afterAll(() => store.close())

  /** Runs the code of a section without its imports and its `listen`, and answers with the named variable. */
  const run = async (section: string, result: string): Promise<unknown> => {
    const code =
      new RegExp(`## ${section}\n+\`\`\`js\n([^\`]+)\`\`\``).exec(read("docs/embedding.md"))?.[1] ?? ""
    const body = code
      .replaceAll(/^import .*$/gm, "")
      .replaceAll(/^export default .*$/gm, "")
      .replaceAll(/^(await )?app\.listen\(.*$/gm, "")
      .replace(
        "createServer(store.nodeListener).listen(3000)",
        "const app = createServer(store.nodeListener)"
      )
    const AsyncFunction = (async () => {}).constructor
    const evaluate = Reflect.construct(AsyncFunction, [
      "store",
      "express",
      "Fastify",
      "Hono",
      "createServer",
      `${body}\nreturn ${result}`
    ])
    return evaluate(store, express, Fastify, Hono, createServer)
  }

  const exercise = async (send: (path: string, init: RequestInit) => Promise<Response>): Promise<void> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const created = await send("/v1/pets", {
      method: "POST",
      headers,
      body: '{"name":"Rex","categoryId":9223372036854775807}'
    })
    expect(created.status).toBe(201)
    const found = await send(created.headers.get("location") ?? "", { headers })
    expect(await found.text()).toBe(await created.text())
    expect((await send("/v1/pets?limit=1", { headers })).status).toBe(200)
    expect((await send("/v1/pets", {})).status).toBe(401)
  }

  const overSocket = async (server: Server): Promise<void> => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo // a TCP server that listens has such an address
    try {
      await exercise((path, init) => fetch(`http://127.0.0.1:${port}${path}`, init))
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }

  it("work in Node", async () => overSocket((await run("Node", "app")) as Server))

  it("work in Express", async () => overSocket(createServer((await run("Express", "app")) as () => void)))

  it("work in Fastify", async () => {
    const app = (await run("Fastify", "app")) as ReturnType<typeof Fastify>
    await app.ready()
    await overSocket(app.server)
    await app.close()
  })

  it("work in Hono", async () => {
    const app = (await run("Hono", "app")) as Hono
    await exercise(async (path, init) => app.request(`http://localhost${path}`, init))
  })
})
