/** Faults in reading the parameters of a list, in selecting its animals, and in its pages. */
import * as Effect from "effect/Effect"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import { header, type WireRequest } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Lists from "../spoilers/Lists.ts"
import * as PetStores from "../spoilers/PetStores.ts"
import * as Requests from "../spoilers/Requests.ts"

const hasCursor = (request: WireRequest): boolean => Requests.listParameter(request, "cursor") !== null

/** Reads a limit as another one if the list also has a status, or if it has none. */
const readsLimitIf = (hasStatus: boolean, isRead: (limit: bigint) => boolean, limit: string): Where =>
  AtHttp.requests(
    (request) => {
      const given = Requests.listParameter(request, "limit") ?? ""
      const isOther = (Requests.listParameter(request, "status") !== null) !== hasStatus
      return !isOther && /^-?[0-9]+$/.test(given) && isRead(BigInt(given))
    },
    (request) => Requests.withParameter(request, "limit", limit)
  )

export const faults: ReadonlyArray<Fault> = [
  fault("list.maximum-lost-with-status", "Clamps a limit above 100 only if a status is given.")
    .breaks("list.limit.chosen")
    .by(readsLimitIf(true, (limit) => limit > 100n, "100")),
  fault("list.maximum-lost-without-status", "Clamps a limit above 100 unless a status is given.")
    .breaks("list.limit.chosen")
    .by(readsLimitIf(false, (limit) => limit > 100n, "100")),
  fault("list.minimum-lost-with-status", "Clamps a limit below 1 only if a status is given.")
    .breaks("list.limit.chosen")
    .by(readsLimitIf(true, (limit) => limit < 1n, "1")),
  fault("list.huge-limit", "Accepts a limit that no integer type holds.")
    .breaks("list.limit.chosen")
    .by(Lists.readsLimit(/^[1-9][0-9]{18,}$/, (limit) => (BigInt(limit) >= 2n ** 63n ? 20 : undefined))),
  fault("list.more-than-100", "Accepts a limit above 100 and lists that many animals.")
    .breaks("list.limit.ceiling")
    .by({ at: "plain", choices: { badLimit: "clamped", largestLimit: 1_000 } }),
  fault("list.limit-trailing-text", "Ignores the letters after the digits of a limit, as parseInt does.")
    .breaks("list.limit.syntax")
    .by(Lists.readsLimit(/^[1-9][0-9]*[a-z]+$/, (limit) => Number.parseInt(limit, 10))),
  fault("list.filter-after-limit", "Applies the filter to the first page of all animals.")
    .breaks("list.status.before-limit")
    .by(
      AtHttp.transport((real) => (request) => {
        const status = Requests.listParameter(request, "status")
        if (status === null || !PetStatus.is(status)) return real(request)
        return Effect.map(
          real(Requests.withParameter(request, "status", undefined)),
          Lists.edit((animals) => animals.filter((animal) => animal.status === status))
        )
      })
    ),
  fault("list.unknown-status-lists-all", "Lists all animals for an unknown status.")
    .breaks("list.status.filter")
    .by(Lists.readsStatus((status) => (PetStatus.is(status) || status === "" ? undefined : null))),
  fault("list.status-wildcards", "Compares the status with LIKE, so that % is a wildcard.")
    .breaks("list.status.filter")
    .by(
      Lists.readsStatus((status) => {
        if (!/^[a-z]*%[a-z%]*$/.test(status)) return undefined
        const like = new RegExp(`^${status.replaceAll("%", ".*")}$`)
        return PetStatus.all.find((known) => like.test(known))
      })
    ),
  fault("list.unknown-parameter-status", "Ignores a status that follows an unknown parameter.")
    .breaks("list.status.filter")
    .by(
      AtHttp.requests(
        (request) => /\?(?!limit|status)[^&]*&status=/.test(request.target),
        (request) => Requests.withParameter(request, "status", undefined)
      )
    ),
  fault("list.joined-rows", "Lists each animal once for every animal of its category, as a wrong join does.")
    .breaks("list.distinct")
    .by(
      AtHttp.pets(
        PetStores.changingPage((pets, { limit }) =>
          pets
            .flatMap((pet) => pets.filter(({ categoryId }) => categoryId === pet.categoryId).map(() => pet))
            .slice(0, limit)
        )
      )
    ),
  fault("paging.skips-one", "Skips one animal between two pages.")
    .breaks("list.paging.complete")
    .by(
      AtHttp.responses(
        { to: hasCursor },
        Lists.edit((animals) => animals.slice(1))
      )
    ),
  fault("paging.cursor-ignored", "Returns the first page for a cursor that it would reject.")
    .breaks("list.paging.forged")
    .by(
      AtHttp.transport(
        (real) => (request) =>
          Effect.flatMap(real(request), (response) =>
            response.status === 400 && hasCursor(request)
              ? real(Requests.withParameter(request, "cursor", undefined))
              : Effect.succeed(response)
          )
      )
    ),
  fault("paging.link-when-full", "Links to a next page whenever a page is full, even if nothing follows.")
    .breaks("list.paging.last")
    .by(
      AtHttp.responses({ to: Requests.isList, status: 200 }, (response, { target }) => {
        const isFull = Edit.animalsOf(response)?.length === 1 && header(response, "link") === undefined
        return isFull ? Edit.header("Link", `<${target}>; rel="next"`)(response) : response
      })
    )
]
