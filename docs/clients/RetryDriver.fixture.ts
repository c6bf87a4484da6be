/**
 * Runs a program from docs/clients.md that exports `list` and `create`, and prints the statuses as JSON. Usage:
 * `node RetryDriver.fixture.ts FILE in-sequence N`, or `concurrently N`, or `create NAME KEY`.
 */
import { pathToFileURL } from "node:url"

interface Response {
  readonly status?: number
  readonly statusCode?: number
}

interface Program {
  readonly list: () => Promise<Response>
  readonly create: (pet: object, idempotencyKey: string) => Promise<Response>
}

const [file = "", mode, countOrName = "", idempotencyKey = ""] = process.argv.slice(2)
const { create, list }: Program = await import(pathToFileURL(file).href)

const statusOf = (response: Response): number | undefined => response.status ?? response.statusCode

const inSequence = async (): Promise<ReadonlyArray<number | undefined>> => {
  const statuses: Array<number | undefined> = []
  while (statuses.length < Number(countOrName)) statuses.push(statusOf(await list()))
  return statuses
}

const concurrently = async (): Promise<ReadonlyArray<number | undefined>> =>
  (await Promise.all(Array.from({ length: Number(countOrName) }, list))).map(statusOf)

const statuses =
  mode === "in-sequence"
    ? await inSequence()
    : mode === "concurrently"
      ? await concurrently()
      : [statusOf(await create({ name: countOrName, categoryId: 7 }, idempotencyKey))]

console.log(JSON.stringify(statuses))
// Exits explicitly, because open connections would keep the process alive.
process.exit(0)
