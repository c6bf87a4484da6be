/** The operations of the admin API: what `animal-store keys` does, over HTTP. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Actor } from "../../core/access/Actor.ts"
import * as Expiry from "../../core/access/Expiry.ts"
import { actions } from "../../core/access/KeyEvent.ts"
import * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import * as KeyQuery from "../../core/access/KeyQuery.ts"
import type { KeyStatus } from "../../core/access/KeyStatus.ts"
import type { Metadata } from "../../core/access/Metadata.ts"
import type { OwnErrors } from "../../core/errors/OwnErrors.ts"
import * as Plan from "../../core/limits/Plan.ts"
import { InvalidOption } from "../../core/options/InvalidOption.ts"
import type { Caller } from "../../core/service/HostRoute.ts"
import type * as History from "./History.ts"
import * as KeyRecord from "./KeyRecord.ts"
import * as Keys from "./Keys.ts"
import { defineOperation, type OperationInput, type OwnOperation } from "./OwnOperation.ts"
import type * as Validator from "./Validator.ts"

export interface Tools {
  readonly run: Keys.Run
  readonly plans: { readonly [name: string]: Plan.Plan | undefined }
  readonly history: Effect.Success<ReturnType<typeof History.make>>
}

/** The errors that only these operations have. */
export const errors = {
  forbidden_origin: { status: 403, meaning: "Pages of other origins cannot use the admin API." },
  key_revoked: { status: 409, meaning: "The API key is revoked, which is final." },
  rotation_unfinished: {
    status: 409,
    meaning: "An earlier rotation left a secret valid, which this one would end: send `force` to end it."
  }
} satisfies OwnErrors

const codes = ["not_found", "invalid_body", "key_revoked", "rotation_unfinished"] as const

/** Returns the code of a failure of `Keys`; other failures are outages, or defects. */
const codeOf = (tag: string): (typeof codes)[number] | undefined => {
  if (tag === "ApiKeyUnknown") return "not_found"
  if (tag === "ApiKeyRevoked") return "key_revoked"
  if (tag === "RotationUnfinished") return "rotation_unfinished"
  return tag.includes("Invalid") ? "invalid_body" : undefined
}

const time = { type: "integer", description: "Epoch milliseconds." } as const
const timeOrNull = { type: ["integer", "null"], description: "Epoch milliseconds, or null." } as const
const text = (description: string) => ({ type: "string", description }) as const
const textOrNull = (description: string) => ({ type: ["string", "null"], description }) as const
const count = { type: "integer", minimum: 0 } as const
const counts = (description: string) =>
  ({ type: "object", additionalProperties: { type: "number" }, description }) as const
const arrayOf = <const Items>(items: Items) => ({ type: "array", items }) as const
const objectOf = <const Properties extends { readonly [name: string]: unknown }>(properties: Properties) => ({
  type: "object" as const,
  properties,
  // The cast is safe: they are its keys.
  required: Object.keys(properties) as ReadonlyArray<keyof Properties>
})

/** What a new key and a key have in common. */
const settings = {
  id: text("Public identifier, such as `key_5BKLi8DbtKY`."),
  plan: text("Name of the plan."),
  limits: objectOf({ perMinute: count, perDay: count }),
  label: textOrNull("A name for operators, never sent to clients."),
  account: textOrNull("The account to which the key belongs, such as the id of a customer."),
  metadata: { type: ["object", "null"], description: "A JSON object for programs of the operator." },
  expiresAt: timeOrNull
} as const

const Key = objectOf({
  ...settings,
  createdAt: time,
  revokedAt: timeOrNull,
  lastSeenDay: textOrNull("Date in UTC of the last request, or null."),
  secrets: arrayOf(objectOf({ createdAt: time, expiresAt: timeOrNull })),
  states: arrayOf({ type: "string", enum: KeyQuery.states }),
  minute: objectOf({ limit: count, remaining: count, fullAt: time }),
  day: objectOf({ limit: count, used: count, remaining: count, endsAt: time }),
  strikes: count,
  bannedUntil: timeOrNull
})

const Issued = objectOf({
  ...settings,
  key: text("The secret, which is shown only now."),
  oldKeyExpiresAt: { ...timeOrNull, description: "When the previous secret expires, or null for a new key." }
})

const requests = { type: "integer", minimum: 1, maximum: Plan.maxRequests } as const

