/** Defines places in the input of a server: parameters, ids in paths, fields of bodies, rules, and keys. */
import * as Result from "effect/Result"
import * as PetJson from "../../../http/PetJson.ts"
import { bytes, text, type WireRequest } from "../../../http/Wire.ts"
import type { Where } from "../../Fault.ts"
import * as AtHttp from "../../spoilers/AtHttp.ts"
import * as Edit from "../../spoilers/Edit.ts"
import * as Requests from "../../spoilers/Requests.ts"
import { absent, type Kind, Twice } from "../Operator.ts"
import type { Place } from "../Place.ts"
import * as Situation from "../Situation.ts"

/** Changes each request before the server reads it. */
const changeRequests = (
  change: (request: WireRequest, situation: Situation.Situation) => WireRequest
): Where => {
  const tracker = Situation.make()
  return AtHttp.transport(tracker.follow((real, situation) => real(change(situation.request, situation))))
}

const asText = (changed: unknown): string | undefined =>
  changed === absent || changed === null
    ? undefined
    : String(changed instanceof Twice ? changed.value : changed)

const parameterPlace = (name: "limit" | "status"): Place => ({
  id: `parameter ${name}`,
  kind: name === "limit" ? "integer" : "status",
  group: "parameters and paths",
  topics: ["any", "operation", "history", "key", "query", "time"],
  operations: ["list", "head"],
  install: (mutate) =>
    changeRequests((request, situation) => {
      const given = situation.operation === "list" ? Requests.parameters(request).get(name) : null
      if (given === null) return request
      if (name === "limit" && !/^[0-9]{1,20}$/.test(given)) return request
      const value = name === "limit" ? BigInt(given) : given
      const changed = mutate(value, situation)
      return changed === value ? request : Requests.withParameter(request, name, asText(changed))
    })
})

const idPlace: Place = {
  id: "id in the path",
  kind: "integer",
  group: "parameters and paths",
  topics: ["any", "operation", "history", "key", "time"],
  operations: ["get", "head"],
  install: (mutate) =>
    changeRequests((request, situation) => {
      const given = /\/pets\/(-?[0-9]{1,20})$/.exec(request.target)?.[1]
      if (given === undefined) return request
      const value = BigInt(given)
      const changed = mutate(value, situation)
      if (changed === value) return request
      const target = request.target.replace(/-?[0-9]+$/, encodeURIComponent(asText(changed) ?? ""))
      return { ...request, target }
    })
}

const kinds = { name: "text", categoryId: "integer", status: "status" } as const satisfies Record<
  string,
  Kind
>

/** Creates a place for a field in the body of a creation, as the server reads the field. */
const fieldPlace = (field: keyof typeof kinds): Place => ({
  id: `${field} as read`,
  kind: kinds[field],
  group: "bodies as read",
  topics: ["any", "animal", "history", "key", "time"],
  install: (mutate) =>
    changeRequests((request, situation) => {
      if (situation.operation !== "create") return request
      const parsed = PetJson.parse(text(request.body))
      const animal = Result.isSuccess(parsed) ? parsed.success : undefined
      if (typeof animal !== "object" || animal === null || Array.isArray(animal)) return request
      const value: unknown = Object.entries(animal).find(([name]) => name === field)?.[1]
      if (typeof value !== "string" && typeof value !== "bigint") return request
      const changed = mutate(value, situation)
      if (changed === value) return request
      const replacement =
        changed instanceof Twice ? [changed.value] : changed === absent ? undefined : changed
      return { ...request, body: bytes(Edit.write({ ...animal, [field]: replacement })) }
    })
})

type Members = { readonly [name: string]: unknown }

/**
 * Creates a place for a validation rule. To skip it, a mutant replaces the members that break it before the server reads
 * the request.
 */
const rulePlace = ([id, isBroken, fixed]: readonly [
  id: string,
  isBroken: (members: Members) => boolean,
  fixed: (members: Members) => Members
]): Place => ({
  id: `rule: ${id}`,
  kind: "rule",
  group: "rules",
  topics: ["any", "history", "key", "time"],
  install: (mutate) =>
    changeRequests((request, situation) => {
      if (situation.operation !== "create") return request
      const parsed = PetJson.parse(text(request.body))
      const value = Result.isSuccess(parsed) ? parsed.success : undefined
      if (typeof value !== "object" || value === null) return request
      const members = { ...value }
      if (!isBroken(members) || mutate("apply", situation) !== "skip") return request
      return { ...request, body: bytes(Edit.write({ ...members, ...fixed(members) })) }
    })
})

const knownStatuses: ReadonlyArray<unknown> = ["available", "pending", "sold", undefined, null]

const named = () => ({ name: "Nobody" })
const inZero = () => ({ categoryId: 0n })
const available = () => ({ status: "available" })

const isBeyondInt64 = (value: unknown): value is bigint =>
  typeof value === "bigint" && BigInt.asIntN(64, value) !== value

const rules: ReadonlyArray<Parameters<typeof rulePlace>[0]> = [
  ["a name is required", (members) => !("name" in members), named],
  ["a category is required", (members) => !("categoryId" in members), inZero],
  ["a name is a string", (members) => "name" in members && typeof members.name !== "string", named],
  [
    "a category is a number",
    (members) => "categoryId" in members && !["bigint", "number"].includes(typeof members.categoryId),
    inZero
  ],
  ["a category has no fraction", ({ categoryId }) => typeof categoryId === "number", inZero],
  [
    "a category is an int64",
    ({ categoryId }) => isBeyondInt64(categoryId),
    ({ categoryId }) => ({ categoryId: isBeyondInt64(categoryId) ? BigInt.asIntN(64, categoryId) : 0n })
  ],
  [
    "a status is known",
    ({ status }) => typeof status === "string" && !knownStatuses.includes(status),
    available
  ],
  [
    "a status is a string",
    ({ status }) => typeof status !== "string" && !knownStatuses.includes(status),
    available
  ]
]

/** Creates a place for a check of the key. To skip the check, a mutant sets the main key, or removes the key. */
const keyPlace = (
  id: string,
  isHere: (situation: Situation.Situation) => boolean,
  usesMainKey: boolean
): Place => ({
  id,
  kind: "rule",
  group: "keys",
  topics: ["any", "operation", "history", "time", "query"],
  install: (mutate) => {
    const tracker = Situation.make()
    return AtHttp.transport((real, world) =>
      tracker.follow((send, situation) => {
        const { request } = situation
        if (!isHere(situation) || mutate("check", situation) !== "skip") return send(request)
        return send(Requests.withKey(request, usesMainKey ? world.keys.main : undefined))
      })(real, world)
    )
  }
})

const keys: ReadonlyArray<Place> = [
  keyPlace("check that there is a key", ({ request }) => Requests.credentials(request).length === 0, true),
  keyPlace(
    "check of the key",
    ({ key, request }) => key === "other" && Requests.credentials(request).length > 0,
    true
  ),
  keyPlace("recognition of the key", ({ key }) => key !== "other", false),
  keyPlace("distinction of the keys", ({ key }) => key === "tiny" || key === "victim", true)
]

export const places: ReadonlyArray<Place> = [
  parameterPlace("limit"),
  parameterPlace("status"),
  idPlace,
  fieldPlace("name"),
  fieldPlace("categoryId"),
  fieldPlace("status"),
  ...rules.map(rulePlace),
  ...keys
]
