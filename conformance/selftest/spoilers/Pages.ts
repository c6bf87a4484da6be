/** Makes a server with its own pages and cursors; the rules for them can be wrong. */
import * as Effect from "effect/Effect"
import type { Animal } from "../../http/Animal.ts"
import type { Transport } from "../../http/Wire.ts"
import * as Edit from "./Edit.ts"
import * as Requests from "./Requests.ts"

/** The rules for pages; a rule that is absent is correct. */
export interface Rules {
  /** Whether an animal belongs on a page that starts after the id `after`. */
  readonly follows?: (id: bigint, after: bigint) => boolean
  /** Returns the status filter of the pages after the first. */
  readonly filter?: (status: string | null) => string | null
  /** True if a cursor is accepted with a different status filter. */
  readonly isUnbound?: boolean
  /** Returns the id after which the page of an unknown cursor starts; `undefined` rejects the cursor. */
  readonly forged?: (cursor: string) => bigint | undefined
  /** Whether a page links to the next one; `more` is the number of animals that follow it. */
  readonly isLinked?: (more: number, page: ReadonlyArray<Animal>, limit: number) => boolean
  /** The maximum `limit`; 100 when absent. */
  readonly ceiling?: number
  /** Returns the URL of the next link without its query, from the path of the request. */
  readonly address?: (path: string) => string
  /** Changes the parameters of the next link. */
  readonly changeParameters?: (parameters: URLSearchParams) => void
}

/** Creates a server that lists the animals created through it; a cursor is a sequence number and the last id of the page. */
export const server =
  ({
    address = (path) => path,
    ceiling = 100,
    filter = (status) => status,
    follows = (id, after) => id > after,
    forged = () => undefined,
    isLinked = (more) => more > 0,
    isUnbound = false,
    changeParameters = () => {}
  }: Rules) =>
  (real: Transport): Transport => {
    const animals: Array<Animal> = []
    const cursors = new Map<string, { readonly after: bigint; readonly status: string | null }>()
    return (request) => {
      if (!Requests.isList(request)) {
        return Effect.map(real(request), (response) => {
          const animal = Requests.isCreation(request) && response.status === 201 && Edit.animalOf(response)
          if (animal) animals.push(animal)
          return response
        })
      }
      const parameters = Requests.parameters(request)
      const [cursor, status] = [parameters.get("cursor"), parameters.get("status")]
      const limit = Number(parameters.get("limit") ?? 20)
      const known = cursors.get(cursor ?? "")
      const isAccepted = cursor === null || (known !== undefined && (isUnbound || known.status === status))
      const after = isAccepted ? known?.after : forged(cursor)
      if (!isAccepted && after === undefined) return real(Requests.withParameter(request, "limit", "0"))
      const isLarge = limit > 100 && limit <= ceiling
      const bounded = isLarge ? Requests.withParameter(request, "limit", "100") : request
      return Effect.map(real(Requests.withParameter(bounded, "cursor", undefined)), (response) => {
        if (response.status !== 200) return response
        const wanted = after === undefined ? status : filter(status)
        const all = animals.filter(
          (animal) =>
            (wanted === null || animal.status === wanted) &&
            (after === undefined || follows(animal.id, after))
        )
        const listed = all.slice(0, limit)
        const page = Edit.without("link")(Edit.body(Edit.write(listed))(response))
        const last = listed.at(-1)
        if (last === undefined || !isLinked(all.length - listed.length, listed, limit)) return page
        const next = `${cursors.size}.${last.id}`
        cursors.set(next, { after: last.id, status })
        parameters.set("cursor", next)
        changeParameters(parameters)
        const path = request.target.split("?")[0] ?? ""
        return Edit.header("Link", `<${address(path)}?${parameters}>; rel="next"`)(page)
      })
    }
  }
