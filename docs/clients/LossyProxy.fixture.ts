/** Starts a proxy that loses responses to creations: the service stores the animal, but the client gets no response. */
import * as http from "node:http"
import type { AddressInfo } from "node:net"

export interface LossyProxy {
  readonly url: string
  /** The `Idempotency-Key` of each creation so far, in order. */
  readonly attempts: ReadonlyArray<string>
  readonly close: () => void
}

const bodyOf = async (request: http.IncomingMessage): Promise<string> => {
  let body = ""
  for await (const chunk of request.setEncoding("utf8")) body += chunk
  return body
}

/**
 * Starts a proxy that forwards each creation to the service at `target`. For each `Idempotency-Key`, the proxy closes
 * the connection instead of the first response, replaces the second response with a 503, and passes on all later ones.
 */
export const start = async (target: string): Promise<LossyProxy> => {
  const attempts: Array<string> = []
  const forward = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    const key = String(request.headers["idempotency-key"])
    const upstream = await fetch(new URL(request.url ?? "/", target), {
      method: request.method ?? "POST",
      headers: {
        authorization: request.headers.authorization ?? "",
        "content-type": request.headers["content-type"] ?? "",
        "idempotency-key": key
      },
      body: await bodyOf(request)
    })
    const body = await upstream.text()
    attempts.push(key)
    const count = attempts.filter((attempt) => attempt === key).length
    if (count === 1) request.socket.destroy()
    else if (count === 2) response.writeHead(503, { "retry-after": "1" }).end()
    else response.writeHead(upstream.status, { "content-type": "application/json" }).end(body)
  }
  const server = http.createServer((request, response) => {
    forward(request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined)
    )
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${new URL(target).pathname}`,
    attempts,
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
