/**
 * Runs the preparation of a script against servers on which it cannot continue, and against stores with other animals.
 */
import { spawnSync } from "node:child_process"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, describe, expect, it } from "vitest"
import type { Step } from "../../evaluation/Trial.ts"
import type { Animal } from "../../http/Animal.ts"
import type { Exchange } from "../../http/Exchange.ts"
import { bytes, type Header } from "../../http/Wire.ts"
import * as CurlRuns from "./CurlRuns.fixture.ts"
import * as CurlScript from "./CurlScript.ts"

const hasTools = ["curl", "awk", "mktemp"].every((tool) => spawnSync(tool, ["--version"]).error === undefined)

const TOKEN = "Zabcdef"

const { close, runScript } = CurlRuns.open()

/**
 * A server whose responses a test can configure, with two faults: lists that omit the newest animal (`hidesLast`), and
 * lists that are one animal short (`isShort`).
 */
class Store {
  /** Status of creations; 201 to create. */
  creations = 201
  /** Text of the responses of the clock. */
  clock = '{"now":1800000000000}'
  clockStatus = 200
  hidesLast = false
  isShort = false
  names: Array<string> = []
  posts = 0
  readonly server = http.createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.on("end", () => {
      const send = (status: number, json: unknown) =>
        response
          .writeHead(status, { "Content-Type": "application/json" })
          .end(typeof json === "string" ? json : JSON.stringify(json))
      if (request.url?.startsWith("/clock")) return send(this.clockStatus, this.clock)
      if (request.method === "POST") {
        this.posts++
        if (this.creations !== 201)
          return send(this.creations, { code: "no", message: "no", status: this.creations })
        const { name } = JSON.parse(Buffer.concat(parts).toString())
        this.names.push(name)
        return send(201, { id: this.names.length, name, categoryId: 1 })
      }
      const limit = Number(/limit=(\d+)/.exec(request.url ?? "")?.[1] ?? 20)
      const kept = this.hidesLast ? this.names.slice(0, -1) : this.names
      const shown = kept.slice(0, limit).map((name, at) => ({ id: at + 1, name, categoryId: 1 }))
      return send(200, this.isShort ? shown.slice(0, -1) : shown)
    })
  })
  origin = ""
  async open() {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve))
    // The address of a TCP server is neither a pipe name nor null.
    this.origin = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }
}

const opened: Array<Store> = []
const open = async (options: Partial<Store> = {}): Promise<Store> => {
  const store = new Store()
  Object.assign(store, options)
  opened.push(store)
  await store.open()
  return store
}

afterAll(() => {
  close()
  for (const { server } of opened) server.close()
})

const authorization: Header = ["Authorization", `Bearer ${CurlRuns.keys.main}`]
const plain = { key: "main", isAlone: true } as const
const json: Header = ["Content-Type", "application/json"]

const animals = (count: number, name: string): ReadonlyArray<Animal> =>
  Array.from({ length: count }, (_, at) => ({ id: BigInt(at + 1), name, categoryId: 1n, status: undefined }))

/** The animal of the case, as the run has created it. */
const own = animals(1, TOKEN)

const list = (limit: number, names: ReadonlyArray<string>): Exchange => ({
  ...plain,
  index: 1,
  request: { method: "GET", target: `/v1/pets?limit=${limit}`, headers: [authorization], body: undefined },
  response: {
    status: 200,
    headers: [json],
    body: bytes(JSON.stringify(names.map((name, at) => ({ id: at + 1, name, categoryId: 1 }))))
  },
  sentAt: 20,
  receivedAt: 30
})

const creation: Exchange = {
  ...plain,
  index: 0,
  request: {
    method: "POST",
    target: "/v1/pets",
    headers: [authorization, json],
    body: bytes(JSON.stringify({ name: TOKEN, categoryId: 1 }))
  },
  response: {
    status: 201,
    headers: [json],
    body: bytes(JSON.stringify({ id: 4, name: TOKEN, categoryId: 1 }))
  },
  sentAt: 0,
  receivedAt: 10
}

