/** Makes servers that change the body of a creation, or store or return the wrong animal. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as PetJson from "../../http/PetJson.ts"
import { bytes, type Transport, text, type WireRequest, type WireResponse } from "../../http/Wire.ts"
import type { Where, World } from "../Fault.ts"
import * as AtHttp from "./AtHttp.ts"
import * as Edit from "./Edit.ts"
import { failure } from "./ErrorResponses.ts"
import * as Requests from "./Requests.ts"

/** Changes the body of a creation for which `isAffected` is true, by default of each, before the server reads it. */
export const reads = (
  change: (body: string) => string,
  isAffected: (request: WireRequest, world: World) => boolean = () => true
): Where =>
  AtHttp.requests(
    (request, world) => Requests.isCreation(request) && isAffected(request, world),
    (request) => ({ ...request, body: bytes(change(text(request.body))) })
  )

/** Changes the members of a JSON body as `reads` changes a body. */
export const readsMembers = (
  change: (members: { readonly [name: string]: unknown }) => unknown,
  isAffected?: (request: WireRequest, world: World) => boolean
): Where =>
  reads(
    (body) =>
      Result.match(PetJson.parse(body), {
        onSuccess: (value) =>
          typeof value === "object" && value !== null && !Array.isArray(value)
            ? Edit.write(change({ ...value }))
            : body,
        onFailure: () => body
      }),
    isAffected
  )

/** Returns 500 for creations with these bodies. */
export const failsOn = (isFatal: (body: string) => boolean): Where =>
  AtHttp.responses({ to: (request) => Requests.isCreation(request) && isFatal(text(request.body)) }, failure)

const nameIn = (request: WireRequest): string | undefined => /"name":("[^"]*")/.exec(text(request.body))?.[1]

/** After a creation was rejected with this status, stores an animal with the name in the rejected body. */
export const storesAfter =
  (status: number, authorized: (request: WireRequest) => WireRequest) =>
  (real: Transport): Transport =>
  (request) =>
    Effect.tap(real(request), (response) => {
      const name = nameIn(request)
      return response.status === status && Requests.isCreation(request) && name !== undefined
        ? real(authorized({ ...request, body: bytes(`{"name":${name},"categoryId":0,"status":"sold"}`) }))
        : Effect.void
    })

/** Responds to a repeated body with the animal that the first creation stored. */
export const oncePerBody = (real: Transport): Transport => {
  const earlier = new Map<string, WireResponse>()
  return (request) => {
    const body = text(request.body)
    const before = Requests.isCreation(request) ? earlier.get(body) : undefined
    if (before !== undefined) {
      // Lists animals to get up-to-date headers.
      return Effect.map(real({ ...request, method: "GET", body: undefined }), ({ headers }) => ({
        ...before,
        headers
      }))
    }
    return Effect.map(real(request), (response) => {
      if (response.status === 201) earlier.set(body, response)
      return response
    })
  }
}
