/** Reads the link from a page of a list to the next page. */
import * as Effect from "effect/Effect"
import type { Http } from "../../evaluation/Http.ts"
import { Violation } from "../../evaluation/Outcome.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as LinkHeader from "../../http/LinkHeader.ts"
import * as RequestTarget from "../../http/RequestTarget.ts"
import { headerValues } from "../../http/Wire.ts"

/** Returns the target of the next link as written; `undefined` if the page has none. */
export const targetOf = ({ request, response }: Exchange): string | undefined =>
  LinkHeader.parse(headerValues(response, "link")).find(
    (link) => LinkHeader.hasRelation(link, "next") && isForPage(link.parameters.get("anchor"), request.target)
  )?.target

/** Whether the link is for this page: an `anchor` can name another resource (RFC 8288 §3.2). */
const isForPage = (anchor: string | undefined, target: string): boolean => {
  if (anchor === undefined) return true
  const resolved = RequestTarget.resolve(anchor, target)
  return resolved !== undefined && !resolved.isAbsolute && resolved.path + resolved.query === target
}

/** Resolves the next link (RFC 3986 §5); returns `undefined` if the page has no link to an HTTP resource. */
export const resolved = (exchange: Exchange): RequestTarget.Resolved | undefined => {
  const target = targetOf(exchange)
  return target === undefined ? undefined : RequestTarget.resolve(target, exchange.request.target)
}

/**
 * Returns the path of the next link below the base address; `undefined` if the page has no link. Fails if the link does
 * not lead to a list there. Only the query of an absolute link is used, because the link may contain the public address
 * of a server that is tested without its proxy.
 */
export const pathOf = (
  { facts: { basePath } }: Http,
  exchange: Exchange
): Effect.Effect<string | undefined, Violation> => {
  const target = targetOf(exchange)
  if (target === undefined) return Effect.succeed(undefined)
  const next = resolved(exchange)
  if (next?.isAbsolute === true && next.path.endsWith("/pets")) return Effect.succeed(`/pets${next.query}`)
  if (next?.isAbsolute === false && next.path.startsWith(`${basePath}/`)) {
    return Effect.succeed(next.path.slice(basePath.length) + next.query)
  }
  return Effect.fail(
    new Violation({
      clause: "list.paging.address",
      expected: "a next link to a path below the base address, or an absolute address that ends in /pets",
      actual: `<${target}>`
    })
  )
}
