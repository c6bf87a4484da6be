/** Log lines about changes of keys, with the id and the plan of the key. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { IssuedKey } from "../../core/access/KeyLifecycle.ts"

const line = (message: string, { id, plan }: ApiKey): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logInfo(message), { key: id, plan })

/** Logs the key that `change` issues. */
export const issued = <E, R>(change: Effect.Effect<IssuedKey, E, R>): Effect.Effect<IssuedKey, E, R> =>
  Effect.tap(change, ({ key }) => line("key issued", key))

/** Logs the key that `change` issues, if it issues one. */
export const issuedFirst = <E, R>(
  change: Effect.Effect<Option.Option<IssuedKey>, E, R>
): Effect.Effect<Option.Option<IssuedKey>, E, R> =>
  Effect.tap(change, (first) => (Option.isSome(first) ? line("key issued", first.value.key) : Effect.void))

/** Logs the key whose secret `change` rotates. */
export const rotated = <E, R>(change: Effect.Effect<IssuedKey, E, R>): Effect.Effect<IssuedKey, E, R> =>
  Effect.tap(change, ({ key }) => line("key rotated", key))

/** Logs the key that `change` revokes. */
export const revoked = <E, R>(change: Effect.Effect<ApiKey, E, R>): Effect.Effect<ApiKey, E, R> =>
  Effect.tap(change, (key) => line("key revoked", key))

/** Logs the key that `change` changes. */
export const changed = <E, R>(change: Effect.Effect<ApiKey, E, R>): Effect.Effect<ApiKey, E, R> =>
  Effect.tap(change, (key) => line("key changed", key))

/** Logs the key whose ban `unban` lifts. */
export const unbanned = <A extends ApiKey, E, R>(unban: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.tap(unban, (key) => line("key unbanned", key))
