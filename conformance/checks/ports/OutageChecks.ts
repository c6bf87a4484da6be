/** Laws about the failures of ports while their backend does not respond. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { ApiKey } from "../../../core/access/ApiKey.ts"
import { StoreUnavailable } from "../../../core/errors/StoreUnavailable.ts"
import type { ClauseSlug } from "../../clauses/Clauses.ts"
import type { Interfaces } from "../../evaluation/Interfaces.ts"
import { inapplicable, Violation } from "../../evaluation/Outcome.ts"
import { type Check, define } from "../Check.ts"
import * as Keys from "./Keys.ts"
import * as RateLimitHistory from "./RateLimitHistory.ts"
import * as States from "./States.ts"

type Ports = Interfaces["outage"]

/** Calls one method; returns `undefined` when the subject has no such port or method. */
type Call = (ports: Ports) => Effect.Effect<unknown, StoreUnavailable> | undefined

const throwBug = (): never => {
  throw new Error("a bug in the caller's function")
}

const key: ApiKey = Keys.make(Keys.plain, 0, () => Keys.hash(0))
const rename = (before: ApiKey) => [before.id, { ...before, label: "renamed" }] as const
const policy = { plan: { perMinute: 60, perDay: 1_000 }, ban: undefined }

const calls = {
  pets: {
    insert: ({ pets }) => pets?.insert({ name: "Rex", categoryId: 1n, status: "sold" }),
    find: ({ pets }) => pets?.find(1n),
    page: ({ pets }) => pets?.page({ limit: 20, status: undefined, after: undefined }),
    "page of a status": ({ pets }) => pets?.page({ limit: 1, status: "sold", after: 1n })
  },
  limits: {
    modify: ({ limits }) => limits?.modify("key:a", () => ["result", States.numbered(0)]),
    "modify with a step that throws": ({ limits }) => limits?.modify("key:a", throwBug),
    consume: ({ limits }) => limits?.consume?.("key:a", RateLimitHistory.BEGINNING, policy)
  },
  keys: {
    findByHash: ({ keys }) => keys?.findByHash(Keys.hash(0)),
    insert: ({ keys }) => keys?.insert(key),
    insertFirst: ({ keys }) => keys?.insertFirst(key),
    update: ({ keys }) => keys?.update(key.id, rename),
    "update with a change that throws": ({ keys }) => keys?.update(key.id, throwBug),
    list: ({ keys }) => keys?.list
  }
} as const satisfies { readonly [port in keyof Ports]: { readonly [method: string]: Call } }

const outcome = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return "a result, as if nothing were wrong"
  const failure = exit.cause.reasons.find(Cause.isFailReason)
  if (failure !== undefined) return `a failure that is not StoreUnavailable: ${String(failure.error)}`
  return Cause.hasInterruptsOnly(exit.cause)
    ? "an interruption"
    : `a defect: ${Cause.pretty(exit.cause).split("\n")[0]}`
}

/** Whether a call failed with `StoreUnavailable` and with no other cause. */
const isStoreUnavailable = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.length > 0 &&
  exit.cause.reasons.every(
    (reason) =>
      Cause.isFailReason(reason) &&
      reason.error instanceof StoreUnavailable &&
      typeof reason.error.retryable === "boolean"
  )

const outageCheck = (port: keyof Ports, id: string, clause: ClauseSlug): Check => {
  const methods: { readonly [method: string]: Call } = calls[port]
  return define({
    id,
    law: "While the backend does not respond, each method fails with StoreUnavailable within 10 s.",
    clauses: [clause],
    level: "design",
    profile: "port",
    on: "outage",
    needs: ["outage"],
    requests: 0,
    timeoutMs: 10_000,
    examples: Object.keys(methods).map((method) => ({ method })),
    holds: (ports, { method }, trial) =>
      Effect.gen(function* () {
        let isOffered = true
        const call = Effect.suspend(() => {
          const effect = methods[method]?.(ports)
          isOffered = effect !== undefined
          return effect ?? Effect.void
        })
        trial.record({ did: `${method}, while the backend does not respond`, got: "" })
        const exit = yield* Effect.exit(call)
        if (!isOffered)
          return yield* inapplicable(`the subject offers no ${port} with ${method} for an outage`)
        if (isStoreUnavailable(exit)) return
        return yield* Effect.fail(
          new Violation({ expected: `StoreUnavailable from ${method}`, actual: outcome(exit) })
        )
      })
  })
}

export const checks: ReadonlyArray<Check> = [
  outageCheck("pets", "pets.outage", "pets.fails-typed"),
  outageCheck("limits", "limits-store.outage", "limits-store.fails-typed"),
  outageCheck("keys", "keys-store.outage", "keys-store.fails-typed")
]
