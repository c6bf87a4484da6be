/** Checks the files of the reference page over Node and `fetch`. */
import { Buffer } from "node:buffer"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { gunzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { type AnimalStore, openAnimalStore } from "./index.ts"

const BUNDLE = "/docs/swagger-ui-bundle.js"

const bundle = readFileSync(createRequire(import.meta.url).resolve("swagger-ui-dist/swagger-ui-bundle.js"))

type Send = (path: string, init?: RequestInit) => Promise<Response>

describe("the reference page", () => {
  let store: AnimalStore
  let port = 0
  let hosts: { readonly [name in "node" | "fetch"]: Send }

  beforeAll(async () => {
    store = await openAnimalStore({ docs: true, log: () => undefined })
    port = (await store.listen({ port: 0 })).port
    hosts = {
      node: (path, init) => fetch(`http://127.0.0.1:${port}${path}`, init),
      fetch: (path, init) => store.fetch(new Request(`http://store.test${path}`, init))
    }
  })

  afterAll(() => store.close())

  it.each(["node", "fetch"] as const)("links only to files that the service has, over %s", async (host) => {
    const send = hosts[host]
    const html = await (await send("/docs")).text()
    const names = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name ?? "")
    expect(names).toContain("docs/swagger-ui-bundle.js")
    for (const name of names.filter((reference) => reference !== "data:,")) {
      const response = await send(`/${name}`)
      expect(response.status, name).toBe(200)
      await response.text()
    }
    const imported = /from "\.\/([^"]+)"/.exec(await (await send("/docs/page.js")).text())?.[1]
    expect((await send(`/docs/${imported}`)).headers.get("content-type")).toBe(
      "text/javascript; charset=utf-8"
    )
  })

  it.each(["node", "fetch"] as const)(
    "sends the complete script bundle, plain and compressed, over %s",
    async (host) => {
      const send = hosts[host]
      const plain = await send(BUNDLE, { headers: { "Accept-Encoding": "identity" } })
      expect(plain.headers.get("content-length")).toBe(String(bundle.length))
      expect(Buffer.from(await plain.arrayBuffer()).equals(bundle)).toBe(true)
      const compressed = await send(BUNDLE, { headers: { "Accept-Encoding": "gzip" } })
      expect(compressed.headers.get("content-encoding")).toBe("gzip")
      const bytes = Buffer.from(await compressed.arrayBuffer())
      // `fetch`, the client of the Node host, has already decompressed the body.
      expect((host === "fetch" ? gunzipSync(bytes) : bytes).equals(bundle)).toBe(true)
      const tag = compressed.headers.get("etag") ?? ""
      const unchanged = await send(BUNDLE, { headers: { "Accept-Encoding": "gzip", "If-None-Match": tag } })
      expect([unchanged.status, await unchanged.text()]).toEqual([304, ""])
      const head = await send(BUNDLE, { method: "HEAD", headers: { "Accept-Encoding": "identity" } })
      expect([head.headers.get("content-length"), await head.text()]).toEqual([String(bundle.length), ""])
    }
  )

  it("comes from a package whose install-time telemetry is replaced by an empty package", () => {
    const ofSwaggerUi = createRequire(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"))
    const manifest = readFileSync(ofSwaggerUi.resolve("@scarf/scarf/package.json"), "utf8")
    const stub = new URL("../../.config/no-telemetry/package.json", import.meta.url)
    expect(manifest).toBe(readFileSync(stub, "utf8"))
    expect(JSON.parse(manifest)).not.toHaveProperty("scripts")
    expect(JSON.parse(manifest)).not.toHaveProperty("main")
    const lock: { readonly packages: Record<string, { readonly resolved?: string }> } = JSON.parse(
      readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8")
    )
    const locked = Object.entries(lock.packages).filter(([name]) =>
      name.endsWith("node_modules/@scarf/scarf")
    )
    expect(locked.map(([, { resolved }]) => resolved)).toEqual([".config/no-telemetry"])
  })

  it.each(["/", "/docs"])(
    "has a content security policy that forbids inline code and other hosts on %s",
    async (path) => {
      const { headers } = await hosts.node(path, { headers: { Accept: "text/html" } })
      const policy = headers.get("content-security-policy")
      expect(policy).toContain("default-src 'none'")
      expect(policy).not.toMatch(/unsafe|https?:|\*/)
    }
  )

  it("is linked from the start page, as is the OpenAPI document", async () => {
    const html = await (await hosts.node("/", { headers: { Accept: "text/html" } })).text()
    expect(html).toContain('href="docs"')
    expect(html).toContain('href="openapi.json"')
  })

  it("is off by default: requests for its paths get 401", async () => {
    const withoutDocs = await openAnimalStore({ log: () => undefined })
    for (const path of ["/", "/docs", BUNDLE]) {
      const response = await withoutDocs.fetch(
        new Request(`http://store.test${path}`, { headers: { Accept: "text/html" } })
      )
      expect(response.status).toBe(401)
    }
    await withoutDocs.close()
  })

  it.each(["", "/animals", "/shop/animals&co"])(
    "works below the prefix '%s', which a host strips, with and without a trailing slash",
    async (prefix) => {
      const server = createServer((request, response) => {
        const { url = "" } = request
        if (url !== prefix && !url.startsWith(`${prefix}/`)) return response.writeHead(404).end()
        request.url = url.slice(prefix.length) || "/"
        return hosted.nodeListener(request, response)
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const address = server.address()
      const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
      const publicBaseUrl = `${origin}${prefix}/v1`
      const hosted = await openAnimalStore({ docs: true, log: () => undefined, publicBaseUrl })
      onTestFinished(async () => {
        await new Promise((resolve) => server.close(resolve))
        await hosted.close()
      })
      const { key } = await hosted.keys.issue({ plan: "Free" })
      for (const start of [`${origin}${prefix}`, `${origin}${prefix}/`, `${origin}${prefix}/docs`]) {
        const page = await fetch(start, { headers: { Accept: "text/html" } })
        expect(page.status, start).toBe(200)
        const html = (await page.text()).replaceAll("&amp;", "&")
        const links = [...html.matchAll(/(?:href|src)="(?!data:)([^"]+)"/g)].map(([, link = ""]) => link)
        expect(links.length).toBeGreaterThan(1)
        for (const link of links) expect((await fetch(new URL(link, page.url))).status, link).toBe(200)
      }
      const document: { readonly servers: ReadonlyArray<{ readonly url: string }> } = JSON.parse(
        await (await fetch(`${origin}${prefix}/openapi.json`)).text()
      )
      expect(document.servers.map(({ url }) => url)).toEqual([publicBaseUrl])
      const list = await fetch(`${publicBaseUrl}/pets`, { headers: { Authorization: `Bearer ${key}` } })
      expect(list.status).toBe(200)
    }
  )

  it("sends complete files to a client that pipelines requests and reads slowly", async () => {
    const socket = connect(port, "127.0.0.1")
    socket.write(`GET ${BUNDLE} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(3))
    socket.write("GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    let length = 0
    let tail = ""
    for await (const chunk of socket) {
      const bytes: Buffer = chunk
      length += bytes.length
      tail = (tail + bytes.subarray(-200).toString("latin1")).slice(-200)
      await sleep(1)
    }
    expect(length).toBeGreaterThan(3 * bundle.length)
    expect(tail).toMatch(/\{"status":"live"\}$/)
  })
})
