/** Implements `ApiKeyStore` on a SQL database, with a row for each key and a row for each secret, found by its hash. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { KeyEvent } from "../../core/access/KeyEvent.ts"
import { ApiKeyStore, type KeyUpdate } from "../../core/ports/ApiKeyStore.ts"
import * as KeyEvents from "./KeyEvents.ts"
import * as PostgresArray from "./PostgresArray.ts"
import * as PostgresBatch from "./PostgresBatch.ts"
import * as SqlCall from "./SqlCall.ts"
import * as SqliteWorkerClient from "./SqliteWorkerClient.ts"
import type { SqlOptions } from "./SqlOptions.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/** Options of `layer`. */
export type SqlApiKeyStoreOptions = Pick<SqlOptions, "timeoutMs">

/** Provides the store over the `SqlClient` in the context, after `Migrations.migrate`; changes apply immediately. */
export const layer = (options: SqlApiKeyStoreOptions): Layer.Layer<ApiKeyStore, never, SqlClient.SqlClient> =>
  Layer.effect(ApiKeyStore, make(options))

const make = Effect.fnUntraced(function* ({
  timeoutMs
}: SqlApiKeyStoreOptions): Effect.fn.Return<ApiKeyStore["Service"], never, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const call = SqlCall.make(timeoutMs)
  const isPostgres = sql.onDialectOrElse({ pg: () => true, orElse: () => false })

  const rows = (condition: string, ...parameters: ReadonlyArray<unknown>) =>
    sql.unsafe<KeyRow>(
      `SELECT k.id, k.plan, k.per_minute, k.per_day, k.label, k.created_at, k.revoked_at,
              k.expires_at AS key_expires_at, k.last_seen_day,
              s.hash, s.created_at AS secret_created_at, s.expires_at
       FROM api_keys k LEFT JOIN api_key_secrets s ON s.key_id = k.id
       ${condition} ORDER BY k.position, s.position`,
      parameters
    )

  const parameter = isPostgres ? "$1" : "?"
  const byHash = `WHERE k.id = (SELECT key_id FROM api_key_secrets WHERE hash = ${parameter})`
  const byHashes = "WHERE k.id IN (SELECT key_id FROM api_key_secrets WHERE hash = ANY($1))"
  const byId = `WHERE k.id = ${parameter}`

  const insertSecrets = (key: ApiKey) =>
    Effect.forEach(
      key.secrets,
      ({ createdAt, expiresAt, hash }, position) =>
        sql`INSERT INTO api_key_secrets ${sql.insert({
          hash,
          key_id: key.id,
          position,
          created_at: createdAt,
          expires_at: expiresAt ?? null
        })}`,
      { discard: true }
    )

  const insert = (key: ApiKey, event: KeyEvent | undefined) =>
    Effect.gen(function* () {
      yield* sql`INSERT INTO api_keys ${sql.insert({ id: key.id, ...fieldsOf(key) })}`
      yield* insertSecrets(key)
      yield* KeyEvents.insert(sql, event)
    })

  const insertFirst = (key: ApiKey, event: KeyEvent | undefined) =>
    Effect.gen(function* () {
      if (isPostgres) yield* sql`LOCK TABLE api_keys IN EXCLUSIVE MODE`
      const existing = yield* sql`SELECT 1 FROM api_keys LIMIT 1`
      if (existing.length > 0) return false
      yield* insert(key, event)
      return true
    })

  const replace = (key: ApiKey) =>
    Effect.gen(function* () {
      yield* sql`UPDATE api_keys SET ${sql.update(fieldsOf(key))} WHERE id = ${key.id}`
      yield* sql`DELETE FROM api_key_secrets WHERE key_id = ${key.id}`
      yield* insertSecrets(key)
    })

  const update = <A>(id: string, change: KeyUpdate<A>): Effect.Effect<Option.Option<A>, SqlError> =>
    Effect.gen(function* () {
      if (isPostgres) yield* sql`SELECT 1 FROM api_keys WHERE id = ${id} FOR UPDATE`
      const [key] = keysIn(yield* rows(byId, id))
      if (key === undefined) return Option.none()
      const [result, changed, event] = change(key)
      if (changed !== key) yield* replace(changed)
      yield* KeyEvents.insert(sql, event)
      return Option.some(result)
    })

  // The worker waits for the lock itself, and holds it only for this statement.
  const runStatement = <A>(statement: Effect.Effect<A, SqlError>) =>
    SqliteWorkerClient.isSqliteWorkerClient(sql) ? statement : WriteTransaction.run(sql, statement)

  const markSeen = (ids: ReadonlyArray<string>, day: number) =>
    isPostgres
      ? // Uses no transaction: on a dead connection, ending it would delay the closing of the store.
        sql.unsafe(
          // Locks the rows in a fixed order, because two nodes often mark the same keys at the same time.
          `UPDATE api_keys SET last_seen_day = $1::bigint WHERE id IN (
             SELECT id FROM api_keys
             WHERE id = ANY($2::text[]) AND coalesce(last_seen_day, -1) < $1::bigint
             ORDER BY position FOR NO KEY UPDATE)`,
          [day, ids]
        )
      : runStatement(
          sql.unsafe(
            `UPDATE api_keys SET last_seen_day = ?1
             WHERE id IN (SELECT value FROM json_each(?2)) AND coalesce(last_seen_day, -1) < ?1`,
            [day, JSON.stringify(ids)]
          )
        )

  const findOne = (hash: string) =>
    Effect.map(rows(byHash, hash), (found) => [Exit.succeed(Option.fromUndefinedOr(keysIn(found)[0]))])

  const findAll = (hashes: ReadonlyArray<string>) =>
    Effect.map(rows(byHashes, PostgresArray.text([...new Set(hashes)])), (found) => {
      const keyByHash = new Map(
        keysIn(found).flatMap((key) => key.secrets.map(({ hash }) => [hash, key] as const))
      )
      return hashes.map((hash) => Exit.succeed(Option.fromUndefinedOr(keyByHash.get(hash))))
    })

  const findByHash = isPostgres
    ? yield* PostgresBatch.make({
        isRepeatable: true,
        statement: PostgresBatch.oneOrMore(findOne, findAll)
      })
    : undefined

  return {
    findByHash: (hash) =>
      findByHash === undefined
        ? Effect.map(call.run(rows(byHash, hash)), (found) => Option.fromUndefinedOr(keysIn(found)[0]))
        : call.submit((done) => findByHash(hash, done)),
    insert: (key, event) => call.run(WriteTransaction.run(sql, insert(key, event))),
    insertFirst: (key, event) => call.run(WriteTransaction.run(sql, insertFirst(key, event))),
    update: (id, change) => call.run(WriteTransaction.run(sql, update(id, change))),
    list: Effect.map(call.run(rows("")), keysIn),
    events: (id) => call.run(KeyEvents.select(sql, id)),
    markSeen: (ids, day) => Effect.asVoid(call.run(markSeen(ids, day)))
  }
})

