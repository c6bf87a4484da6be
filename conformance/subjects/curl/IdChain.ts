/** Ids that one request returns and later requests of a script use. */
import type { Exchange } from "../../http/Exchange.ts"
import { text, type WireResponse } from "../../http/Wire.ts"

/** An id that one exchange brought and later ones use. */
export interface Chain {
  readonly from: Exchange
  readonly id: string
  readonly variable: string
}

/** A `sed` pattern that finds the same id as `idIn`. */
export const idPattern = '.*"id"[[:space:]]*:[[:space:]]*\\(-\\{0,1\\}[0-9]\\{1,\\}\\).*'

const idIn = (response: WireResponse): string | undefined => {
  for (const line of text(response.body).split("\n")) {
    const id = /^.*"id"\s*:\s*(-?[0-9]+)/.exec(line)?.[1]
    if (id !== undefined) return id
  }
  return undefined
}

const isCreation = ({ request, response }: Exchange): boolean =>
  request.method === "POST" && response.status >= 200 && response.status < 300

/** The id that a request asks for, as it stands in the path. */
const idAskedFor = ({ request }: Exchange, basePath: string): string | undefined =>
  request.target.startsWith(`${basePath}/pets/`)
    ? /^(-?[0-9]+)(?:[/?]|$)/.exec(request.target.slice(basePath.length + 6))?.[1]
    : undefined

export const chainsOf = (exchanges: ReadonlyArray<Exchange>, basePath: string): ReadonlyArray<Chain> => {
  const chains: Array<Chain> = []
  for (const [at, from] of exchanges.entries()) {
    const id = isCreation(from) ? idIn(from.response) : undefined
    if (id === undefined) continue
    if (!exchanges.slice(at + 1).some((later) => idAskedFor(later, basePath) === id)) continue
    chains.push({ from, id, variable: `ID${chains.length + 1}` })
  }
  return chains
}

/** The latest chain that a request hangs on. */
export const chainOf = (
  exchange: Exchange,
  { basePath, ids }: { readonly basePath: string; readonly ids: ReadonlyArray<Chain> }
): Chain | undefined => {
  const id = idAskedFor(exchange, basePath)
  return ids.findLast((chain) => chain.id === id && chain.from.index < exchange.index)
}
