/**
 * Serves with Fastify on `pg`. Arguments: the address of the database; the address of a Redis server or "memory:" to
 * count requests there or in this process instead of in the database.
 */
import { Redis } from "ioredis"
import pg from "pg"
import { type Animal, animals, type Caller } from "../Catalogue.ts"
import * as CachedCallers from "./CachedCallers.ts"
import * as FastifyApp from "./FastifyApp.ts"
import * as FlexibleLimits from "./FlexibleLimits.ts"

const [connectionString = "", limits] = process.argv.slice(2)

// Reads int8 as a number; ids and counts are small enough.
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
const pool = new pg.Pool({ connectionString, max: 10, idleTimeoutMillis: 0 })

await pool.query(`
  CREATE TABLE pets (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL, category_id bigint NOT NULL, status text NOT NULL
  );
  CREATE INDEX ON pets (status, id);
  CREATE TABLE api_keys (
    hash text PRIMARY KEY, id text NOT NULL, per_minute bigint NOT NULL, per_day bigint NOT NULL
  )`)
await pool.query(
  `INSERT INTO pets (name, category_id, status)
   SELECT name, "categoryId", status
   FROM ROWS FROM (json_to_recordset($1) AS (name text, "categoryId" bigint, status text)) WITH ORDINALITY
   ORDER BY ordinality`,
  [JSON.stringify(animals)]
)
await pool.query(
  `INSERT INTO api_keys
   SELECT * FROM json_to_recordset($1) AS key (hash text, id text, "perMinute" bigint, "perDay" bigint)`,
  [JSON.stringify(CachedCallers.hashedCallers)]
)

const columns = `id, name, category_id AS "categoryId", status`

/** Runs a statement that each connection prepares once. */
const query = <Row extends pg.QueryResultRow>(
  name: string,
  text: string,
  values: ReadonlyArray<unknown>
): Promise<ReadonlyArray<Row>> =>
  pool.query<Row>({ name, text, values: [...values] }).then(({ rows }) => rows)

const store: FastifyApp.Store = {
  findCaller: CachedCallers.make(async (hash) => {
    const [caller] = await query<Caller>(
      "find-key",
      `SELECT id, per_minute AS "perMinute", per_day AS "perDay" FROM api_keys WHERE hash = $1`,
      [hash]
    )
    return caller
  }),
  find: async (id) => {
    const [animal] = await query<Animal>("find", `SELECT ${columns} FROM pets WHERE id = $1`, [id])
    return animal
  },
  insert: async ({ categoryId, name, status }) => {
    const [animal] = await query<Animal>(
      "insert",
      `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${columns}`,
      [name, categoryId, status]
    )
    if (animal === undefined) throw new Error("INSERT returned no row")
    return animal
  },
  page: async (limit, status, after) => {
    const rows =
      status === undefined
        ? await query<Animal>("page", `SELECT ${columns} FROM pets WHERE id > $1 ORDER BY id LIMIT $2`, [
            after,
            limit + 1
          ])
        : await query<Animal>(
            "page-by-status",
            `SELECT ${columns} FROM pets WHERE status = $1 AND id > $2 ORDER BY id LIMIT $3`,
            [status, after, limit + 1]
          )
    return { animals: rows.slice(0, limit), hasMore: rows.length > limit }
  }
}

const countIn = (address: string | undefined): Promise<FastifyApp.Count> =>
  address === undefined ? FlexibleLimits.inPostgres(pool) : FlexibleLimits.inRedis(new Redis(address))

await FastifyApp.serve(store, limits === "memory:" ? undefined : await countIn(limits))
