/** Judges the animal in the response to a creation (design of §2, §4.2). */
import { getPet } from "../../core/deprecation/Deprecation.ts"
import type { Animal } from "../http/Animal.ts"
import * as PetJson from "../http/PetJson.ts"
import { header, text } from "../http/Wire.ts"
import { type Ruling, rule } from "../model/Exchange.ts"
import type { Operation } from "../model/Request.ts"
import type { Seen } from "../model/Seen.ts"
import { isAddressOf } from "./Reading.ts"

export const judge = (
  exchange: Seen["exchange"],
  operation: Operation,
  basePath: string
): ReadonlyArray<Ruling> => {
  const animal = PetJson.createdBy(exchange)
  if (animal === undefined || operation.is !== "create") return []
  const { name, status } = operation.creation.sent
  const members = Object.keys(JSON.parse(text(exchange.response.body)))
    .toSorted()
    .join()
  const isExact = members === "categoryId,id,name,status"
  const isAvailable = animal.status === "available"
  const all = [
    ...ofLocation(exchange, animal, basePath),
    rule(isExact, "create.unknown-fields", "only the four fields", members)
  ]
  // The fields of some unusual bodies are not known.
  if (name === undefined) return all
  const [sent, returned] = [name, animal.name].map((each) => JSON.stringify(each))
  all.push(rule(sent === returned, "create.name-exact", `${sent}`, returned))
  if (status === undefined) all.push(rule(isAvailable, "create.status-default", "available", animal.status))
  return all
}

/** A creation shows where the animal can be fetched, as long as it can be. */
const ofLocation = (
  { from, response, to }: Seen["exchange"],
  { id }: Animal,
  basePath: string
): ReadonlyArray<Ruling> => {
  const location = header(response, "location")
  const path = `/pets/${id}`
  if (to < getPet.sunsetAt)
    return [rule(isAddressOf(location ?? "", basePath, path), "create.location", basePath + path, location)]
  return from < getPet.sunsetAt
    ? []
    : [rule(location === undefined, "create.location", "no Location", location)]
}
