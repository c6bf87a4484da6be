/** Makes faults of servers in stores, options, bans, received requests or sent responses. */
import * as Effect from "effect/Effect"
import type { BanPolicy } from "../../../core/limits/BanPolicy.ts"
import type { ServiceOptions } from "../../../core/service/ServiceOptions.ts"
import type { Transport, WireRequest, WireResponse } from "../../http/Wire.ts"
import type { SpoiledPorts, Where, World } from "../Fault.ts"
import type { Edit } from "./Edit.ts"

export const pets = (spoil: NonNullable<SpoiledPorts["pets"]>): Where => ({ at: "http", pets: spoil })

export const limits = (spoil: NonNullable<SpoiledPorts["limits"]>): Where => ({ at: "http", limits: spoil })

export const keys = (spoil: NonNullable<SpoiledPorts["keys"]>): Where => ({ at: "http", keys: spoil })

export const options = (changed: Partial<ServiceOptions>): Where => ({ at: "http", options: changed })

export const ban = (policy: BanPolicy): Where => ({ at: "http", ban: policy })

export const transport = (spoil: (real: Transport, world: World) => Transport): Where => ({
  at: "http",
  transport: spoil
})

/** Changes some requests before the server receives them. */
export const requests = (
  isChanged: (request: WireRequest, world: World) => boolean,
  change: (request: WireRequest, world: World) => WireRequest
): Where =>
  transport((real, world) => (request) => real(isChanged(request, world) ? change(request, world) : request))

/** Selects responses by their request, in the world of the run, and by their status; an absent member selects all. */
export interface Selection {
  readonly to?: (request: WireRequest, world: World) => boolean
  readonly status?: number | ((status: number) => boolean)
}

const isSelected = (
  { status, to }: Selection,
  response: WireResponse,
  request: WireRequest,
  world: World
): boolean =>
  (to === undefined || to(request, world)) &&
  (typeof status === "function" ? status(response.status) : (status ?? response.status) === response.status)

/** Changes the selected responses of the server. */
export const responses = (selection: Selection, edit: Edit): Where =>
  transport(
    (real, world) => (request) =>
      Effect.map(real(request), (response) =>
        isSelected(selection, response, request, world) ? edit(response, request, world) : response
      )
  )

/** Executes another request before each request for which `isFollowed` is true. */
export const alsoSends = (
  isFollowed: (request: WireRequest, world: World) => boolean,
  extra: (request: WireRequest, world: World) => WireRequest
): Where =>
  transport(
    (real, world) => (request) =>
      isFollowed(request, world) ? Effect.andThen(real(extra(request, world)), real(request)) : real(request)
  )
