/** Encodes planned requests as bytes for one server. */
import type { Tokens } from "./Catalogue.ts"
import { type Filter, PAGE_SIZE, type PlannedRequest, type Sender } from "./Workload.ts"

/** The cursors that a server has issued: for each filter, the cursors of pages 1, 2, …; page 0 needs no cursor. */
export type Cursors = Readonly<Record<Filter, ReadonlyArray<string>>>

/** The data of one server that its requests need. */
export interface Address {
  readonly port: number
  readonly tokens: Tokens
  readonly cursors: Cursors
}

/** Collects the cursors of a server page by page; `linkOf` returns the `Link` header of a list. */
export const collectCursors = async (
  linkOf: (target: string) => Promise<string | undefined>
): Promise<Cursors> => {
  const walk = async (filter: Filter): Promise<ReadonlyArray<string>> => {
    const first = `/v1/pets?limit=${PAGE_SIZE}${filter === "all" ? "" : `&status=${filter}`}`
    const found: Array<string> = []
    for (let target = first; ; target = `${first}&cursor=${found.at(-1)}`) {
      const cursor = /[?&]cursor=([^&>]*)[^>]*>; *rel="next"/.exec((await linkOf(target)) ?? "")?.[1]
      if (cursor === undefined) return found
      found.push(cursor)
    }
  }
  const [all, available, pending, sold] = await Promise.all([
    walk("all"),
    walk("available"),
    walk("pending"),
    walk("sold")
  ])
  return { all, available, pending, sold }
}

/** Returns the target of a request, with the server's cursor. */
export const targetOf = ({ cursor, target }: PlannedRequest, cursors: Cursors): string => {
  if (cursor === undefined) return target
  const value = cursors[cursor.filter][cursor.page - 1]
  if (value === undefined) throw new Error(`no cursor for page ${cursor.page} of ${cursor.filter}`)
  return `${target}${target.includes("?") ? "&" : "?"}cursor=${value}`
}

/** Returns the value of the `Authorization` header, or `undefined` if the header is not sent. */
export const authorizationOf = ({ index, kind }: Sender, tokens: Tokens): string | undefined =>
  kind === "absent" ? undefined : `Bearer ${tokens[kind][index]}`

/** Encodes a request. */
export const bytesOf = (request: PlannedRequest, { cursors, port, tokens }: Address): Buffer => {
  const { body, method, sender } = request
  const authorization = authorizationOf(sender, tokens)
  return Buffer.from(
    [
      `${method} ${targetOf(request, cursors)} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
      "Accept: */*",
      ...(body === undefined
        ? []
        : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`]),
      "",
      body ?? ""
    ].join("\r\n")
  )
}
