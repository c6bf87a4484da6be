/** Finds what all exchanges that break a law have in common, and few of those that keep it: often the cause. */
import { parameters } from "../http/RequestTarget.ts"
import { text } from "../http/Wire.ts"
import type { Creation } from "../model/Creation.ts"
import type { Exchange } from "../model/Exchange.ts"
import type { Asked } from "../model/Request.ts"

/** Minimum numbers of exchanges that broke and that kept a law, for a comparison to mean something. */
const [MIN_BROKEN, MIN_KEPT] = [3, 10]

/** Maximum share of the exchanges that kept a law which may have what the others have in common. */
const MAX_SHARE = 0.1

/** Returns in words what the exchanges that broke a law have in common; `undefined` if nothing tells them apart. */
export const between = (
  broken: ReadonlyArray<Exchange>,
  kept: ReadonlyArray<Exchange>,
  read: (exchange: Exchange) => Asked
): string | undefined => {
  const kindOf = (exchange: Exchange) => `${exchange.request.method} ${read(exchange).operation.is}`
  const kinds = new Set(broken.map(kindOf))
  const alike = kept.filter((exchange) => kinds.has(kindOf(exchange)))
  const traits = (some: ReadonlyArray<Exchange>) => some.map((each) => new Set(traitsOf(each, read(each))))
  const methods = (some: ReadonlyArray<Exchange>) =>
    some.map(({ request }) => new Set([`a request with ${request.method}`]))
  // Other operations differ in much that has nothing to do with the law.
  return common(traits(broken), traits(alike)) ?? common(methods(broken), methods(kept))
}

/** Returns the trait, or the two traits, that all of the first and the fewest of the others have. */
const common = (
  broken: ReadonlyArray<ReadonlySet<string>>,
  kept: ReadonlyArray<ReadonlySet<string>>
): string | undefined => {
  if (broken.length < MIN_BROKEN || kept.length < MIN_KEPT) return undefined
  const [first = new Set<string>(), ...others] = broken
  const shared = [...first].filter((trait) => others.every((each) => each.has(trait)))
  const pairs = shared.flatMap((one, index) => shared.slice(index + 1).map((other) => [one, other]))
  const [best] = [...shared.map((one) => [one]), ...pairs]
    .map((some) => ({ some, count: kept.filter((each) => some.every((trait) => each.has(trait))).length }))
    .filter(({ count }) => count <= kept.length * MAX_SHARE)
    // Two traits must leave at most two thirds of what one of them leaves.
    .toSorted((a, b) => a.count * (a.some.length + 1) - b.count * (b.some.length + 1))
  if (best === undefined) return undefined
  const counts = `${broken.length} of ${broken.length} violations, ${best.count} of ${kept.length} exchanges`
  return `${best.some.join(", ")}: ${counts} that kept the law`
}

/** Returns what may matter about an exchange, the most telling first. */
const traitsOf = (
  { request: { headers, target }, response }: Exchange,
  { caller, operation }: Asked
): ReadonlyArray<string> => [
  ...(operation.is === "create" ? traitsOfCreation(operation.creation) : []),
  ...(operation.is === "list" ? traitsOfQuery(target) : []),
  ...(headers.some(([name]) => name.toLowerCase() === "transfer-encoding") ? ["a body in chunks"] : []),
  caller.key === undefined ? caller.because : `the ${caller.key.name} key`,
  ...(response === undefined ? [] : [`a response with ${response.status}`]),
  ...(response !== undefined && text(response.body).trim() === "[]" ? ["an empty list"] : [])
]

const traitsOfCreation = ({ because, sent }: Creation): ReadonlyArray<string> => {
  const { categoryId = 0n, name = "", status } = sent
  return [
    status === undefined ? "a creation without a status" : "a creation with a status",
    ...(BigInt(Number(categoryId)) === categoryId ? [] : ["a category that no double can represent"]),
    ...(/^[ -~]*$/.test(name) ? [] : ["a name beyond ASCII"]),
    ...(because === "" ? [] : [because])
  ]
}

const traitsOfQuery = (target: string): ReadonlyArray<string> => {
  const given = parameters(target)
  const names = [...new Set(given.map(([name]) => name))]
  return [
    ...(names.length === 0 ? ["no query"] : []),
    ...names.map((name) => `\`${name}\` given`),
    ...names.flatMap((name, index) =>
      names.slice(index + 1).map((later) => `\`${name}\` before \`${later}\``)
    ),
    ...given.map(([name, value]) => `${name}=${value}`),
    ...["limit", "status"].filter((name) => !names.includes(name)).map((name) => `no \`${name}\``)
  ]
}
