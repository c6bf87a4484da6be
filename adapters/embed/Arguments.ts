/** Checks the arguments of an open store's methods, which untyped programs can get wrong. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Expiry from "../../core/access/Expiry.ts"
import type * as KeyChange from "../../core/access/KeyChange.ts"
import type * as KeyLifecycle from "../../core/access/KeyLifecycle.ts"
import type * as KeyStatus from "../../core/access/KeyStatus.ts"
import type { Metadata } from "../../core/access/Metadata.ts"
import { OwnPlans } from "../../core/limits/OwnPlans.ts"
import * as Plan from "../../core/limits/Plan.ts"
import { InvalidOption } from "../../core/options/InvalidOption.ts"
import * as Options from "../../core/options/Options.ts"
import * as Rule from "../../core/options/Rule.ts"

/** Options of `close`. */
export interface CloseOptions {
  /** Milliseconds for which requests are still accepted, as with `drain`; default 0. */
  readonly drainMs?: number | undefined
}

/** Options of `keys.rotate`. */
export interface RotateOptions {
  /** Milliseconds until the old secret expires, 0 or more. */
  readonly overlapMs: number
  /** Rotate even if this ends a secret that an earlier rotation left valid; default false. */
  readonly force?: boolean | undefined
}

/** Maximum delay of a Node timer, in milliseconds. */
const MAX_MS = 2_147_483_647

const milliseconds = Rule.integer({ min: 0, max: MAX_MS })

const closeRules: Options.Rules<CloseOptions> = { drainMs: milliseconds }

const expiry: Rule.Rule<Expiry.Expiry> = Rule.make(Expiry.isExpiry, Expiry.REASON)

const textOrNull: Rule.Rule<string | null> = Rule.make(
  (value) => value === null || typeof value === "string",
  "must be a string or null"
)

const metadata: Rule.Rule<Metadata | null> = Rule.make(
  (value): value is Metadata | null => typeof value === "object" && !Array.isArray(value),
  "must be an object or null"
)

// These rules check only types and names; `KeyLifecycle` checks the values and their combination.
const keyRules = (plans: OwnPlans): Options.Rules<KeyLifecycle.IssueOptions> => ({
  plan: Rule.oneOf([...Plan.names, ...Object.keys(plans)]),
  limits: Options.partial<Plan.Plan>({ perMinute: Rule.number, perDay: Rule.number }),
  label: textOrNull,
  account: textOrNull,
  metadata,
  expires: expiry
})

const listRules: Options.Rules<KeyStatus.ListOptions> = { account: Rule.text }

const rotateRules: Options.Rules<RotateOptions> = { overlapMs: Rule.number, force: Rule.boolean }

/** Checks the options of `keys.issue` and `keys.issueFirst`. */
export const ofIssue = (given: unknown): Effect.Effect<KeyLifecycle.IssueOptions, InvalidOption> =>
  Effect.flatMap(OwnPlans, (plans) => Effect.fromResult(Options.check(keyRules(plans), given, ["plan"])))

/** Checks the id and the change of `keys.set`. */
export const ofSet = (
  id: unknown,
  given: unknown
): Effect.Effect<readonly [id: string, change: KeyChange.KeyChange], InvalidOption> =>
  Effect.flatMap(OwnPlans, (plans) =>
    Effect.all([ofId(id), Effect.fromResult(Options.check<KeyChange.KeyChange>(keyRules(plans), given))])
  )

/**
 * Checks the options of `keys.list`. The account of a caller without one is `undefined`, and must not select the keys of
 * all accounts.
 */
export const ofList = (given: unknown): Effect.Effect<KeyStatus.ListOptions, InvalidOption> =>
  Effect.flatMap(Effect.fromResult(Options.check(listRules, given)), (checked) =>
    typeof given === "object" && given !== null && "account" in given && checked.account === undefined
      ? Effect.fail(
          new InvalidOption({ option: "account", reason: "must not be undefined; omit it to list all keys" })
        )
      : Effect.succeed(checked)
  )

/** Checks the arguments of `keys.rotate`, and returns the id, the overlap in milliseconds and `force`. */
export const ofRotate = (
  id: unknown,
  given: unknown
): Effect.Effect<readonly [id: string, overlapMs: number, force: boolean | undefined], InvalidOption> =>
  Effect.map(
    Effect.all([ofId(id), Effect.fromResult(Options.check(rotateRules, given, ["overlapMs"]))]),
    ([checkedId, { force, overlapMs }]) => [checkedId, overlapMs, force]
  )

/** Checks the id of a key. */
export const ofId = (id: unknown): Effect.Effect<string, InvalidOption> => check("id", Rule.text, id)

/** Checks the secret of a key, whose value may be wrong. */
export const ofSecret = (secret: unknown): Effect.Effect<string, InvalidOption> =>
  check("secret", Rule.text, secret)

/** Checks the argument of `drain`, in milliseconds. */
export const ofDrain = (ms: unknown): Effect.Effect<number, InvalidOption> => check("ms", milliseconds, ms)

/** Checks the options of `close`, and returns the milliseconds of the drain, 0 by default. */
export const ofClose = (given: unknown): Result.Result<number, InvalidOption> =>
  Result.map(Options.check(closeRules, given), ({ drainMs = 0 }) => drainMs)

const check = <A>(option: string, rule: Rule.Rule<A>, value: unknown): Effect.Effect<A, InvalidOption> =>
  rule.isValid(value)
    ? Effect.succeed(value)
    : Effect.fail(new InvalidOption({ option, reason: rule.reasonFor(value) }))
