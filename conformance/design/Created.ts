/** The responses to creations, and the integers of all responses (design of §2, §4.2). */
import * as CreatedAnimal from "../http/CreatedAnimal.ts"
import * as ExactJson from "../http/ExactJson.ts"
import { header, text, type WireResponse } from "../http/Wire.ts"
import { type Ruling, rule } from "../model/Exchange.ts"
import type { Seen } from "../model/Seen.ts"
import * as Creation from "./Creation.ts"
import { REMOVAL } from "./Expected.ts"
import * as Lists from "./Lists.ts"

/** Judges the response to a creation. */
export const judge = (exchange: Seen["exchange"], basePath: string): ReadonlyArray<Ruling> => {
  const { from, request, response, to } = exchange
  const animal = CreatedAnimal.of(exchange)
  const sent = Creation.read(request)
  if (animal === undefined) return []
  const location = header(response, "location")
  const path = `/pets/${animal.id}`
  const isAddress = Lists.isAddressOf(location ?? "", basePath, path)
  const ofLocation = [
    ...(to < REMOVAL ? [rule(isAddress, "create.location", basePath + path, location)] : []),
    ...(from < REMOVAL ? [] : [rule(location === undefined, "create.location", "no Location", location)])
  ]
  if (Creation.isDefect(sent)) return ofLocation
  const members = Object.keys(Object(ExactJson.parse(text(response.body), Number))).toSorted()
  const isExact = members.join() === "categoryId,id,name,status"
  const isAvailable = animal.status === "available"
  const [name, returned] = [sent.name, animal.name].map((each) => JSON.stringify(each))
  return [
    ...ofLocation,
    rule(name === returned, "create.name-exact", `${name}`, returned),
    rule(isExact, "create.unknown-fields", "only the four fields", members.join(", ")),
    ...(sent.hasStatus ? [] : [rule(isAvailable, "create.status-default", "available", animal.status)])
  ]
}

/** Every int64 is a JSON number with all its digits. */
export const ofIntegers = (response: WireResponse): ReadonlyArray<Ruling> => {
  const odd: Array<string> = []
  try {
    ExactJson.parse(text(response.body), (source) => {
      if (!/^-?(?:0|[1-9][0-9]*)$/.test(source)) odd.push(source)
      return 0
    })
  } catch {
    return []
  }
  return [rule(odd.length === 0, "resources.int64-numbers", "integers in plain digits", odd[0])]
}
