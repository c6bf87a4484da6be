/** Defines how long attacks run, and on which databases. */
import { describe } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"

/**
 * Whether attacks run at full length, on all their databases (`ANIMAL_STORE_TEST_ATTACK=full`), as before a release. By
 * default, they run for a few seconds on one database, which shows only that the bounds hold for that time.
 */
export const isFull = process.env.ANIMAL_STORE_TEST_ATTACK === "full"

/** Timeout of one attack in milliseconds; a full attack restarts servers for minutes. */
export const TIMEOUT_MS = isFull ? 3_600_000 : 600_000

/** A limit for `--issue-key` that no load reaches. */
export const UNLIMITED = "Enterprise:perMinute=1000000000,perDay=1000000000"

const kinds = {
  memory: { name: "memory", missing: undefined, create: async () => "memory:" },
  SQLite: {
    ...Databases.sqlite,
    create: async () => (await Databases.createForTest(Databases.sqlite)).address
  },
  PostgreSQL: {
    ...Databases.postgres,
    create: async () => (await Databases.createForTest(Databases.postgres)).address
  }
}

/**
 * Defines an attack on each of the databases, by default only on the first; `create` returns the address of an empty
 * database. A database that is unavailable is skipped with the reason in the title.
 */
export const describeOn = (
  databases: ReadonlyArray<keyof typeof kinds>,
  title: string,
  tests: (create: () => Promise<string>) => void
): void => {
  for (const database of isFull ? databases : databases.slice(0, 1)) {
    const { create, missing, name } = kinds[database]
    if (missing === undefined) describe(`${title} on ${name}`, () => tests(create))
    else describe.skip(`${title} on ${name} (skipped, ${missing})`, () => tests(create))
  }
}

/** Prints the figures of an attack, for docs/security.md. */
export const report = (title: string, figures: Readonly<Record<string, number | string>>): void =>
  console.log(
    [
      title,
      ...Object.entries(figures).map(
        ([name, figure]) => `${name} ${typeof figure === "number" ? Math.round(figure * 10) / 10 : figure}`
      )
    ].join("; ")
  )
