/** Programs about pages of lists, and about decisions of our own such as requests with several errors. */
import * as Effect from "effect/Effect"
import * as LinkHeader from "../http/LinkHeader.ts"
import * as RequestTarget from "../http/RequestTarget.ts"
import { bytes, headerValues } from "../http/Wire.ts"
import type { Exchange } from "../model/Exchange.ts"
import * as Bodies from "./Bodies.ts"
import * as Calls from "./Calls.ts"
import * as Draw from "./Draw.ts"
import * as Names from "./Names.ts"
import * as Pairs from "./Pairs.ts"
import { type Program, program, type Tools } from "./Program.ts"
import * as Queries from "./Queries.ts"
import { words } from "./Words.ts"

/** Maximum number of pages of a list that are requested. */
const MAX_PAGES = 12

/** Returns the path of the next page below the base address, as the link of a page gives it. */
const nextOf = ({ basePath }: Tools, { request, response }: Exchange): string | undefined => {
  if (response === undefined) return undefined
  const [target] = LinkHeader.targets(headerValues(response, "link"), "next")
  const next = target === undefined ? undefined : RequestTarget.resolve(target, request.target)
  if (next === undefined) return undefined
  if (next.isAbsolute) return `/pets${next.query}`
  return next.path.startsWith(basePath) ? next.path.slice(basePath.length) + next.query : undefined
}

/** Requests the pages of a list; an animal is created after the first one. */
const walk = Effect.fnUntraced(function* (tools: Tools, path: string, pages = MAX_PAGES) {
  let next: string | undefined = path
  for (let page = 0; page < pages && next !== undefined; page++) {
    next = nextOf(tools, yield* tools.send({ path: next }))
    if (page === 0) yield* Calls.send(tools, Calls.calls.creation)
  }
})

const fields = { profile: "core", isDesign: true } as const

const forged = ["", "0".repeat(32), "f".repeat(32), ...words("0 1 -1 abc null %00 MQ== ..%2F.. %zz")]

export const programs: ReadonlyArray<Program> = [
  /** The contract knows no pages; but the target of a link is a list, whose status restricts it. */
  program("linked pages", { profile: "core", requests: 12 }, function* (tools) {
    for (const filter of Queries.filters) yield* walk(tools, Queries.list("limit=2", filter), 3)
  }),
  program("pages", { ...fields, requests: 100 }, function* (tools) {
    yield* Calls.stock(tools, 25)
    for (const limit of [100, 50, 20, 7, 1]) {
      for (const filter of limit < 20 ? yield* Draw.some(Queries.filters, 1) : Queries.filters)
        yield* walk(tools, Queries.list(`limit=${limit}`, filter))
    }
  }),
  program("cursors", { ...fields, requests: 56 }, function* (tools) {
    yield* Calls.stock(tools, 25)
    for (const cursor of forged) yield* tools.send({ path: `/pets?cursor=${cursor}` })
    for (const filter of Queries.filters) {
      const next = nextOf(tools, yield* tools.send({ path: Queries.list("limit=2", filter) }))
      const cursor = RequestTarget.parameters(next ?? "").find(([name]) => name === "cursor")?.[1]
      if (next === undefined || cursor === undefined) continue
      for (const other of [undefined, ...Queries.statuses])
        yield* tools.send({ path: RequestTarget.withParameter(next, "status", other) })
      for (const part of [0, 0.3, 0.6, 1]) {
        const at = Math.round((cursor.length - 1) * part)
        const altered = `${cursor.slice(0, at)}${cursor.charAt(at) === "0" ? "1" : "0"}${cursor.slice(at + 1)}`
        yield* tools.send({ path: RequestTarget.withParameter(next, "cursor", altered) })
      }
      yield* tools.send({ path: `${next}&cursor=${cursor}` })
      yield* tools.send({ method: "HEAD", path: next })
    }
  }),
  /** Sends requests with several errors, every two parts of a request together. */
  program("several errors", { ...fields, requests: 25 }, function* (tools) {
    const rows = yield* Pairs.cover({
      missing: ["none", "name", "categoryId"],
      form: [Bodies.plain, { write: () => "{" }, { write: () => "x".repeat(70_000) }],
      types: [["application/json"], ["text/plain"], []],
      method: ["POST", "PUT", "GET", "HEAD"],
      path: ["/pets", "/nothing", `/pets/${Calls.UNKNOWN_ID}`, "/pets/abc", "/pets?limit=0"],
      key: ["main", "none"] as const
    })
    for (const { form, key, method, missing, path, types } of rows) {
      const members = Calls.members(tools).filter(([name]) => name !== missing)
      yield* tools.send({ ...Bodies.creation(members, form, types), key, method, path })
    }
  }),
  /** Sizes of bodies around the largest one that our service accepts. */
  program("sizes of bodies", { ...fields, requests: 12 }, function* (tools) {
    for (const size of [65_535, 65_536, 65_537, 262_144]) {
      for (const padding of [" ", "\u{1f408}"]) {
        const headers = yield* Draw.one([[], [["Transfer-Encoding", "chunked"] as const]])
        const members = Calls.members(tools)
        const write = (text: string) =>
          Bodies.creation(members, { ...Bodies.adding(`"padding":"${text}"`), headers })
        const room = size - bytes(String(write("").body)).length
        yield* Calls.createAndGet(tools, write(Names.ofLength("", padding, room, Names.units.bytes)))
      }
    }
  })
]
