/** Generates load for tests: clients that each send requests in sequence on one keep-alive connection. */
import { Buffer } from "node:buffer"
import * as Http from "node:http"
import * as fc from "fast-check"
import * as Json from "../../core/codec/Json.ts"
import * as NewPetArbitrary from "../../core/domain/NewPet.arbitrary.ts"
import type { NewPet } from "../../core/domain/NewPet.ts"

/** A complete response. */
export interface LoadResponse {
  readonly status: number
  readonly header: (name: string) => string
  readonly body: string
}

export interface Request {
  readonly method?: "GET" | "POST"
  /** The path below the base URL, such as `/pets`. */
  readonly path: string
  readonly key: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A connection to a server. */
export interface Client {
  /**
   * Rejects if the connection closes before the response is complete. `onSent` is called after the last byte is
   * written.
   */
  readonly send: (request: Request, onSent?: () => void) => Promise<LoadResponse>
  readonly close: () => void
}

export const connect = (url: string): Client => {
  const agent = new Http.Agent({ keepAlive: true, maxSockets: 1 })
  return {
    send: ({ body, headers: more, key, method = body === undefined ? "GET" : "POST", path }, onSent) =>
      new Promise((resolve, reject) => {
        const headers = {
          ...more,
          Authorization: `Bearer ${key}`,
          ...(body !== undefined && {
            "Content-Type": "application/json",
            "Content-Length": Buffer.byteLength(body)
          })
        }
        const request = Http.request(url + path, { agent, method, headers }, (response) => {
          let text = ""
          response.setEncoding("utf8").on("data", (chunk: string) => {
            text += chunk
          })
          response.on("error", reject)
          response.on("end", () => {
            resolve({
              status: response.statusCode ?? 0,
              header: (name) => String(response.headers[name] ?? ""),
              body: text
            })
          })
        })
        request.on("error", reject)
        request.end(body ?? "", onSent)
      }),
    close: () => agent.destroy()
  }
}

/** Runs `work` with `count` concurrent clients, distributed over the servers. */
export const runClients = async <A>(
  urls: ReadonlyArray<string>,
  count: number,
  work: (client: Client, index: number) => Promise<A>
): Promise<ReadonlyArray<A>> => {
  const clients = Array.from({ length: count }, (_, index) => connect(urls[index % urls.length] ?? ""))
  try {
    return await Promise.all(clients.map(work))
  } finally {
    for (const client of clients) client.close()
  }
}

/** A pet in a response, with exact integers. */
export interface WirePet extends NewPet {
  readonly id: bigint
}

const toPet = (value: Json.Json | undefined): WirePet => {
  if (typeof value !== "object" || value === null || !isObject(value)) throw new Error("not a pet")
  const { categoryId, id, name, status } = value
  if (
    !(id instanceof Json.JsonNumber && categoryId instanceof Json.JsonNumber && typeof name === "string") ||
    !(status === "available" || status === "pending" || status === "sold")
  ) {
    throw new Error(`not a pet: ${JSON.stringify(value)}`)
  }
  return { id: BigInt(id.text), name, categoryId: BigInt(categoryId.text), status }
}

const isObject = (value: Json.JsonObject | Json.JsonArray | Json.JsonNumber): value is Json.JsonObject =>
  !Array.isArray(value) && !(value instanceof Json.JsonNumber)

const parse = (text: string): Json.Json => {
  const parsed = Json.parse(text)
  if (parsed._tag === "Failure") throw new Error(`${parsed.failure.reason}: ${text}`)
  return parsed.success
}

/** Parses the pet in a response body. */
export const petIn = (body: string): WirePet => toPet(parse(body))

/** Parses the pets in the body of a list response. */
export const petsIn = (body: string): ReadonlyArray<WirePet> => {
  const list = parse(body)
  if (!Array.isArray(list)) throw new Error(`not a list: ${body}`)
  return list.map(toPet)
}

/** Creates a generator of distinct animals with hostile names; the categoryId identifies each animal. */
export const makeAnimals = (seed: number): (() => NewPet) => {
  const samples = fc.sample(NewPetArbitrary.newPet, { seed, numRuns: 500 })
  let serial = 0n
  return () => {
    serial++
    const sample = samples[Number(serial) % samples.length]
    if (sample === undefined) throw new Error("no sample")
    // The factor is odd, so that distinct serial numbers give distinct values modulo 2⁶⁴.
    return { ...sample, categoryId: BigInt.asIntN(64, serial * 0x9e3779b97f4a7c15n) }
  }
}

/** Encodes the body that creates an animal. */
export const bodyOf = ({ categoryId, name, status }: NewPet): string =>
  `{"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`

/** Whether a pet in a response equals the animal that was sent. */
export const isSame = (pet: WirePet, sent: NewPet): boolean =>
  pet.name === sent.name && pet.categoryId === sent.categoryId && pet.status === sent.status

/** Waits until midnight UTC is at least `marginMs` away, so that the daily quota does not reset during a test. */
export const awayFromMidnight = async (marginMs: number): Promise<void> => {
  const untilMidnightMs = 86_400_000 - (Date.now() % 86_400_000)
  if (untilMidnightMs < marginMs) await new Promise((resolve) => setTimeout(resolve, untilMidnightMs + 1_000))
}