const scriptOf = (exchanges: ReadonlyArray<Exchange>, created: ReadonlyArray<Animal>): string => {
  const steps = exchanges.map((exchange): Step => ({ did: "", got: "", exchange }))
  const script = CurlScript.make({
    check: "list.sees-created",
    law: "A list shows what was created.",
    expected: "",
    actual: "",
    baseUrl: "http://127.0.0.1:1/v1",
    basePath: "/v1",
    secrets: { main: CurlRuns.keys.main },
    token: TOKEN,
    created,
    steps
  })
  if (script === undefined) throw new Error("CurlScript.make returned undefined")
  return script
}

describe.skipIf(!hasTools)("the preparation of a script", () => {
  /** A script whose preparation creates three animals. */
  const full = () => scriptOf([list(2, ["a", "b"])], animals(2, "a"))

  it.each([
    [400, 1],
    [401, 1],
    [500, 1],
    [429, 3]
  ])("exits with 2 if the server rejects creations with %i, after %i attempts", async (status, attempts) => {
    const store = await open({ creations: status })
    expect(await runScript(full(), store)).toBe(`2 the preparation cannot create an animal: ${status}`)
    expect(store.posts).toBe(attempts)
  })

  it("exits with 2 if the server does not respond", async () => {
    const store = await open()
    store.server.removeAllListeners("request").on("request", (request, response) => {
      if (request.url?.startsWith("/clock")) response.end(store.clock)
      else request.socket.destroy()
    })
    expect(await runScript(full(), store)).toMatch(
      /^2 curl: .*\na request of the preparation got no response$/
    )
  })

  it("exits with 2 if the server does not respond to a request of the case", async () => {
    const store = await open()
    store.server.removeAllListeners("request").on("request", (request, response) => {
      if (request.url?.startsWith("/clock")) response.end(store.clock)
      else request.socket.destroy()
    })
    expect(await runScript(scriptOf([creation], []), store)).toMatch(/^2 curl: /)
  })

  it.each([
    [{ clock: "{}" }, "2 the clock does not respond"],
    [{ clock: '{"now":"soon"}' }, "2 the clock does not respond"]
  ])("exits with 2 if the clock responds with %o", async (options, reason) => {
    expect(await runScript(full(), await open(options))).toBe(reason)
  })

  it("exits with 2 if the clock cannot be moved", async () => {
    expect(await runScript(full(), await open({ clockStatus: 404 }))).toMatch(
      /^2 curl: .*\nthe clock cannot be moved$/
    )
  })

  it("creates animals to fill a list that was full, but none for a list without an animal of the case", async () => {
    const store = await open()
    expect(await runScript(full(), store)).toBe("1 SHOWN")
    expect(store.posts).toBe(3)
    const second = await open()
    await runScript(scriptOf([creation, list(100, ["a", "b", "c"])], [...animals(3, "a"), ...own]), second)
    expect(second.posts).toBe(1)
  })
})

describe.skipIf(!hasTools)("the script of a failure with a list below its limit", () => {
  describe("without the animal of the case", () => {
    const script = () => scriptOf([creation, list(100, ["a", "b", "c"])], [...animals(3, "a"), ...own])

    it.each([0, 3, 50])("reproduces the failure with %i other animals in the store", async (count) => {
      const names = animals(count, "other").map(({ name }) => name)
      expect(await runScript(script(), await open({ names: [...names], hidesLast: true }))).toBe("1 SHOWN")
      expect(await runScript(script(), await open({ names: [...names] }))).toBe("0 NOT SHOWN")
    })

    it("exits with 2 if other animals fill the list", async () => {
      const names = animals(120, "other").map(({ name }) => name)
      expect(await runScript(script(), await open({ names, hidesLast: true }))).toBe("2 CANNOT TELL")
    })
  })

  it("reproduces the failure if the list was too short, with and without other animals in the store", async () => {
    const script = scriptOf([list(5, ["a", "b", "c", "d"])], animals(9, "a"))
    for (const count of [0, 9]) {
      const names = animals(count, "other").map(({ name }) => name)
      expect(await runScript(script, await open({ names: [...names], isShort: true }))).toBe("1 SHOWN")
      expect(await runScript(script, await open({ names: [...names] }))).toBe("0 NOT SHOWN")
    }
  })
})
