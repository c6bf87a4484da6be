/** The responses to creations (design of §4.2). */
import * as CreatedAnimal from "../http/CreatedAnimal.ts"
import * as ExactJson from "../http/ExactJson.ts"
import { header, text } from "../http/Wire.ts"
import { type Ruling, rule } from "../model/Exchange.ts"
import type { Seen } from "../model/Seen.ts"
import * as Creation from "./Creation.ts"
import { REMOVAL } from "./Expected.ts"
import * as Lists from "./Lists.ts"

/** Judges the response to a creation. */
export const judge = (exchange: Seen["exchange"], basePath: string): ReadonlyArray<Ruling> => {
  const { from, request, response, to } = exchange
  const animal = CreatedAnimal.of(exchange)
  if (animal === undefined) return []
  const location = header(response, "location")
  const path = `/pets/${animal.id}`
  const isAddress = Lists.isAddressOf(location ?? "", basePath, path)
  const ofLocation = [
    ...(to < REMOVAL ? [rule(isAddress, "create.location", basePath + path, location)] : []),
    ...(from < REMOVAL ? [] : [rule(location === undefined, "create.location", "no Location", location)])
  ]
  const sent = Creation.read(request)
  if (!Creation.isDraft(sent)) return ofLocation
  const members = Object.keys(Object(ExactJson.parse(text(response.body), Number)))
    .toSorted()
    .join()
  const isExact = members === "categoryId,id,name,status"
  const isAvailable = animal.status === "available"
  const [name, returned] = [sent.name, animal.name].map((each) => JSON.stringify(each))
  return [
    ...ofLocation,
    rule(name === returned, "create.name-exact", `${name}`, returned),
    rule(isExact, "create.unknown-fields", "only the four fields", members),
    ...(sent.hasStatus ? [] : [rule(isAvailable, "create.status-default", "available", animal.status)])
  ]
}
