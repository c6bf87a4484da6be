/**
 * Serves with Fastify on `node:sqlite`. Arguments: the address of the database; "memory:" to count requests in this
 * process instead of in the database.
 */
import { DatabaseSync } from "node:sqlite"
import { type Animal, animals, type Caller, type Page } from "../Catalogue.ts"
import * as CachedCallers from "./CachedCallers.ts"
import * as FastifyApp from "./FastifyApp.ts"

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

const [address = "", limits] = process.argv.slice(2)
const database = new DatabaseSync(address.slice("sqlite:".length), { timeout: 5_000 })
// A transaction is on disk before its response is sent.
database.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE pets (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, categoryId INTEGER NOT NULL, status TEXT NOT NULL
  );
  CREATE INDEX pets_by_status ON pets (status, id);
  CREATE TABLE api_keys (
    hash TEXT PRIMARY KEY, id TEXT NOT NULL, perMinute INTEGER NOT NULL, perDay INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE rate_limits (
    caller TEXT PRIMARY KEY, minute INTEGER NOT NULL, inMinute INTEGER NOT NULL, day INTEGER NOT NULL, inDay INTEGER NOT NULL
  ) WITHOUT ROWID;
`)

const insert = database.prepare("INSERT INTO pets (name, categoryId, status) VALUES (?, ?, ?)")
const insertKey = database.prepare("INSERT INTO api_keys (hash, id, perMinute, perDay) VALUES (?, ?, ?, ?)")
database.exec("BEGIN")
for (const { categoryId, name, status } of animals) insert.run(name, categoryId, status)
for (const { hash, id, perDay, perMinute } of CachedCallers.hashedCallers)
  insertKey.run(hash, id, perMinute, perDay)
database.exec("COMMIT")

const findKey = database.prepare("SELECT id, perMinute, perDay FROM api_keys WHERE hash = ?")
const columns = "id, name, categoryId, status"
const find = database.prepare(`SELECT ${columns} FROM pets WHERE id = ?`)
const pageOfAll = database.prepare(`SELECT ${columns} FROM pets WHERE id > ? ORDER BY id LIMIT ?`)
const pageByStatus = database.prepare(
  `SELECT ${columns} FROM pets WHERE status = ? AND id > ? ORDER BY id LIMIT ?`
)

/** Returns a page from rows, of which there is one more than the limit if more follow. */
const pageOf = (rows: ReadonlyArray<Animal>, limit: number): Page =>
  rows.length > limit ? { animals: rows.slice(0, limit), hasMore: true } : { animals: rows, hasMore: false }

const store: FastifyApp.Store = {
  // The casts below are safe because of the columns of the statements.
  findCaller: CachedCallers.make((hash) => findKey.get(hash) as Caller | undefined),
  find: (id) => find.get(id) as unknown as Animal | undefined,
  insert: ({ categoryId, name, status }) => {
    const { lastInsertRowid } = insert.run(name, categoryId, status)
    return { id: Number(lastInsertRowid), name, categoryId, status }
  },
  page: (limit, status, after) => {
    const rows =
      status === undefined ? pageOfAll.all(after, limit + 1) : pageByStatus.all(status, after, limit + 1)
    return pageOf(rows as unknown as ReadonlyArray<Animal>, limit)
  }
}

/** Counts in both windows, and changes nothing if one of them is full. */
const countInBoth = database.prepare(`
  INSERT INTO rate_limits (caller, minute, inMinute, day, inDay) VALUES (?, ?, 1, ?, 1)
  ON CONFLICT (caller) DO UPDATE SET
    inMinute = CASE WHEN minute = excluded.minute THEN inMinute + 1 ELSE 1 END, minute = excluded.minute,
    inDay = CASE WHEN day = excluded.day THEN inDay + 1 ELSE 1 END, day = excluded.day
  WHERE (minute <> excluded.minute OR inMinute < ?) AND (day <> excluded.day OR inDay < ?)
  RETURNING inMinute`)
const findInDay = database.prepare("SELECT inDay FROM rate_limits WHERE caller = ? AND day = ?")

const count: FastifyApp.Count = ({ id, perDay, perMinute }) => {
  const now = Date.now()
  const day = Math.floor(now / DAY_MS)
  const counted = countInBoth.get(id, Math.floor(now / MINUTE_MS), day, perMinute, perDay)
  const untilNextMinute = MINUTE_MS - (now % MINUTE_MS)
  if (counted !== undefined)
    return {
      isAdmitted: true,
      remaining: perMinute - Number(counted.inMinute),
      resetsInMs: untilNextMinute
    }
  const isDayFull = Number(findInDay.get(id, day)?.inDay ?? 0) >= perDay
  return {
    isAdmitted: false,
    remaining: 0,
    resetsInMs: isDayFull ? DAY_MS - (now % DAY_MS) : untilNextMinute
  }
}

await FastifyApp.serve(store, limits === "memory:" ? undefined : count)
