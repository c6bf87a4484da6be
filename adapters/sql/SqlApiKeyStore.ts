/** Implements `ApiKeyStore` on a SQL database, with a row for each key and a row for each secret, found by its hash. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import type { ApiKey } from "../../core/access/ApiKey.ts"
import type { KeyEvent } from "../../core/access/KeyEvent.ts"
import * as Metadata from "../../core/access/Metadata.ts"
import { AdminTokenStore } from "../../core/ports/AdminTokenStore.ts"
import { ApiKeyStore, type KeyUpdate } from "../../core/ports/ApiKeyStore.ts"
import * as KeyEvents from "./KeyEvents.ts"
import * as PostgresArray from "./PostgresArray.ts"
import * as PostgresBatch from "./PostgresBatch.ts"
import * as SqlCall from "./SqlCall.ts"
import type { Values } from "./SqliteConnection.ts"
import type { SqlOptions } from "./SqlOptions.ts"
import * as SqlScript from "./SqlScript.ts"
import * as SqlTable from "./SqlTable.ts"
import * as WriteTransaction from "./WriteTransaction.ts"

/** The tables of a store. */
interface Tables {
  readonly keys: string
  readonly secrets: string
  readonly events: string
}

/** The tables of API keys. */
export const apiKeys: Tables = { keys: "api_keys", secrets: "api_key_secrets", events: "key_events" }

/** The tables of admin tokens. */
export const adminTokens: Tables = {
  keys: "admin_tokens",
  secrets: "admin_token_secrets",
  events: "admin_token_events"
}

/** Provides the stores of both over the `SqlClient` in the context, after `Migrations.migrate`. */
export const layer = ({
  timeoutMs
}: Pick<SqlOptions, "timeoutMs">): Layer.Layer<ApiKeyStore, never, SqlClient.SqlClient> => {
  const over = (tables: Tables) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) => make(sql, SqlCall.make(timeoutMs), tables))
  return Layer.merge(
    Layer.effect(ApiKeyStore, over(apiKeys)),
    Layer.effect(AdminTokenStore, over(adminTokens))
  )
}

/** Creates the store over a client; changes apply immediately. */
export const make = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  call: SqlCall.SqlCall,
  tables: Tables
): Effect.fn.Return<ApiKeyStore["Service"]> {
  const isPostgres = SqlTable.isPostgres(sql)
  const { byHash, byHashes, byId, insertion, replacement, select } = statementsOf(tables)

  const rows = (condition: string, ...parameters: ReadonlyArray<unknown>): Effect.Effect<Values, SqlError> =>
    SqlTable.query(sql, select(condition), parameters)

  const firstInsertion = (key: ApiKey, event: KeyEvent | undefined): SqlScript.Script => [
    ...SqlTable.onPostgres(sql, `LOCK TABLE ${tables.keys} IN EXCLUSIVE MODE`),
    [`SELECT 1 FROM ${tables.keys} LIMIT 1`, [], []],
    ...insertion(key, event)
  ]

  /**
   * Computes the change here, because SQLite writes in another thread, and starts again if the key has changed in the
   * meantime. The key is read where it is written, because an interrupted update may still be in progress there.
   */
  const updateUnchanged = <A>(id: string, change: KeyUpdate<A>): Effect.Effect<Option.Option<A>, SqlError> =>
    Effect.gen(function* () {
      const { rows } = yield* WriteTransaction.execute(sql, [[select(byId), [id]]])
      const [key] = keysIn(rows)
      if (key === undefined) return Option.none()
      const [result, changed, event] = change(key)
      const { isComplete } = yield* WriteTransaction.execute(sql, [
        ...SqlTable.onPostgres(sql, `SELECT 1 FROM ${tables.keys} WHERE id = $1 FOR UPDATE`, [id]),
        [select(byId), [id], rows],
        ...(changed === key ? [] : replacement(changed)),
        ...KeyEvents.insertion(tables.events, event)
      ])
      return isComplete ? Option.some(result) : yield* updateUnchanged(id, change)
    })

  // One at a time, so that only other processes can make an update start again.
  const updates = Semaphore.makeUnsafe(1)

  const markSeen = (ids: ReadonlyArray<string>, day: number): Effect.Effect<unknown, SqlError> => {
    // Locks the rows in a fixed order, because two nodes often mark the same keys at the same time.
    const statement = `
      UPDATE ${tables.keys} SET last_seen_day = CAST($2 AS bigint) WHERE id IN (
        SELECT id FROM ${tables.keys}
        WHERE id IN (${SqlTable.texts(sql)}) AND coalesce(last_seen_day, -1) < CAST($2 AS bigint)
        ORDER BY position ${isPostgres ? "FOR NO KEY UPDATE" : ""})`
    const parameters = [JSON.stringify(ids), day]
    return isPostgres
      ? // Uses no transaction: on a dead connection, ending it would delay the closing of the store.
        SqlTable.query(sql, statement, parameters)
      : updates.withPermit(WriteTransaction.execute(sql, [[statement, parameters]]))
  }

  const findOne = (hash: string) => Effect.map(rows(byHash, hash), (found) => [() => firstIn(found)])

  const findAll = (hashes: ReadonlyArray<string>) =>
    Effect.map(rows(byHashes, PostgresArray.text([...new Set(hashes)])), (found) => {
      const keyByHash = new Map(
        keysIn(found).flatMap((key) => key.secrets.map(({ hash }) => [hash, key] as const))
      )
      return hashes.map((hash) => () => Option.fromUndefinedOr(keyByHash.get(hash)))
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
        ? Effect.map(call.run(rows(byHash, hash)), firstIn)
        : call.submit((done) => findByHash(hash, done)),
    insert: (key, event) => Effect.asVoid(call.run(WriteTransaction.execute(sql, insertion(key, event)))),
    insertFirst: (key, event) =>
      Effect.map(
        call.run(WriteTransaction.execute(sql, firstInsertion(key, event))),
        ({ isComplete }) => isComplete
      ),
    update: (id, change) =>
      isStorable(id) ? call.run(updates.withPermit(updateUnchanged(id, change))) : Effect.succeedNone,
    list: Effect.map(call.run(rows("")), keysIn),
    find: (id) => (isStorable(id) ? Effect.map(call.run(rows(byId, id)), firstIn) : Effect.succeedNone),
    events: (id) =>
      id === undefined || isStorable(id)
        ? call.run(KeyEvents.select(sql, tables.events, id))
        : Effect.succeed([]),
    markSeen: (ids, day) => Effect.asVoid(call.run(markSeen(ids, day)))
  }
})

