/** Opens a store with its admin API on a server of its own, for tests; both end with the test. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"
import type { AnimalStore, AnimalStoreOptions } from "./index.ts"
import * as Stores from "./Stores.fixture.ts"

/** A response of the admin API; `body` is undefined without a body. */
export interface AdminResponse {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: each test states the shape that it reads.
  readonly body: any
}

export interface Admin {
  readonly store: AnimalStore
  /** The origin of the admin API. */
  readonly origin: string
  readonly token: string
  /** Sends a request with the token, or with these headers instead. */
  readonly send: (
    method: string,
    path: string,
    body?: unknown,
    headers?: { readonly [name: string]: string }
  ) => Promise<AdminResponse>
}

export const open = async (options: AnimalStoreOptions = {}): Promise<Admin> => {
  const store = await Stores.open({ metrics: true, ...options })
  const server = createServer(await store.console())
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  // The address of a server that listens on a port is an object.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { key: token } = await store.adminTokens.issue({ plan: "Admin", label: "ada" })
  return {
    store,
    origin,
    token,
    send: async (method, path, body, headers = { Authorization: `Bearer ${token}` }) => {
      const response = await fetch(`${origin}/admin${path}`, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        body: text === "" ? undefined : JSON.parse(text)
      }
    }
  }
}
