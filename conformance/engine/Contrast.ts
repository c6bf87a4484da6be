/** Finds what all exchanges that break a law have in common, and few of those that keep it: often the cause. */
import { parameters } from "../http/RequestTarget.ts"
import { text } from "../http/Wire.ts"
import type { Exchange } from "../model/Exchange.ts"
import type { Asked, Operation } from "../model/Request.ts"

/** Minimum numbers of exchanges that broke and that kept a law, for a comparison to mean something. */
const [MIN_BROKEN, MIN_KEPT] = [3, 5]

/** Maximum share of the exchanges that kept a law which may have what the others have in common. */
const MAX_SHARE = 0.2

/** Returns in words what the exchanges that broke a law have in common; `undefined` if nothing tells them apart. */
export const between = (
  broken: ReadonlyArray<Exchange>,
  kept: ReadonlyArray<Exchange>,
  read: (exchange: Exchange) => Asked
): string | undefined => {
  if (broken.length < MIN_BROKEN || kept.length < MIN_KEPT) return undefined
  const traits = (exchange: Exchange) => new Set(traitsOf(exchange, read(exchange)))
  const [first = new Set<string>(), ...others] = broken.map(traits)
  const common = [...first].filter((trait) => others.every((each) => each.has(trait)))
  const among = kept.map(traits)
  const pairs = common.flatMap((one, index) => common.slice(index + 1).map((other) => [one, other]))
  const ranked = [...common.map((one) => [one]), ...pairs].map((some) => ({
    some,
    alike: among.filter((each) => some.every((trait) => each.has(trait))).length
  }))
  // Two traits must leave at most two thirds of what one of them leaves.
  const [best] = ranked
    .filter(({ alike }) => alike <= kept.length * MAX_SHARE)
    .toSorted((a, b) => a.alike * (a.some.length + 1) - b.alike * (b.some.length + 1))
  if (best === undefined) return undefined
  const counts = `${broken.length} of ${broken.length} violations, ${best.alike} of ${kept.length} exchanges`
  return `${best.some.join(", ")}: ${counts} that kept the law`
}

/** Returns what may matter about an exchange, the most telling first. */
const traitsOf = (
  { request: { headers, method, target }, response }: Exchange,
  { caller, operation }: Asked
): ReadonlyArray<string> => [
  ...traitsOfOperation(operation),
  ...traitsOfQuery(target),
  ...(headers.some(([name]) => name.toLowerCase() === "transfer-encoding") ? ["a body in chunks"] : []),
  caller.key === undefined ? caller.because : `the ${caller.key.name} key`,
  `a request with ${method}`,
  ...(response === undefined ? [] : [`a response with ${response.status}`]),
  ...(response !== undefined && text(response.body).trim() === "[]" ? ["an empty list"] : [])
]

const traitsOfOperation = (operation: Operation): ReadonlyArray<string> => {
  switch (operation.is) {
    case "create": {
      const { because, sent } = operation.creation
      const { categoryId = 0n, name = "", status } = sent
      return [
        status === undefined ? "a creation without a status" : "a creation with a status",
        ...(BigInt(Number(categoryId)) === categoryId ? [] : ["a category that no double can represent"]),
        ...(/^[ -~]*$/.test(name) ? [] : ["a name beyond ASCII"]),
        ...(because === "" ? [] : [because])
      ]
    }
    case "get":
      return ["getPet"]
    case "list":
      return ["listPets"]
    case "none":
      return ["no operation of the contract"]
  }
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
