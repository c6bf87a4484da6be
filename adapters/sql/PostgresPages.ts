/** Reads the pages of several queries in one statement of PostgreSQL; equal queries are executed once. */
import type { PageQuery } from "../../core/domain/Page.ts"
import * as PostgresArray from "./PostgresArray.ts"
import { all, columns, type Row, toInt64 } from "./SqlPetRow.ts"

const ANY = "*"

/**
 * Reads the pages of all queries, each from the index that a statement for this query alone would use: of the two
 * halves of a page, the other one is not executed. The last column is the position of the query.
 */
export const statement = `
  SELECT pet.*, query.position
  FROM unnest($1::float8[], $2::text[], $3::bigint[], $4::bigint[]) AS query (position, status, after, max_rows),
    LATERAL (
      (
        SELECT id, ${columns} FROM pets
        WHERE query.status = '${ANY}' AND id > query.after ORDER BY id LIMIT query.max_rows
      )
      UNION ALL
      (
        SELECT id, ${columns} FROM pets
        WHERE query.status <> '${ANY}' AND (status, id) > (query.status, query.after) AND status <= query.status
        ORDER BY status, id LIMIT query.max_rows
      )
    ) pet`

/** The index of the position in a row: after the id and the fields. */
const POSITION = 1 + all.length

/** Prepares the queries, without duplicates: returns the parameters of `statement`, and a way to find their pages. */
export const of = (queries: ReadonlyArray<PageQuery>) => {
  const known = new Map<string, number>()
  const distinctQueries: Array<PageQuery> = []
  const positions = queries.map((query) => {
    const key = `${query.status} ${query.after} ${query.limit}`
    const position = known.get(key) ?? distinctQueries.push(query) - 1
    known.set(key, position)
    return position
  })
  return {
    parameters: [
      PostgresArray.float([...distinctQueries.keys()]),
      PostgresArray.text(distinctQueries.map(({ status = ANY }) => status)),
      PostgresArray.bigint(distinctQueries.map(({ after = 0n }) => after)),
      PostgresArray.bigint(distinctQueries.map(({ limit }) => limit))
    ],
    /** For each query, the position of its page in the result of `split`. */
    positions,
    /** Returns the rows of each page by ascending id; `petOf` ignores their last value, the position. */
    split: (rows: ReadonlyArray<Row>): ReadonlyArray<ReadonlyArray<Row>> => {
      const pages: Array<Array<Row>> = distinctQueries.map(() => [])
      for (const row of rows) pages[Number(row[POSITION])]?.push(row)
      // PostgreSQL does not guarantee the order of the rows, although it reads each page in order.
      for (const page of pages) page.sort(byId)
      return pages
    }
  }
}

const byId = ([left]: Row, [right]: Row): number => (toInt64(left) < toInt64(right) ? -1 : 1)