/** The fields of a new key, and of a change, in which null removes a value; the console shows them. */
const changeOf = (plans: ReadonlyArray<string>) =>
  ({
    type: "object",
    properties: {
      plan: { type: "string", enum: plans, description: "Its limits apply unless you set others." },
      perMinute: requests,
      perDay: requests,
      label: settings.label,
      account: settings.account,
      metadata: settings.metadata,
      expires: text("Time from now, such as 12h or 90d, or never.")
    },
    additionalProperties: false
  }) as const

const Row = {
  requests: counts("Number of requests by status; `none` for clients that disconnected."),
  p50Ms: { type: ["number", "null"] },
  p99Ms: { type: ["number", "null"] },
  limited: counts("Number of 429 responses by plan."),
  bans: counts("Number of bans that began, by plan."),
  databaseMs: { type: ["number", "null"], description: "Mean duration of a call to the database." },
  memoryBytes: count
} as const

const LATER = "Other processes of the service apply it within five seconds (--key-cache)."

const page = {
  cursor: text("The `next` of the previous page."),
  limit: { type: "integer", minimum: 1, maximum: 100, default: 50 }
} as const

const next = textOrNull("The cursor of the next page, or null.")

export const operations = ({ history, plans, run }: Tools): ReadonlyArray<OwnOperation> => {
  const Change = changeOf(Object.keys(plans))
  const keysOf = ({ id, label = id }: Caller) =>
    Keys.make((program) => run(Effect.provideService(program, Actor, label)))
  const toKey = (key: KeyStatus, now: number) => ({
    ...KeyRecord.withUsage(key),
    states: KeyQuery.statesOf(key, now)
  })
  /** Does something with the key of the path, and responds with what is stored then. */
  const act = async (
    { caller, now, params: { id } }: Pick<OperationInput<"{id}">, "caller" | "now" | "params">,
    action: (keys: Keys.Keys, id: string) => Promise<unknown>
  ) => {
    const keys = keysOf(caller)
    await action(keys, id)
    return { body: toKey(await keys.show(id), now) }
  }
  return [
    defineOperation({
      id: "listKeys",
      method: "GET",
      path: "/keys",
      summary: "List keys with their usage, newest first",
      query: {
        type: "object",
        properties: {
          plan: text("Only keys on this plan."),
          account: text("Only keys of this account."),
          label: text("Only keys whose label or id contains this text, in any case."),
          state: { type: "string", enum: KeyQuery.states, description: "Only keys with this state." },
          ...page
        }
      },
      success: { body: objectOf({ keys: arrayOf(Key), next }) },
      run: async ({ now, query }) => {
        const { keys, next = null } = await run(KeyQuery.page({ limit: page.limit.default, ...query }))
        return { body: { keys: keys.map((key) => toKey(key, now)), next } }
      }
    }),
    defineOperation({
      id: "issueKey",
      method: "POST",
      path: "/keys",
      summary: "Issue a key",
      description: "It works immediately. Its secret is shown once.",
      body: { ...Change, required: ["plan"] },
      success: { status: 201, body: Issued },
      run: async ({ body, caller }) => ({
        body: KeyRecord.issued(await keysOf(caller).issue({ ...optionsOf(body), plan: body.plan }))
      })
    }),
    defineOperation({
      id: "showKey",
      method: "GET",
      path: "/keys/{id}",
      summary: "Show a key and its usage",
      success: { body: Key },
      run: (input) => act(input, async () => undefined)
    }),
    defineOperation({
      id: "setKey",
      method: "PATCH",
      path: "/keys/{id}",
      summary: "Change a key",
      description: `Absent fields stay as they are; null removes a value, as does an empty field of the console. Secrets and usage stay: a lower limit applies at the next request, a higher one does not refill the minute. ${LATER}`,
      body: Change,
      success: { body: Key },
      run: (input) => act(input, async (keys, id) => keys.set(id, optionsOf(input.body)))
    }),
    defineOperation({
      id: "rotateKey",
      method: "POST",
      path: "/keys/{id}/rotate",
      summary: "Issue a new secret for a key",
      description:
        "It is shown once. The old secret works until the overlap ends; both share limits and bans.",
      body: {
        type: "object",
        properties: {
          overlap: { ...text("Time until the old secret expires, such as 0, 30m or 24h."), default: "24h" },
          force: {
            type: "boolean",
            description: "Rotate even if this ends a secret that an earlier rotation left valid."
          }
        }
      },
      success: { body: Issued },
      run: async ({ body: { force, overlap = "24h" }, caller, params: { id } }) => {
        const overlapMs = parsed("overlap", KeyLifecycle.parseOverlap(overlap))
        return { body: KeyRecord.issued(await keysOf(caller).rotate(id, { overlapMs, force })) }
      }
    }),
    defineOperation({
      id: "revokeKey",
      method: "POST",
      path: "/keys/{id}/revoke",
      summary: "Revoke a key",
      description: `Every further request with it gets 401. This is final. ${LATER}`,
      success: { body: Key },
      run: (input) => act(input, (keys, id) => keys.revoke(id))
    }),
    defineOperation({
      id: "unbanKey",
      method: "POST",
      path: "/keys/{id}/unban",
      summary: "Unban a key",
      description:
        "Lifts the ban and clears strikes, immediately in all processes. Counted requests stay counted.",
      success: { body: Key },
      run: (input) => act(input, (keys, id) => keys.unban(id))
    }),
    defineOperation({
      id: "listEvents",
      method: "GET",
      path: "/events",
      summary: "List the recorded actions of administrators, newest first",
      query: {
        type: "object",
        properties: { key: text("Only actions on the key with this id."), ...page }
      },
      success: {
        body: objectOf({
          events: arrayOf(
            objectOf({
              at: time,
              actor: text("The name of the admin token, or the user of the operating system."),
              keyId: text("The key that it changed."),
              action: { type: "string", enum: actions },
              changes: { type: "object", description: "The values `from` before and `to` after, by field." }
            })
          ),
          next
        })
      },
      run: async ({ caller, query: { cursor = "", key, limit = page.limit.default } }) => {
        const recorded = await keysOf(caller).log(key)
        const end = /^[0-9]{1,15}$/.test(cursor) ? Number(cursor) : recorded.length
        const start = Math.max(Math.min(end, recorded.length) - limit, 0)
        const events = recorded.slice(start, end).reverse()
        return { body: { events, next: start === 0 ? null : String(start) } }
      }
    }),
    defineOperation({
      id: "listPlans",
      method: "GET",
      path: "/plans",
      summary: "List the plans",
      success: {
        body: arrayOf(
          objectOf({
            name: text("What `plan` of a key has."),
            limits: {
              type: ["object", "null"],
              description: "`perMinute` and `perDay`, or null if they are agreed for each key."
            }
          })
        )
      },
      run: () => ({ body: Object.entries(plans).map(([name, limits = null]) => ({ name, limits })) })
    }),
    defineOperation({
      id: "getHistory",
      method: "GET",
      path: "/history",
      summary: "Get the metrics of the last hour, and of each process since its start",
      description: "Counts are those of `/metrics`; the rows of the last hour end every ten seconds.",
      success: {
        body: objectOf({
          rows: arrayOf(objectOf({ from: time, to: time, ...Row })),
          workers: arrayOf(objectOf({ worker: count, ...Row })),
          total: objectOf(Row)
        })
      },
      run: async () => ({ body: await history() })
    })
  ].map(guarded)
}

