/** Defines the conditions under which mutants change values. */

import * as Result from "effect/Result"
import * as PetJson from "../../http/PetJson.ts"
import { header, text } from "../../http/Wire.ts"
import * as Requests from "../spoilers/Requests.ts"
import type { Situation } from "./Situation.ts"

/** The topic of a condition; a place lists the topics that make sense there. */
export type Topic =
  | "any"
  | "operation"
  | "key"
  | "no key"
  | "history"
  | "time"
  | "query"
  | "animal"
  | "response"

export interface Condition {
  /** Part of the id of a mutant, such as `on HEAD`. */
  readonly id: string
  readonly topic: Topic
  readonly holds: (situation: Situation) => boolean
  /** The operation that the condition requires; any if absent. */
  readonly operation?: Situation["operation"] | "head"
  /** The status that the condition requires; any if absent. */
  readonly status?: number
}

const DAY = 86_400_000

/** A time at which the removal of getPet is over in every time zone. */
const REMOVED = Date.UTC(2030, 11, 7)

const condition = (topic: Topic, id: string, holds: Condition["holds"]): Condition => ({ id, topic, holds })

const onOperation = (id: string, operation: NonNullable<Condition["operation"]>): Condition => ({
  id,
  topic: "operation",
  operation,
  holds: ({ operation: actual, request }) =>
    operation === "head" ? request.method === "HEAD" : actual === operation && request.method !== "HEAD"
})

const onStatus = (status: number): Condition => ({
  id: `on ${status}`,
  topic: "response",
  status,
  holds: ({ response }) => response?.status === status
})

/** Returns a member of the request body, however it is written; `undefined` if there is none. */
const memberOf = ({ request }: Situation, name: string): unknown => {
  const parsed = PetJson.parse(text(request.body))
  const members = Result.isSuccess(parsed) ? Object.entries(parsed.success ?? {}) : []
  return members.find(([each]) => each === name)?.[1]
}

/** Returns the name of the animal, otherwise the name in the request body, otherwise an empty string. */
const nameOf = (situation: Situation): string =>
  situation.animal?.name ?? String(memberOf(situation, "name") ?? "")

const categoryOf = (situation: Situation): bigint => {
  const given = situation.animal?.categoryId ?? memberOf(situation, "categoryId")
  return typeof given === "bigint" ? given : 0n
}

const statusOf = (situation: Situation): unknown =>
  situation.animal?.status ??
  Requests.parameters(situation.request).get("status") ??
  memberOf(situation, "status")

const remaining = ({ response }: Situation): number =>
  Number((response && header(response, "x-ratelimit-remaining")) ?? Number.NaN)

export const conditions: ReadonlyArray<Condition> = [
  condition("any", "always", () => true),

  onOperation("on lists", "list"),
  onOperation("on creations", "create"),
  onOperation("on retrievals", "get"),
  onOperation("on HEAD", "head"),
  onOperation("on requests that the contract does not describe", "other"),

  condition("key", "for the key of a run", ({ key }) => key === "main"),
  condition("key", "for a key with a small limit", ({ key }) => key === "tiny"),
  condition("key", "for a key that is banned", ({ key }) => key === "victim"),
  condition("no key", "without a valid key", ({ key }) => key === "other" || key === "revoked"),
  condition("no key", "for a revoked key", ({ key }) => key === "revoked"),

  condition("history", "after 300 requests", ({ count }) => count > 300),
  condition("history", "for every 20th request", ({ count }) => count % 20 === 0),
  condition("history", "for the first request of a key", ({ keyCount }) => keyCount === 1),
  condition("history", "after a 429", ({ afterDenial }) => afterDenial),
  condition("history", "for a key that was denied 30 times", ({ denials }) => denials >= 30),

  condition("time", "in the first second of a minute", ({ now }) => now % 60_000 < 1_000),
  condition("time", "in the last second of a minute", ({ now }) => now % 60_000 >= 59_000),
  condition("time", "in the second half of a second", ({ now }) => now % 1_000 >= 500),
  condition("time", "in the last minute of a day", ({ now }) => now % DAY >= DAY - 60_000),
  condition("time", "in the first minute of a day", ({ now }) => now % DAY < 60_000),
  condition("time", "in the second half of a day", ({ now }) => now % DAY >= DAY / 2),
  condition("time", "on the first day of a month", ({ now }) => new Date(now).getUTCDate() === 1),
  condition("time", "after the removal of getPet", ({ now }) => now > REMOVED),

  condition("query", "with a limit", ({ request }) => Requests.parameters(request).has("limit")),
  condition("query", "with a status", ({ request }) => Requests.parameters(request).has("status")),
  condition("query", "with both parameters", ({ request }) => {
    const given = Requests.parameters(request)
    return given.has("limit") && given.has("status")
  }),
  condition(
    "query",
    "with a limit of 100",
    ({ request }) => Requests.parameters(request).get("limit") === "100"
  ),
  condition("query", "with a limit after the status", ({ request }) =>
    /status=.*limit=/.test(request.target)
  ),
  condition("query", "without a query", ({ request }) => !request.target.includes("?")),

  condition("animal", "for names of more than 64 characters", (situation) => nameOf(situation).length > 64),
  condition("animal", "for names beyond ASCII", (situation) => /[^ -~]/.test(nameOf(situation))),
  condition("animal", "for names with markup", (situation) => /[<>&]/.test(nameOf(situation))),
  condition("animal", "for negative categories", (situation) => categoryOf(situation) < 0n),
  condition("animal", "for categories beyond 2^53", (situation) => {
    const category = categoryOf(situation)
    return category > 2n ** 53n || category < -(2n ** 53n)
  }),
  condition("animal", "for the status sold", (situation) => statusOf(situation) === "sold"),
  condition("animal", "for the status pending", (situation) => statusOf(situation) === "pending"),

  ...[200, 201, 204, 400, 401, 404, 405, 410, 413, 415, 429].map(onStatus),
  condition("response", "when one request is left", (situation) => remaining(situation) === 1)
]
