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
import * as History from "./History.ts"
import type { KeyList } from "./KeyList.ts"
import * as KeyRecord from "./KeyRecord.ts"
import type { IssuedApiKey, Keys } from "./Keys.ts"
import type { OperationError } from "./OperationError.ts"
import { defineOperation, type OwnOperation } from "./OwnOperation.ts"
import type * as Validator from "./Validator.ts"

/** What the operations use. */
export interface Tools {
  /** Returns the functions on keys, whose events have this actor. */
  readonly keysOf: (actor: string) => Keys
  readonly list: KeyList
  /** Returns these keys with their usage now. */
  readonly refreshed: (keys: ReadonlyArray<KeyStatus>) => Promise<ReadonlyArray<KeyStatus>>
  readonly plans: { readonly [name: string]: Plan.Plan | undefined }
  /** Returns the readings of the last hour, and one of now. */
  readonly history: () => Promise<{ readonly past: History.History; readonly now: History.Reading }>
}

/** The errors that only these operations have. */
export const errors = {
  key_revoked: { status: 409, meaning: "The API key is revoked, which is final." },
  rotation_unfinished: {
    status: 409,
    meaning: "An earlier rotation left a secret valid, which this one would end: send `force` to end it."
  }
} satisfies OwnErrors

const codes = ["not_found", "invalid_body", "key_revoked", "rotation_unfinished"] as const

type MakeError = (code: (typeof codes)[number], message?: string) => OperationError

/** The codes of the failures of `Keys`. Other failures are outages, or defects. */
const codeOf: { readonly [tag: string]: (typeof codes)[number] } = {
  ApiKeyUnknown: "not_found",
  ApiKeyRevoked: "key_revoked",
  RotationUnfinished: "rotation_unfinished",
  PlanInvalid: "invalid_body",
  LabelInvalid: "invalid_body",
  AccountInvalid: "invalid_body",
  MetadataInvalid: "invalid_body",
  ExpiryInvalid: "invalid_body",
  OverlapInvalid: "invalid_body",
  InvalidOption: "invalid_body"
}

/** Performs an action; its failure becomes the response. */
const attempt = async <A>(error: MakeError, perform: () => Promise<A>): Promise<A> => {
  try {
    return await perform()
  } catch (cause) {
    const code = cause instanceof Error && "_tag" in cause ? codeOf[String(cause._tag)] : undefined
    if (code === undefined || !(cause instanceof Error)) throw cause
    throw error(
      code,
      code === "invalid_body" ? `The body is invalid: ${cause.message}.` : `${cause.message}.`
    )
  }
}

const time = { type: "integer", description: "Epoch milliseconds." } as const
const timeOrNull = { type: ["integer", "null"], description: "Epoch milliseconds, or null." } as const
const text = { type: "string" } as const
const count = { type: "integer", minimum: 0 } as const
const counts = { type: "object", additionalProperties: { type: "number" } } as const
const objectOf = <const Properties extends { readonly [name: string]: unknown }>(properties: Properties) => ({
  type: "object" as const,
  properties,
  // The cast is safe: they are its keys.
  required: Object.keys(properties) as ReadonlyArray<keyof Properties>
})

const record = {
  id: text,
  plan: text,
  limits: objectOf({ perMinute: count, perDay: count }),
  label: { type: ["string", "null"] },
  account: { type: ["string", "null"] },
  metadata: { type: ["object", "null"] },
  createdAt: time,
  revokedAt: timeOrNull,
  expiresAt: timeOrNull,
  lastSeenDay: { type: ["string", "null"], description: "Date in UTC of the last request, or null." },
  secrets: { type: "array", items: objectOf({ createdAt: time, expiresAt: timeOrNull }) }
} as const

const Key = objectOf({
  ...record,
  states: { type: "array", items: { type: "string", enum: KeyQuery.states } },
  minute: objectOf({ limit: count, remaining: count, fullAt: time }),
  day: objectOf({ limit: count, used: count, remaining: count, endsAt: time }),
  strikes: count,
  bannedUntil: timeOrNull
})

const Issued = objectOf({
  id: text,
  plan: text,
  limits: record.limits,
  label: record.label,
  account: record.account,
  metadata: record.metadata,
  expiresAt: timeOrNull,
  key: { type: "string", description: "The secret, which is shown only now." },
  oldKeyExpiresAt: { ...timeOrNull, description: "When the previous secret expires, or null for a new key." }
})

