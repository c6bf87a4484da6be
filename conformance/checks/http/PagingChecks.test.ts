import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import type { Failure } from "../../evaluation/Outcome.ts"
import * as Trial from "../../evaluation/Trial.ts"
import * as RequestTarget from "../../http/RequestTarget.ts"
import type { Header, WireRequest } from "../../http/Wire.ts"
import { recording, wireResponse } from "../../http/Wires.fixture.ts"
import * as HttpSubject from "../../subjects/HttpSubject.ts"
import { checks } from "./PagingChecks.ts"

const pets = (from: number, count: number): string =>
  `[${Array.from({ length: count }, (_, index) => `{"id":${from + index},"name":"Rex","categoryId":1,"status":"sold"}`).join(",")}]`

const next = (target: string): Header => ["Link", `<${target}>; rel="next"`]

/**
 * Evaluates the check with this id on the case `given`, against a server that responds to GET with `list`. Returns the
 * failure, if any, and the targets of all GET requests.
 */
const evaluate = async (
  id: string,
  given: unknown,
  list: (request: WireRequest, index: number) => readonly [body: string, ...headers: ReadonlyArray<Header>],
  basePath = "/v1"
): Promise<{ readonly failure: Failure | undefined; readonly lists: ReadonlyArray<string> }> => {
  let nextId = 1_000_000
  let lists = 0
  const { sent, transport } = recording((request) => {
    if (request.method === "POST") {
      // Safe: the suite sends a valid animal.
      const { categoryId, name, status } = JSON.parse(new TextDecoder().decode(request.body)) as Record<
        string,
        unknown
      >
      return wireResponse(201, [], JSON.stringify({ id: nextId++, name, categoryId, status }))
    }
    const [body, ...headers] = list(request, lists++)
    return wireResponse(200, headers, body)
  })
  const check = checks.find((candidate) => candidate.id === id)
  if (check === undefined) throw new Error(`unknown check: ${id}`)
  const failure = await Effect.runPromise(
    Effect.gen(function* () {
      const subject = yield* HttpSubject.make({
        name: "toy",
        transport,
        basePath,
        baseUrl: undefined,
        keys: { main: "main-secret" }
      })
      const evaluation = check.evaluate(subject, given, Trial.make("t"))
      return yield* Effect.match(evaluation, { onSuccess: () => undefined, onFailure: (failure) => failure })
    })
  )
  return { failure, lists: sent.flatMap(({ method, target }) => (method === "GET" ? [target] : [])) }
}

const walk = "list.paging.walk"

describe("the law list.paging.walk", () => {
  it("reports a violation after two pages when the next links form a cycle", async () => {
    const { failure, lists } = await evaluate(walk, { limits: [7], status: undefined }, ({ target }) => [
      pets(1, 7),
      next(target)
    ])
    expect(failure).toMatchObject({ _tag: "Violation", expected: "each animal on only one page" })
    expect(lists).toHaveLength(2)
  })

  it("reports a violation after 60 pages when all pages are empty and have next links", async () => {
    const { failure, lists } = await evaluate(walk, { limits: [7], status: undefined }, (_request, index) => [
      "[]",
      next(`/v1/pets?cursor=${index}`)
    ])
    expect(failure).toMatchObject({ _tag: "Violation", clause: "list.paging.last" })
    expect(lists).toHaveLength(60)
  })

  it("is inconclusive after 60 pages of an endless list, and requests large pages after the first 20", async () => {
    const { failure, lists } = await evaluate(
      walk,
      { limits: [7], status: undefined },
      ({ target }, index) => [
        pets(index * 100, Number(RequestTarget.parameter(target, "limit"))),
        next(`/v1/pets?limit=${RequestTarget.parameter(target, "limit")}&cursor=${index}`)
      ]
    )
    expect(failure?._tag).toBe("Undecided")
    expect(lists).toHaveLength(60)
    expect(lists[19]).toBe("/v1/pets?limit=7&cursor=18")
    expect(lists[20]).toBe("/v1/pets?limit=100&cursor=19")
  })

  it("reports a violation when a page has more than 100 animals", async () => {
    const { failure, lists } = await evaluate(walk, { limits: [7], status: undefined }, (_request, index) => [
      pets(index * 1_000, 500),
      next(`/v1/pets?cursor=${index}`)
    ])
    expect(failure).toMatchObject({ _tag: "Violation", clause: "list.limit.ceiling", actual: "500" })
    expect(lists).toHaveLength(1)
  })
})

