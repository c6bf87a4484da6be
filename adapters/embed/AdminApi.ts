/** The operations of the admin API: what `animal-store keys` does, over HTTP. */
import * as Result from "effect/Result"
import * as Expiry from "../../core/access/Expiry.ts"
import { actions } from "../../core/access/KeyEvent.ts"
import * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import * as KeyQuery from "../../core/access/KeyQuery.ts"
import type { KeyStatus } from "../../core/access/KeyStatus.ts"
import type { Metadata } from "../../core/access/Metadata.ts"
import type { OwnErrors } from "../../core/errors/OwnErrors.ts"
import * as Plan from "../../core/limits/Plan.ts"
import type { Caller } from "../../core/service/HostRoute.ts"
import * as Snapshot from "../telemetry/Snapshot.ts"
import * as History from "./History.ts"
import type { KeyList } from "./KeyList.ts"
import * as KeyRecord from "./KeyRecord.ts"
import type { Keys } from "./Keys.ts"
import type { OperationError } from "./OperationError.ts"
import { defineOperation, type OperationInput, type OwnOperation } from "./OwnOperation.ts"
import type * as Validator from "./Validator.ts"

/** What the operations use. */
export interface Tools {
  /** Returns the functions on keys, whose events have this actor. */
  readonly keysOf: (actor: string) => Keys
  readonly list: KeyList
  /** Returns these keys with their usage now. */
  readonly refreshed: (keys: ReadonlyArray<KeyStatus>) => Promise<ReadonlyArray<KeyStatus>>
  readonly plans: { readonly [name: string]: Plan.Plan | undefined }
  readonly rows: () => History.History["rows"]
  /** Returns the metrics of each process now. */
  readonly readMetrics: () => Promise<ReadonlyMap<number, Snapshot.Snapshot>>
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
      plan: {
        type: "string",
        enum: plans,
        title: "Plan",
        description: "Its limits apply unless you set others."
      },
      perMinute: { ...requests, title: "Requests a minute" },
      perDay: { ...requests, title: "Requests a day" },
      label: { ...settings.label, title: "Label" },
      account: { ...settings.account, title: "Account" },
      metadata: { ...settings.metadata, title: "Metadata" },
      expires: {
        type: "string",
        title: "Expires",
        description: "Time from now, such as 12h or 90d, or never."
      }
    },
    additionalProperties: false
  }) as const

const Row = {
  requests: counts("Number of requests by status; `none` for clients that disconnected."),
  p50Ms: { type: ["number", "null"] },
  p99Ms: { type: ["number", "null"] },
  limited: counts("Number of 429 responses by plan."),
  bans: counts("Number of bans that began, by plan."),
  databaseCalls: count,
  databaseMs: { type: ["number", "null"], description: "Mean duration of a call to the database." },
  memoryBytes: count
} as const

const LATER = "Other processes of the service apply it within five seconds (--key-cache)."

const page = {
  cursor: text("The `next` of the previous page."),
  limit: { type: "integer", minimum: 1, maximum: 100, default: 50 }
} as const

const next = textOrNull("The cursor of the next page, or null.")

