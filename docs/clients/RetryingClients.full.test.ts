/** Checks that libraries that retry recover from a 429 on a plan of six requests per minute; all run in parallel. */
import * as fs from "node:fs"
import { afterAll, beforeAll, expect, it } from "vitest"
import { describeInstalled } from "../Packages.fixture.ts"
import * as Clients from "./Clients.fixture.ts"
import * as RetryingClients from "./RetryingClients.fixture.ts"

const PER_MINUTE = 6

/** The number of sequential requests; each request after the sixth is denied once, and then retried. */
const SEQUENTIAL_REQUESTS = 9
const CONCURRENT_REQUESTS = 12

/** The statuses that a program receives, or its error. */
type Result = ReadonlyArray<number> | Error

/** Turns a rejection into an `Error`: a rejection that no test awaits yet would be reported as unhandled. */
const resultOrError = (result: Promise<Result>): Promise<Result> =>
  result.catch((error: unknown) => new Error(String(error)))

describeInstalled("docs/clients", "libraries that retry", () => {
  let directory = ""
  let server: Clients.Server
  const libraries = RetryingClients.libraries(() => directory)
  /** The results of each library for sequential and for concurrent requests; `undefined` if it cannot run here. */
  let results: ReadonlyArray<readonly [Promise<Result>, Promise<Result>] | undefined> = []

  beforeAll(async () => {
    directory = Clients.createDirectory()
    server = await Clients.serve(
      libraries.flatMap(() =>
        Array.from({ length: 2 }, () => `enterprise:perMinute=${PER_MINUTE},perDay=1000`)
      )
    )
    const access = (index: number) => ({ url: server.url, key: server.keys[index]?.key ?? "" })
    results = libraries.map(({ concurrently, inSequence, skipReason }, index) =>
      skipReason === undefined
        ? [
            resultOrError(inSequence(access(2 * index), SEQUENTIAL_REQUESTS)),
            resultOrError(concurrently(access(2 * index + 1), CONCURRENT_REQUESTS))
          ]
        : undefined
    )
  })

  afterAll(async () => {
    await server?.stop()
    fs.rmSync(directory, { recursive: true, force: true })
  })

  const cases = [
    ["gets a 200 for each of nine sequential requests", SEQUENTIAL_REQUESTS],
    ["gets a 200 for each of twelve concurrent requests", CONCURRENT_REQUESTS]
  ] as const

  libraries.forEach(({ name, skipReason }, index) => {
    const suffix = Clients.skipSuffix(name, skipReason)
    const title = (claim: string): string => `${name} ${claim}${suffix}`
    cases.forEach(([claim, count], caseIndex) => {
      it.skipIf(skipReason !== undefined)(
        title(claim),
        async () => {
          expect(await results[index]?.[caseIndex]).toEqual(Array.from({ length: count }, () => 200))
          const id = server.keys[2 * index + caseIndex]?.id
          const seen = server.log().filter(({ key }) => key === id)
          expect(seen.filter(({ code }) => code === "api_key_banned")).toEqual([])
          // `Retry-After` gives each denied request the time of its own token, so no request is denied twice.
          expect(seen.filter(({ status }) => status === 200)).toHaveLength(count)
          expect(seen.filter(({ status }) => status === 429)).toHaveLength(count - PER_MINUTE)
        },
        120_000
      )
    })
  })

  it("at least four libraries can run on this machine", () => {
    expect(libraries.filter(({ skipReason }) => skipReason === undefined).length).toBeGreaterThanOrEqual(4)
  })
})
