/** Finds the ids that one response of a case contains and that later requests use. */
import type { Animal } from "../../http/Animal.ts"
import type { Exchange } from "../../http/Exchange.ts"
import * as PetJson from "../../http/PetJson.ts"
import { text, type WireResponse } from "../../http/Wire.ts"

/** An id that one exchange returned and later exchanges use, and the name of its variable in the script. */
export interface Chain {
  /** The exchange that created the animal; `undefined` if an earlier case created it. */
  readonly creation?: Exchange
  /** JSON of the animal that the script creates in place of an animal of an earlier case. */
  readonly animal?: string
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

/** Returns the id in the path of a request, as text. */
const requestedId = ({ request }: Exchange, basePath: string): string | undefined =>
  request.target.startsWith(`${basePath}/pets/`)
    ? /^(-?[0-9]+)(?:[/?]|$)/.exec(request.target.slice(basePath.length + 6))?.[1]
    : undefined

/** Returns the ids of the animals that the requests get; this case or an earlier case created the animals. */
export const chainsOf = (
  exchanges: ReadonlyArray<Exchange>,
  basePath: string,
  created: ReadonlyArray<Animal>
): ReadonlyArray<Chain> => {
  const chains: Array<Chain> = []
  for (const [index, creation] of exchanges.entries()) {
    const id = isCreation(creation) ? idIn(creation.response) : undefined
    if (id === undefined) continue
    if (!exchanges.slice(index + 1).some((later) => requestedId(later, basePath) === id)) continue
    chains.push({ creation, id, variable: `ID${chains.length + 1}` })
  }
  for (const exchange of exchanges) {
    const id = requestedId(exchange, basePath)
    const animal = created.find((candidate) => String(candidate.id) === id)
    if (id === undefined || animal === undefined || chains.some((chain) => chain.id === id)) continue
    chains.push({ animal: PetJson.draft(animal), id, variable: `ID${chains.length + 1}` })
  }
  return chains
}

/** Returns the latest chain with the id that a request uses; `undefined` if there is none. */
export const chainOf = (
  exchange: Exchange,
  { basePath, ids }: { readonly basePath: string; readonly ids: ReadonlyArray<Chain> }
): Chain | undefined => {
  const id = requestedId(exchange, basePath)
  return ids.findLast((chain) => chain.id === id && (chain.creation?.index ?? -1) < exchange.index)
}