const Change = {
  type: "object",
  properties: {
    plan: {
      type: "string",
      description: "A plan, with its limits unless `perMinute` or `perDay` override them."
    },
    perMinute: { type: "integer", minimum: 1, maximum: Plan.maxRequests },
    perDay: { type: "integer", minimum: 1, maximum: Plan.maxRequests },
    label: { type: "string", description: "Name for operators. Empty: none." },
    account: { type: "string", description: "Account to which the key belongs. Empty: none." },
    metadata: { type: ["object", "null"], description: "For programs of the operator. Null: none." },
    expires: { type: "string", description: "Time from now, such as `12h` or `90d`, or `never`." }
  },
  additionalProperties: false
} as const

type Changed = Validator.OutputOf<typeof Change>

const Row = {
  requests: { ...counts, description: "Number of requests by status; `none` for clients that disconnected." },
  p50Ms: { type: ["number", "null"] },
  p99Ms: { type: ["number", "null"] },
  limited: { ...counts, description: "Number of 429 responses by plan." },
  bans: { ...counts, description: "Number of bans that began, by plan." },
  databaseCalls: count,
  databaseMs: { type: ["number", "null"], description: "Mean duration of a call to the database." },
  memoryBytes: count
} as const

const page = {
  cursor: { type: "string", description: "The `next` of the previous page." },
  limit: {
    type: "integer",
    minimum: 1,
    maximum: 100,
    description: "Maximum number on the page; 50 by default."
  }
} as const

const DEFAULT_LIMIT = 50

const next = { type: ["string", "null"], description: "The cursor of the next page, or null." } as const

const toKey = (key: KeyStatus, now: number) => ({
  ...KeyRecord.withUsage(key),
  states: KeyQuery.statesOf(key, now)
})

const toIssued = (issued: IssuedApiKey) => {
  const { account = null, expiresAt = null, label = null, metadata = null, oldKeyExpiresAt = null } = issued
  return { ...issued, label, account, metadata, expiresAt, oldKeyExpiresAt }
}

const parseOr = <A>(error: MakeError, field: string, parsed: Result.Result<A, string>): A =>
  Result.getOrThrowWith(parsed, (reason) =>
    error("invalid_body", `The body is invalid: ${field}: ${reason}.`)
  )

/** The change or the options of a body; `minMs` is the minimum of `expires`, and `none` stands for no value. */
const wantedOf = <None>(
  error: MakeError,
  { account, expires, label, metadata, perDay, perMinute, plan }: Changed,
  minMs: number,
  none: None
) => ({
  plan,
  limits: { perMinute, perDay },
  label: label === "" ? none : label,
  account: account === "" ? none : account,
  // The cast is safe: `Keys` checks the object.
  metadata: metadata === null ? none : (metadata as Metadata | undefined),
  expires: expires === undefined ? undefined : parseOr(error, "expires", Expiry.parse(minMs)(expires))
})

