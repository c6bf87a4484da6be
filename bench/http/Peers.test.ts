/** Every measured server answers every measured request rightly; a figure of one that does not would mean nothing. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import type { Tokens } from "./Catalogue.ts"
import { type Operation, operations } from "./Operation.ts"
import type { Listening, Usage } from "./Peer.ts"

const peers: ReadonlyArray<{ readonly name: string; readonly args: ReadonlyArray<string> }> = [
  { name: "AnimalStore", args: ["memory:"] },
  { name: "AnimalStoreFetch", args: ["memory:"] },
  { name: "Handwritten", args: [] },
  { name: "Fastify", args: [] },
  { name: "Express", args: [] },
  { name: "Hono", args: [] },
  { name: "HttpApi", args: [] }
]

const start = (name: string, args: ReadonlyArray<string>): ChildProcess =>
  fork(fileURLToPath(new URL(`./peers/${name}.ts`, import.meta.url)), args, {
    execPath: process.execPath,
    // Those of the test runner are not meant for it.
    execArgv: []
  })

/** What the process says next; rejects when it ends instead. */
const said = async <A>(peer: ChildProcess): Promise<A> => {
  const ended = new AbortController()
  const end = once(peer, "exit", { signal: ended.signal }).then(([code]) => {
    throw new Error(`the peer ended with ${code}`)
  })
  try {
    const [message] = await Promise.race([once(peer, "message"), end])
    // A peer says nothing but what `Peer.ts` has it say.
    return message as A
  } finally {
    ended.abort()
    end.catch(() => undefined)
  }
}

const send = ({ body, method, target, token }: Operation, port: number, tokens: Tokens): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${target}`, {
    method,
    headers: {
      authorization: `Bearer ${token(tokens)}`,
      ...(body === undefined ? {} : { "content-type": "application/json" })
    },
    ...(body === undefined ? {} : { body })
  })

const tellsLimit = (response: Response): boolean =>
  [...response.headers.keys()].some((name) => /^(x-)?ratelimit/.test(name))

describe("the peers", () => {
  it.each(peers)("$name answers every operation rightly", async ({ args, name }) => {
    const peer = start(name, args)
    try {
      const { port, tokens } = await said<Listening>(peer)
      for (const operation of operations) {
        // What the exhausted caller may send in a minute.
        if (operation.status === 429) expect((await send(operation, port, tokens)).status).toBe(200)

        const response = await send(operation, port, tokens)
        const answer = `${name}, ${operation.name}`
        expect(response.status, answer).toBe(operation.status)
        expect(operation.fault(await response.json()), answer).toBeUndefined()
        expect(response.headers.get("content-type"), answer).toMatch(/^application\/json/)
        expect(Number(response.headers.get("content-length")), answer).toBeGreaterThan(0)
        if (operation.status !== 401) expect(tellsLimit(response), answer).toBe(true)
        if (operation.status === 429) {
          expect(Number(response.headers.get("retry-after")), answer).toBeGreaterThan(0)
        }
      }
      peer.send("usage")
      expect((await said<Usage>(peer)).cpuMicros).toBeGreaterThan(0)
    } finally {
      peer.kill()
    }
  })
})
