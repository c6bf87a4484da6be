/** Faults in reading the parameters of a list, in selecting its animals, and in its pages. */
import * as Effect from "effect/Effect"
import * as PetStatus from "../../../core/domain/PetStatus.ts"
import type { Animal } from "../../http/Animal.ts"
import { header, type WireRequest, type WireResponse } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Requests from "../spoilers/Requests.ts"

const hasCursor = (request: WireRequest): boolean => Requests.listParameter(request, "cursor") !== null

/** Reads a parameter as another value: `undefined` leaves it unchanged, `null` removes it. */
const readsParameter = (name: string, read: (value: string) => string | null | undefined): Where =>
  AtHttp.requests(Requests.isList, (request) => {
    const given = Requests.parameters(request).get(name)
    const value = given === null ? undefined : read(given)
    return value === undefined ? request : Requests.withParameter(request, name, value ?? undefined)
  })

/** Reads limits that match a pattern as another number; `undefined` leaves them unchanged. */
const readsLimit = (pattern: RegExp, read: (limit: string) => number | undefined = Number): Where =>
  readsParameter("limit", (limit) => (pattern.test(limit) ? read(limit)?.toString() : undefined))

/** Reads a status as another one: `undefined` leaves it unchanged, `null` removes the filter. */
const readsStatus = (read: (status: string) => PetStatus.PetStatus | null | undefined): Where =>
  readsParameter("status", read)

/** Changes the animals of a successful list response. */
const edited =
  (change: (animals: ReadonlyArray<Animal>) => unknown) =>
  (response: WireResponse): WireResponse => {
    const listed = response.status === 200 ? Edit.animalsOf(response) : undefined
    return listed === undefined ? response : Edit.body(Edit.write(change(listed)))(response)
  }

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
    .by(readsLimit(/^[1-9][0-9]{18,}$/, (limit) => (BigInt(limit) >= 2n ** 63n ? 20 : undefined))),
  fault("list.more-than-100", "Accepts a limit above 100 and lists that many animals.")
    .breaks("list.limit.ceiling")
    .by({ at: "plain", choices: { badLimit: "clamped", largestLimit: 1_000 } }),
  fault("list.limit-trailing-text", "Ignores the letters after the digits of a limit, as parseInt does.")
    .breaks("list.limit.range")
    .by(readsLimit(/^[1-9][0-9]*[a-z]+$/, (limit) => Number.parseInt(limit, 10))),
  fault("list.filter-after-limit", "Applies the filter to the first page of all animals.")
    .breaks("list.status.before-limit")
    .by(
      AtHttp.transport((real) => (request) => {
        const status = Requests.listParameter(request, "status")
        if (status === null || !PetStatus.is(status)) return real(request)
        return Effect.map(
          real(Requests.withParameter(request, "status", undefined)),
          edited((animals) => animals.filter((animal) => animal.status === status))
        )
      })
    ),
  fault("list.unknown-status-lists-all", "Lists all animals for an unknown status.")
    .breaks("list.status.filter")
    .by(readsStatus((status) => (PetStatus.is(status) || status === "" ? undefined : null))),
  fault("list.status-wildcards", "Compares the status with LIKE, so that % is a wildcard.")
    .breaks("list.status.filter")
    .by(
      readsStatus((status) => {
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
      AtHttp.pets((real) => ({
        ...real,
        page: (query) =>
          Effect.map(real.page(query), (pets) =>
            pets
              .flatMap((pet) => pets.filter(({ categoryId }) => categoryId === pet.categoryId).map(() => pet))
              .slice(0, query.limit)
          )
      }))
    ),
  fault("paging.skips-one", "Skips one animal between two pages.")
    .breaks("list.paging.complete")
    .by(
      AtHttp.responses(
        { to: hasCursor },
        edited((animals) => animals.slice(1))
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