/** Creates the operations. */
export const operations = ({
  history,
  keysOf,
  list,
  plans,
  refreshed
}: Tools): ReadonlyArray<OwnOperation> => {
  const keys = ({ label = "" }: Pick<Caller, "label">): Keys => keysOf(label)
  /** Changes keys, after which an earlier list of them is out of date. */
  const act = <A>(error: MakeError, perform: () => Promise<A>): Promise<A> =>
    attempt(error, perform).finally(() => list.discard())
  return [
    defineOperation({
      id: "listKeys",
      method: "GET",
      path: "/keys",
      summary: "List keys with their usage, newest first",
      query: {
        type: "object",
        properties: {
          plan: { type: "string", description: "Only keys on this plan." },
          account: { type: "string", description: "Only keys of this account." },
          label: {
            type: "string",
            description: "Only keys whose label or id contains this text, in any case."
          },
          state: { type: "string", enum: KeyQuery.states, description: "Only keys with this state." },
          ...page
        }
      },
      success: {
        body: objectOf({
          keys: { type: "array", items: Key },
          next,
          counts: {
            ...counts,
            description: "Number of keys with each state, on all pages and for every `state`."
          }
        })
      },
      run: async ({ now, query }) => {
        const found = KeyQuery.page(await list.all(now), query, query.limit ?? DEFAULT_LIMIT, now)
        const shown = await refreshed(found.keys)
        return {
          body: {
            keys: shown.map((key) => toKey(key, now)),
            next: found.next ?? null,
            counts: found.counts
          }
        }
      }
    }),
    defineOperation({
      id: "issueKey",
      method: "POST",
      path: "/keys",
      summary: "Issue a key",
      body: { ...Change, required: ["plan"] },
      success: { status: 201, body: Issued },
      errors: codes,
      run: async ({ body: { plan, ...rest }, caller, error }) => {
        const options = { ...wantedOf(error, rest, 1, undefined), plan }
        return { body: toIssued(await act(error, () => keys(caller).issue(options))) }
      }
    }),
    defineOperation({
      id: "showKey",
      method: "GET",
      path: "/keys/{id}",
      summary: "Show a key and its usage",
      success: { body: Key },
      errors: codes,
      run: async ({ caller, error, now, params: { id } }) => ({
        body: toKey(await attempt(error, () => keys(caller).show(id)), now)
      })
    }),
    defineOperation({
      id: "setKey",
      method: "PATCH",
      path: "/keys/{id}",
      summary: "Change the plan, limits, label, account, metadata or expiry of a key",
      description:
        "Absent fields stay as they are. Other processes apply the change within their `--key-cache`.",
      body: Change,
      success: { body: Key },
      errors: codes,
      run: async ({ body, caller, error, now, params: { id } }) => {
        const change = wantedOf(error, body, 0, null)
        await act(error, () => keys(caller).set(id, change))
        return { body: toKey(await keys(caller).show(id), now) }
      }
    }),
    defineOperation({
      id: "rotateKey",
      method: "POST",
      path: "/keys/{id}/rotate",
      summary: "Issue a new secret for a key",
      body: {
        type: "object",
        properties: {
          overlap: {
            type: "string",
            description: "Time until the old secret expires, such as `0` or `24h`, the default."
          },
          force: {
            type: "boolean",
            description: "Rotate even if this ends a secret that an earlier rotation left valid."
          }
        }
      },
      success: { body: Issued },
      errors: codes,
      run: async ({ body: { force, overlap = "24h" }, caller, error, params: { id } }) => {
        const overlapMs = parseOr(error, "overlap", KeyLifecycle.parseOverlap(overlap))
        return { body: toIssued(await act(error, () => keys(caller).rotate(id, { overlapMs, force }))) }
      }
    }),
    ...(["revoke", "unban"] as const).map((action) =>
      defineOperation({
        id: `${action}Key`,
        method: "POST",
        path: `/keys/{id}/${action}`,
        summary:
          action === "revoke" ? "Revoke a key permanently" : "Lift the ban of a key and clear its strikes",
        success: { body: Key },
        errors: codes,
        run: async ({ caller, error, now, params: { id } }) => {
          await act(error, () => keys(caller)[action](id))
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
        properties: { key: { type: "string", description: "Only actions on the key with this id." }, ...page }
      },
      success: {
        body: objectOf({
          events: {
            type: "array",
            items: objectOf({
              at: time,
              actor: {
                type: "string",
                description: "The name of the admin token, or the user of the operating system."
              },
              keyId: text,
              action: { type: "string", enum: actions },
              changes: { type: "object", description: "The values `from` before and `to` after, by field." }
            })
          },
          next
        })
      },
      errors: codes,
      run: async ({ caller, error, query: { cursor, key, limit = DEFAULT_LIMIT } }) => {
        const all = await attempt(error, () => keys(caller).log(key))
        const given = /^[0-9]{1,15}$/.test(cursor ?? "") ? Number(cursor) : all.length
        const end = Math.min(given, all.length)
        const start = Math.max(end - limit, 0)
        return { body: { events: all.slice(start, end).reverse(), next: start === 0 ? null : String(start) } }
      }
    }),
    defineOperation({
      id: "listPlans",
      method: "GET",
      path: "/plans",
      summary: "List the plans",
      success: {
        body: {
          type: "array",
          items: objectOf({
            name: text,
            limits: {
              type: ["object", "null"],
              description: "`perMinute` and `perDay`, or null if they are agreed for each key."
            }
          })
        }
      },
      run: () => ({ body: Object.entries(plans).map(([name, limits]) => ({ name, limits: limits ?? null })) })
    }),
    defineOperation({
      id: "getHistory",
      method: "GET",
      path: "/history",
      summary: "Get the metrics of the last hour, and of each process since its start",
      description: "Counts are those of `/metrics`; the rows of the last hour end every ten seconds.",
      query: {
        type: "object",
        properties: { since: { ...time, description: "Only rows that end after this time." } }
      },
      success: {
        body: objectOf({
          rows: { type: "array", items: objectOf({ from: time, to: time, ...Row }) },
          workers: { type: "array", items: objectOf({ worker: count, ...Row }) },
          total: objectOf(Row)
        })
      },
      run: async ({ query: { since = 0 } }) => {
        const { now, past } = await history()
        return {
          body: {
            rows: History.rowsOf(past, since),
            workers: [...now.samples].map(([worker, sample]) => ({ worker, ...History.rowOf(sample) })),
            total: History.rowOf(History.sumOf(now.samples))
          }
        }
      }
    })
  ]
}
