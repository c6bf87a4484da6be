/** Sends the requests of a well-behaved client. */
import * as http from "node:http"

export interface Request {
  readonly url: string
  readonly key: string
  /** The animal to create, as JSON; without a body, the request is a GET. */
  readonly body?: string
  readonly timeoutMs?: number
}

export interface Outcome {
  /** The status of the response; 0 if it was missing or incomplete. */
  readonly status: number
  /** Whether the response has `Connection: close`. */
  readonly isClosing: boolean
}

const noResponse: Outcome = { status: 0, isClosing: false }

/** Sends a request over one of the agent's connections. */
export const exchange = (agent: http.Agent, { body, key, timeoutMs, url }: Request): Promise<Outcome> =>
  new Promise((resolve) => {
    const request = http.request(
      url,
      {
        agent,
        method: body === undefined ? "GET" : "POST",
        ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
        }
      },
      (response) => {
        response.resume()
        response.once("end", () =>
          resolve({ status: response.statusCode ?? 0, isClosing: response.headers.connection === "close" })
        )
        response.once("error", () => resolve(noResponse))
      }
    )
    request.once("timeout", () => request.destroy(new Error("timeout")))
    request.once("error", () => resolve(noResponse))
    request.end(body)
  })

/** Counts all animals, page by page. */
export const countPets = async (origin: string, key: string): Promise<number> => {
  let count = 0
  let next: string | undefined = "/v1/pets?limit=100"
  while (next !== undefined) {
    const response: Response = await fetch(origin + next, { headers: { authorization: `Bearer ${key}` } })
    const page: unknown = await response.json()
    if (!Array.isArray(page)) throw new Error(`a page of animals is not a list: ${response.status}`)
    count += page.length
    next = /^<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1]
  }
  return count
}