/** Creates the operations. */
export const operations = ({
  keysOf,
  list,
  plans,
  readMetrics,
  refreshed,
  rows
}: Tools): ReadonlyArray<OwnOperation> => {
  const Change = changeOf(Object.keys(plans))
  const keys = ({ label = "" }: Pick<Caller, "label">): Keys => keysOf(label)
  const toKey = (key: KeyStatus, now: number) => ({
    ...KeyRecord.withUsage(key),
    states: KeyQuery.statesOf(key, now)
  })
  const all = [
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
      success: {
        body: objectOf({
          keys: arrayOf(Key),
          next,
          counts: counts("Number of keys with each state, on all pages and for every `state`.")
        })
      },
      run: async ({ now, query }) => {
        const found = KeyQuery.page(await list.all(now), query, query.limit ?? page.limit.default, now)
        const shown = await refreshed(found.keys)
        return { body: { ...found, keys: shown.map((key) => toKey(key, now)), next: found.next ?? null } }
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
      errors: codes,
      run: async ({ body, caller, error }) => {
        const options = { ...optionsOf(body, error), plan: body.plan }
        return { body: KeyRecord.issued(await keys(caller).issue(options)) }
      }
    }),
    defineOperation({
      id: "showKey",
      method: "GET",
      path: "/keys/{id}",
      summary: "Show a key and its usage",
      success: { body: Key },
      errors: codes,
      run: async ({ caller, now, params: { id } }) => ({ body: toKey(await keys(caller).show(id), now) })
    }),
    defineOperation({
      id: "setKey",
      method: "PATCH",
      path: "/keys/{id}",
      summary: "Change a key",
      description: `Absent fields stay as they are; null removes a value, as does an empty field of the console. Secrets and usage stay: a lower limit applies at the next request, a higher one does not refill the minute. ${LATER}`,
      body: Change,
      success: { body: Key },
      errors: codes,
      run: async ({ body, caller, error, now, params: { id } }) => {
        await keys(caller).set(id, optionsOf(body, error))
        return { body: toKey(await keys(caller).show(id), now) }
      }
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
          overlap: {
            type: "string",
            default: "24h",
            title: "Overlap",
            description: "Time until the old secret expires, such as 0, 30m or 24h."
          },
          force: {
            type: "boolean",
            title: "Force",
            description: "Rotate even if this ends a secret that an earlier rotation left valid."
          }
        }
      },
      success: { body: Issued },
      errors: codes,
      run: async ({ body: { force, overlap = "24h" }, caller, error, params: { id } }) => {
        const overlapMs = parseOr(error, "overlap", KeyLifecycle.parseOverlap(overlap))
        return { body: KeyRecord.issued(await keys(caller).rotate(id, { overlapMs, force })) }
      }
    }),
    ...(
      [
        ["revoke", `Every further request with it gets 401. This is final. ${LATER}`],
        [
          "unban",
          "Lifts the ban and clears strikes, immediately in all processes. Counted requests stay counted."
        ]
      ] as const
    ).map(([action, description]) =>
      defineOperation({
        id: `${action}Key`,
        method: "POST",
        path: `/keys/{id}/${action}`,
        summary: action === "revoke" ? "Revoke a key" : "Unban a key",
        description,
        success: { body: Key },
        errors: codes,
        run: async ({ caller, now, params: { id } }) => {
          await keys(caller)[action](id)
          return { body: toKey(await keys(caller).show(id), now) }
        }
      })
    ),
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
      errors: codes,
      run: async ({ caller, query: { cursor, key, limit = page.limit.default } }) => {
        const recorded = await keys(caller).log(key)
        const given = /^[0-9]{1,15}$/.test(cursor ?? "") ? Number(cursor) : recorded.length
        const end = Math.min(given, recorded.length)
        const start = Math.max(end - limit, 0)
        return {
          body: { events: recorded.slice(start, end).reverse(), next: start === 0 ? null : String(start) }
        }
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
      run: async () => {
        const samples = await readMetrics()
        const total = [...samples.values()].reduce(Snapshot.add, [])
        const workers = [...samples].map(([worker, sample]) => ({ worker, ...History.rowOf(sample) }))
        return { body: { rows: rows(), workers, total: History.rowOf(total) } }
      }
    })
  ]
  return all.map((operation) => guarded(operation, list))
}

type MakeError = (code: (typeof codes)[number], message?: string) => OperationError

/** Parses the expiry of a body, and returns the options of `Keys`. */
const optionsOf = (
  { expires, metadata, perDay, perMinute, ...rest }: Validator.OutputOf<ReturnType<typeof changeOf>>,
  error: MakeError
) => ({
  ...rest,
  limits: { perMinute, perDay },
  // The cast is safe: `Keys` checks the object.
  metadata: metadata as Metadata | null | undefined,
  expires: expires === undefined ? undefined : parseOr(error, "expires", Expiry.parse(0)(expires))
})

const parseOr = <A>(error: MakeError, field: string, parsed: Result.Result<A, string>): A =>
  Result.getOrThrowWith(parsed, (reason) =>
    error("invalid_body", `The body is invalid: ${field}: ${reason}.`)
  )

/** Rejects pages of other origins, turns failures of `Keys` into responses, and discards the list after an action. */
const guarded = (operation: OwnOperation, list: KeyList): OwnOperation => ({
  ...operation,
  errors: [...(operation.errors ?? []), "forbidden_origin"],
  run: async (input: OperationInput) => {
    if (isForeign(input.header("origin"), input.header("host"))) throw input.error("forbidden_origin")
    try {
      // The cast is safe: the pipeline has validated the input.
      return await operation.run(input as never)
    } catch (cause) {
      const code = cause instanceof Error && "_tag" in cause ? codeOf(String(cause._tag)) : undefined
      if (code === undefined || !(cause instanceof Error)) throw cause
      const prefix = code === "invalid_body" ? "The body is invalid: " : ""
      throw input.error(code, `${prefix}${cause.message}.`)
    } finally {
      if (operation.method !== "GET") list.discard()
    }
  }
})

/**
 * Whether a page of another origin sent the request. A proxy may terminate TLS, so the scheme is not compared; browsers
 * always send the authority that a page was loaded from.
 */
const isForeign = (origin: string | undefined, host: string | undefined): boolean =>
  origin !== undefined && origin.replace(/^https?:\/\//i, "").toLowerCase() !== host?.toLowerCase()
