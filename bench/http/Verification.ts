/** Verifies a server's responses, because the figures of a server with wrong responses would be meaningless. */
import type { FixedResponse } from "./Peer.ts"
import type { ServerProcess } from "./ServerProcess.ts"
import * as Workload from "./Workload.ts"

type Json = { readonly [name: string]: unknown }

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null

const parse = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

const errorBodyProblem = (status: number, body: unknown): string | undefined =>
  isObject(body) &&
  body.status === status &&
  typeof body.code === "string" &&
  typeof body.message === "string"
    ? undefined
    : `not an error body: ${JSON.stringify(body)}`

/** Replaces the id of an animal, because servers that created different numbers of animals assign different ids. */
const withoutId = (animal: unknown): unknown => (isObject(animal) ? { ...animal, id: "any" } : animal)

/**
 * Returns what is wrong with a response, or `undefined`. Animals must equal those in `expected`, the response of
 * another server. Error bodies need not be equal, because frameworks word them differently; they must have the members
 * of the contract.
 */
export const problemOf = (
  { status }: Workload.PlannedRequest,
  response: FixedResponse,
  expected: FixedResponse
): string | undefined => {
  if (response.status !== status)
    return `status ${response.status}, not ${status}: ${response.body.slice(0, 500)}`
  const [body, expectedBody] = [parse(response.body), parse(expected.body)]
  if (status >= 400) return errorBodyProblem(status, body)
  const comparable = status === 201 ? withoutId : (value: unknown) => value
  const [found, wanted] = [body, expectedBody].map((value) => JSON.stringify(comparable(value)))
  return found === wanted ? undefined : `body ${found?.slice(0, 500)}, not ${wanted?.slice(0, 500)}`
}

/** The seed for the sample's requests; measured rounds use other seeds. */
const SEED = 0

/** Requests, and the responses of one server; each has the planned status, and a well-formed body if it is an error. */
export interface Sample {
  readonly requests: ReadonlyArray<Workload.PlannedRequest>
  readonly responses: ReadonlyArray<FixedResponse>
}

const fail = (server: ServerProcess, { method, target }: Workload.PlannedRequest, problem: string): never => {
  throw new Error(`${server.name} responds incorrectly to ${method} ${target}: ${problem}`)
}

/** Records the responses of a server to the first requests of a workload. */
export const record = async (
  server: ServerProcess,
  workload: Workload.Workload,
  count: number
): Promise<Sample> => {
  const requests = Workload.plan(workload, SEED, count)
  const responses: Array<FixedResponse> = []
  for (const request of requests) {
    const response = await server.send(request)
    // Compared with itself, a response has only the problems that need no other server: its status and its error body.
    const problem = problemOf(request, response, response)
    if (problem !== undefined) fail(server, request, problem)
    responses.push(response)
  }
  return { requests, responses }
}

/** Rejects if a server responds differently to one of the first `count` requests of a sample. */
export const check = async (server: ServerProcess, sample: Sample, count: number): Promise<void> => {
  for (const [index, request] of sample.requests.slice(0, count).entries()) {
    const expected = sample.responses[index]
    const problem = expected && problemOf(request, await server.send(request), expected)
    if (problem !== undefined) fail(server, request, problem)
  }
}