describe("the next link of a page", () => {
  const cursor = "a+b/c=%2B%25%20;x,y'z"

  /** Evaluates the law on a first page with this link; returns the failure, and the targets requested afterwards. */
  const followLink = async (link: string, basePath?: string) => {
    const { failure, lists } = await evaluate(
      walk,
      { limits: [7], status: undefined },
      (_request, index) => (index === 0 ? ["[]", ["Link", link]] : ["[]"]),
      basePath
    )
    return { failure, targets: lists.slice(1) }
  }

  it.each([
    ["a path", `</v1/pets?limit=7&cursor=${cursor}>; rel=next`],
    ["a query", `<?limit=7&cursor=${cursor}>; rel="next"`],
    ["a relative path", `<pets?limit=7&cursor=${cursor}>; rel="prev next"`],
    ["the address of a proxy", `<https://pets.example/v1/pets?limit=7&cursor=${cursor}>; REL=NEXT`],
    ["a public base address", `<https://pets.example/api/v3/pets?limit=7&cursor=${cursor}>; rel=next`],
    ["the second link of a header", `</v1/pets>; rel=first, </v1/pets?limit=7&cursor=${cursor}>; rel=next`],
    ["a link with its own anchor", `</v1/pets?limit=7&cursor=${cursor}>; rel=next; anchor="/v1/pets?limit=7"`]
  ])("is followed exactly as written if it is %s", async (_what, link) => {
    // The law fails because the pages are empty; this test checks only the requests.
    expect((await followLink(link)).targets).toEqual([`/v1/pets?limit=7&cursor=${cursor}`])
  })

  it("is followed if the server has no base path", async () => {
    expect((await followLink("</pets?cursor=x>; rel=next", "")).targets).toEqual(["/pets?cursor=x"])
    expect((await followLink("<http://a.example/v1/pets?cursor=x>; rel=next", "")).targets).toEqual([
      "/pets?cursor=x"
    ])
  })

  it("is followed without decoding the HTML entity &amp;", async () => {
    expect((await followLink("</v1/pets?limit=7&amp;cursor=x>; rel=next")).targets).toEqual([
      "/v1/pets?limit=7&amp;cursor=x"
    ])
  })

  it("is ignored if its anchor names another resource", async () => {
    expect((await followLink('</v1/pets?cursor=x>; rel=next; anchor="/v1/cats"')).targets).toEqual([])
  })

  it.each([
    "</other/pets?cursor=x>; rel=next",
    "</v2/pets?cursor=x>; rel=next",
    "<https://pets.example/cats?cursor=x>; rel=next",
    "</v1/pets?cursor=a b>; rel=next",
    "</v1/pets?cursor=100%>; rel=next",
    "<javascript:alert(1)>; rel=next"
  ])("violates the clause list.paging.address, and is not followed, if it is %s", async (link) => {
    const { failure, targets } = await followLink(link)
    expect(failure).toMatchObject({ _tag: "Violation", clause: "list.paging.address" })
    expect(targets).toEqual([])
  })

  it("keeps its cursor when a law changes the limit", async () => {
    const result = await evaluate("list.paging.last", { status: undefined }, (_request, index) =>
      index === 0
        ? [pets(1, 100), next(`/v1/pets?cursor=${cursor}&limit=100`)]
        : index === 3
          ? [pets(101, 4), next(`/v1/pets?cursor=y`)]
          : [pets(101, 5)]
    )
    expect(result.failure).toBeUndefined()
    expect(result.lists.slice(1)).toEqual([
      `/v1/pets?cursor=${cursor}&limit=100`,
      `/v1/pets?cursor=${cursor}&limit=5`,
      `/v1/pets?cursor=${cursor}&limit=4`
    ])
  })

  it("has one character of its cursor replaced when a law forges it", async () => {
    const result = await evaluate("list.paging.forged", { alter: 1 }, () => [
      pets(1, 1),
      next("/v1/pets?limit=1&cursor=%2Ba+b/")
    ])
    expect(result.lists.at(-1)).toBe("/v1/pets?limit=1&cursor=%2Ba+0/")
  })
})
