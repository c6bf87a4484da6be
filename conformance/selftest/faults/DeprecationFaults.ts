/** Defines faults in the removal of getPet or its announcement. */
import * as Deprecation from "../../../core/deprecation/Deprecation.ts"
import type { WireRequest } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Requests from "../spoilers/Requests.ts"

const HOUR_MS = 3_600_000
const SUNSET = Deprecation.getPet.sunsetAt

/** Changes the deprecation policy of getPet. */
const withDeprecation = (policy: Partial<Deprecation.Deprecation>): Where =>
  AtHttp.options({ getPetDeprecation: { ...Deprecation.getPet, ...policy } })

/** After the removal of getPet, also returns 410 for the requests that `isRemoved` selects. */
const removes = (isRemoved: (request: WireRequest) => boolean): Where =>
  AtHttp.responses({ to: isRemoved }, (response, _request, { now }) =>
    now() >= SUNSET ? Edit.error(410, "operation_removed")(response) : response
  )

export const faults: ReadonlyArray<Fault> = [
  fault("removal.a-year-late", "Removes getPet a year late.")
    .breaks("get.removed")
    .by(withDeprecation({ sunsetAt: Date.UTC(2031, 11, 5) })),
  fault("removal.a-day-early", "Removes getPet on 4 December 2030.")
    .breaks("get.available-until-removal")
    .by(withDeprecation({ sunsetAt: Date.UTC(2030, 11, 4) })),
  fault("removal.list-too", "Removes the list together with getPet.")
    .breaks("get.removed-alone")
    .by(removes(Requests.isList)),
  fault("removal.at-dawn-in-the-east", "Removes getPet when 5 December begins in the time zone UTC+13.")
    .breaks("get.gone")
    .by(withDeprecation({ sunsetAt: SUNSET - 13 * HOUR_MS })),
  fault("removal.a-second-late", "Removes getPet one second late.")
    .breaks("get.gone")
    .by(withDeprecation({ sunsetAt: SUNSET + 1_000 })),
  fault("deprecation.other-sunset", "Sends the end of 5 December 2030 in Sunset instead of its beginning.")
    .breaks("deprecation.sunset")
    .by(AtHttp.responses({ to: Requests.isGet }, Edit.header("Sunset", "Thu, 05 Dec 2030 23:59:59 GMT"))),
  fault("deprecation.create-too", "Announces the removal of createPet.")
    .breaks("deprecation.getpet-only")
    .by(AtHttp.responses({ to: Requests.isCreation }, Edit.header("Sunset", "Thu, 05 Dec 2030 00:00:00 GMT")))
]