type Change = Validator.OutputOf<ReturnType<typeof changeOf>>

/** Returns a body as the options of `Keys`, which checks the metadata. */
const optionsOf = ({ expires, metadata, perDay, perMinute, ...rest }: Change) => ({
  ...rest,
  limits: { perMinute, perDay },
  // The cast is safe: JSON has only JSON objects.
  metadata: metadata as Metadata | null | undefined,
  expires: expires === undefined ? undefined : parsed("expires", Expiry.parse(0)(expires))
})

const parsed = <A>(option: string, result: Result.Result<A, string>): A =>
  Result.getOrThrowWith(result, (reason) => new InvalidOption({ option, reason }))

/** Rejects pages of other origins, and turns failures of `Keys` into responses. */
const guarded = (operation: OwnOperation): OwnOperation => ({
  ...operation,
  // Those that name a key may not find it.
  errors: ["forbidden_origin", ...(/\{id\}|events/.test(operation.path) ? codes : [])],
  run: async (input: OperationInput) => {
    const origin = input.header("origin")
    // A proxy may terminate TLS, so the scheme is not compared.
    if (origin !== undefined && URL.parse(origin)?.host !== input.header("host")?.toLowerCase())
      throw input.error("forbidden_origin")
    try {
      // The cast is safe: the pipeline has validated the input.
      return await operation.run(input as never)
    } catch (cause) {
      const code = cause instanceof Error && "_tag" in cause ? codeOf(String(cause._tag)) : undefined
      if (code === undefined || !(cause instanceof Error)) throw cause
      const prefix = code === "invalid_body" ? "The body is invalid: " : ""
      throw input.error(code, `${prefix}${cause.message}.`)
    }
  }
})
