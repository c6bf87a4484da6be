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

/** The outcome of a law against a server whose lists are a function of the request, and the requested targets. */
const hold = async (
  id: string,
  given: unknown,
  list: (request: WireRequest, index: number) => readonly [body: string, ...headers: ReadonlyArray<Header>],
  basePath = "/v1"
): Promise<{ readonly failure: Failure | undefined; readonly lists: ReadonlyArray<string> }> => {
  let id64 = 1_000_000
  let lists = 0
  const { sent, transport } = recording((request) => {
    if (request.method === "POST") {
      // The suite sends a valid Pet.
      const { categoryId, name, status } = JSON.parse(new TextDecoder().decode(request.body)) as Record<
        string,
        unknown
      >
      return wireResponse(201, [], JSON.stringify({ id: id64++, name, categoryId, status }))
    }
    const [body, ...headers] = list(request, lists++)
    return wireResponse(200, headers, body)
  })
  const check = checks.find((one) => one.id === id)
  if (check === undefined) throw new Error(`there is no ${id}`)
  const failure = await Effect.runPromise(
    Effect.gen(function* () {
      const subject = yield* HttpSubject.make({
        name: "toy",
        transport,
        basePath,
        baseUrl: undefined,
        keys: { main: "main-secret" }
      })
      const held = check.evaluate(subject, given, Trial.make("t"))
      return yield* Effect.match(held, { onSuccess: () => undefined, onFailure: (one) => one })
    })
  )
  return { failure, lists: sent.flatMap(({ method, target }) => (method === "GET" ? [target] : [])) }
}

const walk = "list.paging.walk"

describe("a chain of next links", () => {
  it("that is a cycle is a violation at once", async () => {
    const { failure, lists } = await hold(walk, { limits: [7], status: undefined }, ({ target }) => [
      pets(1, 7),
      next(target)
    ])
    expect(failure).toMatchObject({ _tag: "Violation", expected: "each animal on only one page" })
    expect(lists).toHaveLength(2)
  })

  it("of empty pages is a violation after a number of pages", async () => {
    const { failure, lists } = await hold(walk, { limits: [7], status: undefined }, (_request, index) => [
      "[]",
      next(`/v1/pets?cursor=${index}`)
    ])
    expect(failure).toMatchObject({ _tag: "Violation", clause: "list.paging.last" })
    expect(lists).toHaveLength(60)
  })

  it("without an end is inconclusive, and uses large pages after a number of small ones", async () => {
    const { failure, lists } = await hold(walk, { limits: [7], status: undefined }, ({ target }, index) => [
      pets(index * 100, Number(RequestTarget.parameter(target, "limit"))),
      next(`/v1/pets?limit=${RequestTarget.parameter(target, "limit")}&cursor=${index}`)
    ])
    expect(failure?._tag).toBe("Undecided")
    expect(lists).toHaveLength(60)
    expect(lists[19]).toBe("/v1/pets?limit=7&cursor=18")
    expect(lists[20]).toBe("/v1/pets?limit=100&cursor=19")
  })

  it("with a page of more than 100 animals is a violation of the ceiling", async () => {
    const { failure, lists } = await hold(walk, { limits: [7], status: undefined }, (_request, index) => [
      pets(index * 1_000, 500),
      next(`/v1/pets?cursor=${index}`)
    ])
    expect(failure).toMatchObject({ _tag: "Violation", clause: "list.limit.ceiling", actual: "500" })
    expect(lists).toHaveLength(1)
  })
})

describe("a next link", () => {
  const cursor = "a+b/c=%2B%25%20;x,y'z"

  /** The targets of the lists that follow the first page, which carries the link. */
  const followed = async (link: string, basePath?: string) => {
    const { failure, lists } = await hold(
      walk,
      { limits: [7], status: undefined },
      (_request, index) => (index === 0 ? ["[]", ["Link", link]] : ["[]"]),
      basePath
    )
    return { failure, followed: lists.slice(1) }
  }

  it.each([
    ["a path", `</v1/pets?limit=7&cursor=${cursor}>; rel=next`],
    ["a query", `<?limit=7&cursor=${cursor}>; rel="next"`],
    ["a relative path", `<pets?limit=7&cursor=${cursor}>; rel="prev next"`],
    ["the address of a proxy", `<https://pets.example/v1/pets?limit=7&cursor=${cursor}>; REL=NEXT`],
    ["a public base address", `<https://pets.example/api/v3/pets?limit=7&cursor=${cursor}>; rel=next`],
    ["the second link of a field", `</v1/pets>; rel=first, </v1/pets?limit=7&cursor=${cursor}>; rel=next`],
    ["one with an anchor here", `</v1/pets?limit=7&cursor=${cursor}>; rel=next; anchor="/v1/pets?limit=7"`]
  ])("that is %s is followed as written", async (_what, link) => {
    // The pages are empty, so the law fails at the end; this test is about the requests.
    expect((await followed(link)).followed).toEqual([`/v1/pets?limit=7&cursor=${cursor}`])
  })

  it("is also followed without a base path", async () => {
    expect((await followed("</pets?cursor=x>; rel=next", "")).followed).toEqual(["/pets?cursor=x"])
    expect((await followed("<http://a.example/v1/pets?cursor=x>; rel=next", "")).followed).toEqual([
      "/pets?cursor=x"
    ])
  })

  it("with an HTML entity is followed without decoding it", async () => {
    expect((await followed("</v1/pets?limit=7&amp;cursor=x>; rel=next")).followed).toEqual([
      "/v1/pets?limit=7&amp;cursor=x"
    ])
  })

  it("of another resource is ignored", async () => {
    expect((await followed('</v1/pets?cursor=x>; rel=next; anchor="/v1/cats"')).followed).toEqual([])
  })

  it.each([
    "</other/pets?cursor=x>; rel=next",
    "</v2/pets?cursor=x>; rel=next",
    "<https://pets.example/cats?cursor=x>; rel=next",
    "</v1/pets?cursor=a b>; rel=next",
    "</v1/pets?cursor=100%>; rel=next",
    "<javascript:alert(1)>; rel=next"
  ])("%s violates the clause about addresses, and is not followed", async (link) => {
    const { failure, followed: targets } = await followed(link)
    expect(failure).toMatchObject({ _tag: "Violation", clause: "list.paging.address" })
    expect(targets).toEqual([])
  })

  it("keeps its cursor when a law changes the limit, and the rest of the cursor when a law alters it", async () => {
    const last = await hold("list.paging.last", { status: undefined }, (_request, index) =>
      index === 0
        ? [pets(1, 100), next(`/v1/pets?cursor=${cursor}&limit=100`)]
        : index === 3
          ? [pets(101, 4), next(`/v1/pets?cursor=y`)]
          : [pets(101, 5)]
    )
    expect(last.failure).toBeUndefined()
    expect(last.lists.slice(1)).toEqual([
      `/v1/pets?cursor=${cursor}&limit=100`,
      `/v1/pets?cursor=${cursor}&limit=5`,
      `/v1/pets?cursor=${cursor}&limit=4`
    ])
    const forged = await hold("list.paging.forged", { alter: 1 }, () => [
      pets(1, 1),
      next("/v1/pets?limit=1&cursor=%2Ba+b/")
    ])
    expect(forged.lists.at(-1)).toBe("/v1/pets?limit=1&cursor=%2Ba+0/")
  })
})