/** A key with one of its secrets; a key without secrets has one row with nulls. */
interface KeyRow {
  readonly id: string
  readonly plan: string
  readonly per_minute: unknown
  readonly per_day: unknown
  readonly label: string | null
  readonly created_at: unknown
  readonly revoked_at: unknown
  readonly key_expires_at: unknown
  readonly last_seen_day: unknown
  readonly hash: string | null
  readonly secret_created_at: unknown
  readonly expires_at: unknown
}

const fieldsOf = (key: ApiKey) => ({
  plan: key.plan,
  per_minute: key.limits.perMinute,
  per_day: key.limits.perDay,
  label: key.label ?? null,
  created_at: key.createdAt,
  revoked_at: key.revokedAt ?? null,
  expires_at: key.expiresAt ?? null,
  last_seen_day: key.lastSeenDay ?? null
})

/** Groups consecutive rows into keys. */
const keysIn = (rows: ReadonlyArray<KeyRow>): ReadonlyArray<ApiKey> => {
  const keys = new Map<string, ApiKey & { readonly secrets: Array<ApiKey["secrets"][number]> }>()
  for (const row of rows) {
    const key = keys.get(row.id) ?? { ...toKey(row), secrets: [] }
    keys.set(row.id, key)
    if (row.hash === null) continue
    key.secrets.push({
      hash: row.hash,
      createdAt: Number(row.secret_created_at),
      expiresAt: toNumber(row.expires_at)
    })
  }
  return [...keys.values()]
}

const toKey = (row: KeyRow): Omit<ApiKey, "secrets"> => ({
  id: row.id,
  plan: row.plan,
  limits: { perMinute: Number(row.per_minute), perDay: Number(row.per_day) },
  label: row.label ?? undefined,
  createdAt: Number(row.created_at),
  revokedAt: toNumber(row.revoked_at),
  expiresAt: toNumber(row.key_expires_at),
  lastSeenDay: toNumber(row.last_seen_day)
})

const toNumber = (value: unknown): number | undefined => (value === null ? undefined : Number(value))
