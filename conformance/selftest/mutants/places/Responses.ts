/** Defines places in responses: headers, status codes and whole bodies. */
import * as Effect from "effect/Effect"
import { bytes, header, text, type WireResponse } from "../../../http/Wire.ts"
import type { Where } from "../../Fault.ts"
import * as AtHttp from "../../spoilers/AtHttp.ts"
import * as Edit from "../../spoilers/Edit.ts"
import { absent, Twice } from "../Operator.ts"
import type { Place } from "../Place.ts"
import * as Situation from "../Situation.ts"

/** Changes each response; `change` also gets the situation of its request. */
export const changeResponses = (
  change: (response: WireResponse, situation: Situation.Situation) => WireResponse
): Where => {
  const tracker = Situation.make()
  return AtHttp.transport(
    tracker.follow((real, situation) =>
      Effect.map(real(situation.request), (response) => change(response, { ...situation, response }))
    )
  )
}

const digits = /^-?[0-9]{1,30}$/

const headerPlace = (
  name: string,
  kind: "integer" | "type",
  more: Pick<Place, "isDesign" | "statuses" | "operations"> = {}
): Place => ({
  ...more,
  id: name,
  kind,
  group: "headers",
  topics: ["any", "operation", "key", "no key", "history", "time", "response"],
  changesResponses: true,
  install: (mutate) =>
    changeResponses((response, situation) => {
      const given = header(response, name)
      if (given === undefined) return response
      const value = kind === "integer" && digits.test(given) ? BigInt(given) : given
      const changed = mutate(value, situation)
      if (changed === value) return response
      if (changed === absent) return Edit.without(name)(response)
      if (changed instanceof Twice) {
        return { ...response, headers: [...response.headers, [name, String(changed.value)]] }
      }
      return Edit.header(name, String(changed))(response)
    })
})

const headers: ReadonlyArray<Place> = [
  headerPlace("X-RateLimit-Limit", "integer"),
  headerPlace("X-RateLimit-Remaining", "integer"),
  headerPlace("X-RateLimit-Reset", "integer"),
  headerPlace("Retry-After", "integer", { statuses: [429] }),
  headerPlace("Content-Type", "type")
]

/** Headers that only our design requires. */
const designHeaders: ReadonlyArray<Place> = [
  headerPlace("Location", "type", { isDesign: true, statuses: [201], operations: ["create"] }),
  headerPlace("Allow", "type", { isDesign: true, statuses: [204, 405], operations: ["other"] }),
  headerPlace("WWW-Authenticate", "type", { isDesign: true, statuses: [401] }),
  ...["Deprecation", "Sunset", "Link"].map((name) =>
    headerPlace(name, "type", { isDesign: true, statuses: [200, 404, 410, 401, 429] })
  ),
  ...[
    ...["RateLimit", "RateLimit-Policy", "Date", "Cache-Control"],
    ...["X-Content-Type-Options", "X-Request-Id"]
  ].map((name) => headerPlace(name, "type", { isDesign: true }))
]

/** The operations whose responses can have a status; all operations for a status that is not listed. */
const operationsOf: Readonly<Record<number, NonNullable<Place["operations"]>>> = {
  200: ["list", "get", "head"],
  201: ["create"],
  404: ["get", "head"]
}

/** Creates a place for a status code; for an error, the status in the body changes as well. */
const codePlace = (code: number): Place => ({
  id: `status ${code}`,
  kind: "code",
  group: "status codes",
  topics: ["any", "operation", "key", "history", "time", ...(code === 200 ? (["query"] as const) : [])],
  operations: operationsOf[code] ?? ["list", "create", "get", "head"],
  changesResponses: true,
  install: (mutate) =>
    changeResponses((response, situation) => {
      if (response.status !== code) return response
      const status = Number(mutate(BigInt(code), situation))
      if (status === code) return response
      const changed = { ...response, status }
      return code < 400
        ? changed
        : Edit.rewritten((body) => body.replace(`"status":${code}`, `"status":${status}`))(changed)
    })
})

const bodyPlace = (
  id: string,
  isHere: (response: WireResponse, situation: Situation.Situation) => boolean
): Place => ({
  id,
  kind: "body",
  group: "bodies",
  topics: ["any", "key", "history", "time", ...(id === "body of a list" ? (["query"] as const) : [])],
  changesResponses: true,
  install: (mutate) =>
    changeResponses((response, situation) => {
      if (!isHere(response, situation) || response.body.length === 0) return response
      const value = text(response.body)
      const changed = mutate(value, situation)
      if (changed === value) return response
      return { ...response, body: bytes(changed === absent ? "" : String(changed)) }
    })
})

const bodies: ReadonlyArray<Place> = [
  bodyPlace("body of a list", ({ status }, { operation }) => operation === "list" && status === 200),
  bodyPlace("body of a creation", ({ status }) => status === 201),
  bodyPlace("body of a retrieval", ({ status }, { operation }) => operation === "get" && status === 200),
  bodyPlace("body of an error", ({ status }) => status >= 400)
]

export const places: ReadonlyArray<Place> = [
  ...headers,
  ...designHeaders,
  ...[200, 201, 400, 401, 404, 429].map(codePlace),
  ...bodies
]
