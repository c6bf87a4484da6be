/** Makes servers that read the parameters of a list wrongly, or return wrong lists. */
import type { PetStatus } from "../../../core/domain/PetStatus.ts"
import type { Animal } from "../../http/Animal.ts"
import type { WireResponse } from "../../http/Wire.ts"
import type { Where } from "../Fault.ts"
import * as AtHttp from "./AtHttp.ts"
import * as Edit from "./Edit.ts"
import * as Requests from "./Requests.ts"

/** Reads a parameter as another value: `undefined` leaves it unchanged, `null` removes it. */
const readsParameter = (name: string, read: (value: string) => string | null | undefined): Where =>
  AtHttp.requests(Requests.isList, (request) => {
    const given = Requests.parameters(request).get(name)
    const value = given === null ? undefined : read(given)
    return value === undefined ? request : Requests.withParameter(request, name, value ?? undefined)
  })

/** Reads limits that match a pattern as another number; `undefined` leaves them unchanged. */
export const readsLimit = (pattern: RegExp, read: (limit: string) => number | undefined = Number): Where =>
  readsParameter("limit", (limit) => (pattern.test(limit) ? read(limit)?.toString() : undefined))

/** Reads a status as another one: `undefined` leaves it unchanged, `null` removes the filter. */
export const readsStatus = (read: (status: string) => PetStatus | null | undefined): Where =>
  readsParameter("status", read)

/** Changes the animals of a successful list response. */
export const edit =
  (change: (animals: ReadonlyArray<Animal>) => unknown) =>
  (response: WireResponse): WireResponse => {
    const listed = response.status === 200 ? Edit.animalsOf(response) : undefined
    return listed === undefined ? response : Edit.body(Edit.write(change(listed)))(response)
  }