/** Whether both databases can store the text; otherwise no key has this id. */
const isStorable = (id: string): boolean => !id.includes("\0") && !/\p{Surrogate}/u.test(id)

/** Returns the statements of a store, and the conditions of `select`. */
const statementsOf = ({ events, keys, secrets }: Tables) => {
  const insertSecrets = (key: ApiKey): SqlScript.Script =>
    key.secrets.map(({ createdAt, expiresAt, hash }, position) =>
      SqlScript.insert(secrets, {
        hash,
        key_id: key.id,
        position,
        created_at: createdAt,
        expires_at: expiresAt ?? null
      })
    )
  return {
    byHash: `WHERE k.id = (SELECT key_id FROM ${secrets} WHERE hash = $1)`,
    byHashes: `WHERE k.id IN (SELECT key_id FROM ${secrets} WHERE hash = ANY($1))`,
    byId: "WHERE k.id = $1",
    select: (condition: string): string =>
      `SELECT k.id, k.plan, k.per_minute, k.per_day, k.label, k.account, k.metadata, k.created_at, k.revoked_at,
         k.expires_at, k.last_seen_day, s.hash, s.created_at, s.expires_at
       FROM ${keys} k LEFT JOIN ${secrets} s ON s.key_id = k.id
       ${condition} ORDER BY k.position, s.position`,
    insertion: (key: ApiKey, event: KeyEvent | undefined): SqlScript.Script => [
      SqlScript.insert(keys, { id: key.id, ...fieldsOf(key) }),
      ...insertSecrets(key),
      ...KeyEvents.insertion(events, event)
    ],
    replacement: (key: ApiKey): SqlScript.Script => {
      const fields = fieldsOf(key)
      const assignments = Object.keys(fields).map((column, index) => `${column} = $${index + 2}`)
      return [
        [`UPDATE ${keys} SET ${assignments.join(", ")} WHERE id = $1`, [key.id, ...Object.values(fields)]],
        [`DELETE FROM ${secrets} WHERE key_id = $1`, [key.id]],
        ...insertSecrets(key)
      ]
    }
  }
}

const fieldsOf = (key: ApiKey) => ({
  plan: key.plan,
  per_minute: key.limits.perMinute,
  per_day: key.limits.perDay,
  label: key.label ?? null,
  account: key.account ?? null,
  metadata: key.metadata === undefined ? null : JSON.stringify(key.metadata),
  created_at: key.createdAt,
  revoked_at: key.revokedAt ?? null,
  expires_at: key.expiresAt ?? null,
  last_seen_day: key.lastSeenDay ?? null
})

/** Groups the rows of `select` into keys; a key without secrets has one row with nulls. */
const keysIn = (rows: Values): ReadonlyArray<ApiKey> => {
  const keys = new Map<unknown, ApiKey & { readonly secrets: Array<ApiKey["secrets"][number]> }>()
  for (const row of rows) {
    const key = keys.get(row[0]) ?? { ...toKey(row), secrets: [] }
    keys.set(row[0], key)
    const [hash, createdAt, expiresAt] = row.slice(11)
    if (hash === null) continue
    key.secrets.push({ hash: String(hash), createdAt: Number(createdAt), expiresAt: toNumber(expiresAt) })
  }
  return [...keys.values()]
}

const firstIn = (rows: Values): Option.Option<ApiKey> => Option.fromUndefinedOr(keysIn(rows)[0])

const toKey = (row: ReadonlyArray<unknown>): Omit<ApiKey, "secrets"> => {
  const [id, plan, perMinute, perDay, label, account, metadata, createdAt, revokedAt, expiresAt, seen] = row
  return {
    id: String(id),
    plan: String(plan),
    limits: { perMinute: Number(perMinute), perDay: Number(perDay) },
    label: toText(label),
    account: toText(account),
    metadata: metadata === null ? undefined : Metadata.parse(String(metadata)),
    createdAt: Number(createdAt),
    revokedAt: toNumber(revokedAt),
    expiresAt: toNumber(expiresAt),
    lastSeenDay: toNumber(seen)
  }
}

const toText = (value: unknown): string | undefined => (value === null ? undefined : String(value))

const toNumber = (value: unknown): number | undefined => (value === null ? undefined : Number(value))
