/**
 * Runs a program from docs/clients.md that exports `list` and `create`, and prints the statuses as JSON. Usage:
 * `node RetryDriver.fixture.ts FILE in-a-row N`, or `at-once N`, or `create NAME KEY`.
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

const [file = "", mode, first = "", second = ""] = process.argv.slice(2)
const { create, list }: Program = await import(pathToFileURL(file).href)

const statusOf = (response: Response): number | undefined => response.status ?? response.statusCode

const inARow = async (): Promise<ReadonlyArray<number | undefined>> => {
  const statuses: Array<number | undefined> = []
  while (statuses.length < Number(first)) statuses.push(statusOf(await list()))
  return statuses
}

const atOnce = async (): Promise<ReadonlyArray<number | undefined>> =>
  (await Promise.all(Array.from({ length: Number(first) }, list))).map(statusOf)

const statuses =
  mode === "in-a-row"
    ? await inARow()
    : mode === "at-once"
      ? await atOnce()
      : [statusOf(await create({ name: first, categoryId: 7 }, second))]

console.log(JSON.stringify(statuses))
// Exits explicitly, because open connections would keep the process alive.
process.exit(0)
