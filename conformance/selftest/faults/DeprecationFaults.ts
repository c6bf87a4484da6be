/** Defines faults in the removal of getPet or its announcement. */
import * as Deprecation from "../../../core/deprecation/Deprecation.ts"
import type { WireRequest, WireResponse } from "../../http/Wire.ts"
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Requests from "../spoilers/Requests.ts"

const HOUR_MS = 3_600_000
const SUNSET = Deprecation.getPet.sunsetAt

/** Changes the deprecation policy of getPet. */
const withDeprecation = (policy: Partial<Deprecation.Deprecation>): Where =>
  AtHttp.options({ getPetDeprecation: { ...Deprecation.getPet, ...policy } })

/** Removes the headers that announce the removal. */
const withoutAnnouncement = (response: WireResponse): WireResponse =>
  ["deprecation", "sunset", "link"].reduce((edited, name) => Edit.without(name)(edited), response)

/** After the removal of getPet, also returns 410 for the requests that `isRemoved` selects. */
const removes = (isRemoved: (request: WireRequest) => boolean): Where =>
  AtHttp.responses({ to: isRemoved }, (response, _request, { now }) =>
    now() >= SUNSET ? Edit.error(410, "operation_removed")(response) : response
  )

export const faults: ReadonlyArray<Fault> = [
  fault("removal.never", "Announces the removal of getPet but does not remove it.")
    .breaks("get.removed", "removal.done", "404 or 410 with an Error body 200")
    .by(withDeprecation({ afterSunset: "announce-only" })),
  fault("removal.a-year-late", "Removes getPet a year late.")
    .breaks("get.removed", "removal.done", "404 or 410 with an Error body 200")
    .by(withDeprecation({ sunsetAt: Date.UTC(2031, 11, 5) })),
  fault("removal.as-error", "Returns 500 for getPet after its removal.")
    .breaks("get.removed", "removal.done", "404 or 410 with an Error body 500")
    .by(AtHttp.responses({ status: 410 }, Edit.error(500, "internal_error"))),
  fault("removal.months-mixed-up", "Removes getPet on 12 May 2030.")
    .breaks("get.available-until-removal", "removal.not-before", "2030 begins anywhere 410")
    .by(withDeprecation({ sunsetAt: Date.UTC(2030, 4, 12) })),
  fault("removal.a-day-early", "Removes getPet on 4 December 2030.")
    .breaks("get.available-until-removal", "removal.not-before", "2030 begins anywhere 410")
    .by(withDeprecation({ sunsetAt: Date.UTC(2030, 11, 4) })),
  fault("removal.list-too", "Removes the list together with getPet.")
    .breaks("get.removed-alone", "removal.alone", "200 410, remaining")
    .by(removes(Requests.isList)),
  fault("removal.create-too", "Removes createPet together with getPet.")
    .breaks("get.removed-alone", "removal.alone", "created Pet 410")
    .by(removes(Requests.isCreation)),
  fault("removal.at-dawn-in-the-west", "Removes getPet when 5 December begins in the time zone UTC-8.")
    .breaks("get.gone", "removal.exact", "410 with an Error body of code operation_removed 200")
    .by(withDeprecation({ sunsetAt: SUNSET + 8 * HOUR_MS })),
  fault("removal.at-dawn-in-the-east", "Removes getPet when 5 December begins in the time zone UTC+13.")
    .breaks("get.gone", "removal.exact", "before the removal 410")
    .by(withDeprecation({ sunsetAt: SUNSET - 13 * HOUR_MS })),
  fault("removal.a-second-late", "Removes getPet one second late.")
    .breaks("get.gone", "removal.exact", "410 with an Error body of code operation_removed 200")
    .by(withDeprecation({ sunsetAt: SUNSET + 1_000 })),
  fault("removal.with-404", "Returns 404 for getPet after its removal.")
    .breaks("get.gone", "removal.exact", "410 with an Error body of code operation_removed 404")
    .by(withDeprecation({ afterSunset: "not-found" })),
  fault("removal.silent", "Does not send the deprecation headers with a 410.")
    .breaks("get.deprecation-headers", "removal.exact", "on the 410 of getPet none")
    .by(AtHttp.responses({ status: 410 }, withoutAnnouncement)),
  fault("deprecation.silent", "Does not announce the removal of getPet.")
    .breaks("get.deprecation-headers", "deprecation.announced", "on the 200 of getPet none")
    .by(AtHttp.responses({ to: Requests.isGet }, withoutAnnouncement)),
  fault("deprecation.only-on-success", "Announces the removal of getPet only with a 200.")
    .breaks("get.deprecation-headers", "deprecation.announced", "on the 404 of getPet none")
    .by(AtHttp.responses({ to: Requests.isGet, status: (status) => status !== 200 }, withoutAnnouncement)),
  fault("deprecation.only-to-callers-with-key", "Does not announce the removal of getPet with a 401.")
    .breaks("get.deprecation-headers", "deprecation.announced", "on the 401 of getPet none")
    .by(AtHttp.responses({ status: 401 }, withoutAnnouncement)),
  fault("deprecation.true", "Sends true as the value of Deprecation, as drafts of RFC 9745 did.")
    .breaks("deprecation.date", "deprecation.announced", "on the 200 of getPet true")
    .by(AtHttp.responses({ to: Requests.isGet }, Edit.header("Deprecation", "true"))),
  fault("deprecation.other-sunset", "Sends the end of 5 December 2030 in Sunset instead of its beginning.")
    .breaks("deprecation.sunset", "deprecation.announced", "23:59:59 GMT")
    .by(AtHttp.responses({ to: Requests.isGet }, Edit.header("Sunset", "Thu, 05 Dec 2030 23:59:59 GMT"))),
  fault("deprecation.no-successor", "Does not link to the successor of getPet.")
    .breaks("deprecation.successor", "deprecation.announced", 'successor-version" on the 200 of getPet none')
    .by(AtHttp.responses({ to: Requests.isGet }, Edit.without("link"))),
  fault("deprecation.everywhere", "Marks every operation as deprecated.")
    .breaks("deprecation.getpet-only", "deprecation.only-get", "on GET /pets Deprecation: @")
    .by(AtHttp.responses({}, Edit.header("Deprecation", "@1795132800"))),
  fault("deprecation.create-too", "Announces the removal of createPet.")
    .breaks("deprecation.getpet-only", "deprecation.only-get", "on POST /pets Sunset:")
    .by(AtHttp.responses({ to: Requests.isCreation }, Edit.header("Sunset", "Thu, 05 Dec 2030 00:00:00 GMT")))
]
