/** Defines the outsiders that break contract §2 and §4 in creations and retrievals. */
import * as Effect from "effect/Effect"
import { bytes, headerValues, type Transport, text, type WireRequest } from "../../http/Wire.ts"
import type { Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Creations from "../spoilers/Creations.ts"
import * as Edit from "../spoilers/Edit.ts"
import { failure } from "../spoilers/ErrorResponses.ts"
import * as Requests from "../spoilers/Requests.ts"
import { type Outsider, outsider } from "./Outsider.ts"
import { changesAnimal } from "./Single.ts"

const idIn = ({ target }: WireRequest): string => /\/pets\/(-?[0-9]+)$/.exec(target)?.[1] ?? ""

/** Changes the id of a retrieval before the server reads it. */
const readsId = (change: (id: bigint) => bigint): Where =>
  AtHttp.requests(
    (request) => Requests.isGet(request) && idIn(request) !== "",
    (request) => ({
      ...request,
      target: request.target.replace(/-?[0-9]+$/, String(change(BigInt(idIn(request)))))
    })
  )

/** Returns 404 for an animal that is older than `ms` milliseconds. */
const losesAfter = (ms: number): Where =>
  AtHttp.transport((real, { now }) => {
    const createdAt = new Map<string, number>()
    return (request) =>
      Effect.map(real(request), (response) => {
        const animal = Edit.animalOf(response)
        if (animal === undefined) return response
        if (response.status === 201) createdAt.set(String(animal.id), now())
        const created = createdAt.get(String(animal.id)) ?? now()
        return now() - created > ms ? Edit.error(404, "not_found")(response) : response
      })
  })

/** Handles every n-th creation with `spoil`. */
const everyNth = (
  n: number,
  spoil: (real: Transport, request: WireRequest) => ReturnType<Transport>
): Where =>
  AtHttp.transport((real) => {
    let count = 0
    return (request) =>
      Requests.isCreation(request) && ++count % n === 0 ? spoil(real, request) : real(request)
  })

export const outsiders: ReadonlyArray<Outsider> = [
  outsider(
    "created-as-200",
    "4.2",
    "Returns 200 for a creation without a status.",
    AtHttp.responses(
      {
        to: (request) => Requests.isCreation(request) && !text(request.body).includes('"status"'),
        status: 201
      },
      Edit.status(200)
    )
  ),
  outsider(
    "created-without-id",
    "4.2",
    "Omits the id of a new animal that is sold.",
    changesAnimal(Requests.isCreation, (animal) =>
      animal.status === "sold" ? { ...animal, id: undefined } : animal
    )
  ),
  outsider(
    "ids-as-fractions",
    "2",
    "Sends ids with a fraction.",
    AtHttp.responses(
      { to: Requests.isCreation, status: 201 },
      Edit.rewritten((body) => body.replace(/"id":([0-9]+)/, '"id":$1.5'))
    )
  ),
  outsider(
    "same-id-in-a-second",
    "2",
    "Returns the same id for two animals created in the same second.",
    AtHttp.transport((real, { now }) => {
      let second = -1
      let id: bigint | undefined
      return (request) =>
        Effect.map(real(request), (response) => {
          const animal = response.status === 201 ? Edit.animalOf(response) : undefined
          if (animal === undefined) return response
          const current = Math.floor(now() / 1000)
          if (current !== second) id = animal.id
          second = current
          return Edit.body(Edit.write({ ...animal, id }))(response)
        })
    })
  ),
  outsider(
    "no-name-needed",
    "4.2",
    "Creates an animal without a name.",
    Creations.readsMembers((members) => ("name" in members ? members : { ...members, name: "Nameless" }))
  ),
  outsider(
    "no-category-needed",
    "4.2",
    "Creates an animal without a categoryId.",
    Creations.readsMembers((members) => ("categoryId" in members ? members : { ...members, categoryId: 0n }))
  ),
  outsider(
    "null-name",
    "4.2",
    "Accepts null as a name.",
    Creations.readsMembers((members) => (members.name === null ? { ...members, name: "null" } : members))
  ),
  outsider(
    "category-as-text",
    "4.2",
    "Accepts a categoryId that is a string of digits.",
    Creations.readsMembers((members) =>
      typeof members.categoryId === "string" && /^[0-9]+$/.test(members.categoryId)
        ? { ...members, categoryId: BigInt(members.categoryId) }
        : members
    )
  ),
  outsider(
    "category-truncated",
    "4.2",
    "Accepts a categoryId with a fraction.",
    Creations.readsMembers((members) =>
      typeof members.categoryId === "number"
        ? { ...members, categoryId: BigInt.asIntN(64, BigInt(Math.trunc(members.categoryId))) }
        : members
    )
  ),
  outsider(
    "category-wraps",
    "2",
    "Accepts a categoryId beyond int64, and wraps it.",
    Creations.readsMembers((members) =>
      typeof members.categoryId === "bigint"
        ? { ...members, categoryId: BigInt.asIntN(64, members.categoryId) }
        : members
    )
  ),
  outsider(
    "any-status",
    "2",
    "Stores an animal of an unknown status without the status.",
    Creations.readsMembers((members) =>
      typeof members.status === "string" && !["available", "pending", "sold"].includes(members.status)
        ? { ...members, status: undefined }
        : members
    )
  ),
  outsider(
    "status-in-capitals",
    "2",
    "Accepts a status in capitals.",
    Creations.readsMembers((members) =>
      typeof members.status === "string" ? { ...members, status: members.status.toLowerCase() } : members
    )
  ),
  outsider(
    "array-of-one",
    "4.2",
    "Accepts an array that holds one animal.",
    Creations.reads((body) => body.replace(/^\s*\[([\s\S]*)\]\s*$/, "$1"))
  ),
  outsider(
    "no-json-500",
    "7",
    "Returns 500 for a body that is not JSON.",
    AtHttp.responses({ to: Requests.isCreation, status: 400 }, (response, request) => {
      try {
        JSON.parse(text(request.body))
        return response
      } catch {
        return failure(response)
      }
    })
  ),
  outsider(
    "invalid-as-422",
    "4.2",
    "Returns 422 for an invalid value, and 400 for a missing field.",
    AtHttp.responses(
      {
        to: (request) => Requests.isCreation(request) && /"name".*"categoryId"/.test(text(request.body)),
        status: 400
      },
      Edit.error(422, "invalid_body")
    )
  ),
  outsider(
    "rejected-but-stored",
    "4.2",
    "Stores an animal whose status is invalid, and returns 400.",
    AtHttp.transport((real) => (request) => {
      const key = headerValues(request, "authorization")[0] ?? ""
      return Creations.storesAfter(400, (sent) => Requests.withHeader(sent, "Authorization", key))(real)(
        request
      )
    })
  ),
  outsider(
    "always-available",
    "4.2",
    "Shows the status available in each response to a creation.",
    changesAnimal(Requests.isCreation, (animal) => ({ ...animal, status: "available" }))
  ),
  outsider(
    "every-tenth-lost",
    "4.2",
    "Does not store every tenth animal.",
    everyNth(10, (real, request) =>
      Effect.map(real({ ...request, method: "GET", body: undefined }), (response) => {
        const last = Edit.animalsOf(response)?.at(-1)
        const sent = /"name":("(?:[^"\\]|\\.)*")/.exec(text(request.body))?.[1]
        if (response.status !== 200 || sent === undefined) return response
        return {
          ...response,
          status: 201,
          body: bytes(`{"id":${(last?.id ?? 0n) + 1_000_000n},"name":${sent},"categoryId":1}`)
        }
      })
    )
  ),
  outsider(
    "unknown-as-null",
    "4.3",
    "Returns 200 and null for an unknown id.",
    AtHttp.responses({ to: Requests.isGet, status: 404 }, Edit.replace(200, "null"))
  ),
  outsider(
    "negative-id-500",
    "7",
    "Returns 500 for a negative id.",
    AtHttp.responses({ to: ({ target }) => /\/pets\/-[0-9]+$/.test(target), status: 404 }, failure)
  ),
  outsider(
    "huge-id-500",
    "7",
    "Returns 500 for an id beyond 2^53.",
    AtHttp.responses(
      {
        to: (request) => Requests.isGet(request) && idIn(request).length > 16,
        status: (status) => status >= 400
      },
      failure
    )
  ),
  outsider(
    "id-of-32-bits",
    "2",
    "Reads only the lower 32 bits of an id.",
    readsId((id) => BigInt.asIntN(32, id))
  ),
  outsider(
    "gone-after-an-hour",
    "4.3",
    "Returns 404 for an animal that is older than an hour.",
    losesAfter(3_600_000)
  ),
  outsider(
    "no-zero-category",
    "2",
    "Omits categoryId from a retrieved animal when it is 0.",
    changesAnimal(Requests.isGet, (animal) => ({ ...animal, categoryId: animal.categoryId || undefined }))
  ),
  outsider(
    "escapes-as-sent",
    "2",
    "Does not decode \\u escapes in names.",
    Creations.reads((body) => body.replaceAll(/\\u/g, "\\\\u"))
  ),
  outsider(
    "charset-rejected",
    "4.2",
    "Rejects application/json with a charset.",
    AtHttp.responses(
      {
        to: (request) =>
          Requests.isCreation(request) && /charset/i.test(headerValues(request, "content-type")[0] ?? ""),
        status: 201
      },
      Edit.error(400, "invalid_body")
    ),
    "§4.2 names one content type, without a parameter."
  )
]
