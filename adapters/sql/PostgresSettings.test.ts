import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import { PetRepository } from "../../core/ports/PetRepository.ts"
import * as Databases from "./Databases.fixture.ts"

const openWithSetting = (setting: string) =>
  Effect.gen(function* () {
    const { address } = yield* Databases.postgres.create
    const url = new URL(address)
    url.searchParams.set("options", `${url.searchParams.get("options")} -c${setting}`)
    return yield* Effect.exit(Effect.scoped(Effect.provide(Effect.void, Databases.postgresStores(url.href))))
  })

Databases.describeOn(Databases.postgres, "PostgresSettings.check", () => {
  it.effect.each(["default_transaction_isolation=serializable", "synchronous_commit=off"])(
    "rejects %s, and the error names the setting",
    (setting) =>
      Effect.gen(function* () {
        const name = setting.split("=", 1)[0]
        expect(yield* openWithSetting(setting)).toMatchObject({
          cause: {
            reasons: [{ error: { _tag: "DatabaseUnusable", message: expect.stringContaining(`${name}`) } }]
          }
        })
      })
  )

  it.effect.each(["synchronous_commit=local", "synchronous_commit=remote_apply"])("accepts %s", (setting) =>
    Effect.gen(function* () {
      expect((yield* openWithSetting(setting))._tag).toBe("Success")
    })
  )
})

/** Creates a database with the encoding, which is dropped when the scope closes. */
const databaseWith = (encoding: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const name = `animal_store_test_${process.pid}_${encoding.toLowerCase()}`
        yield* sql`CREATE DATABASE ${sql(name)} ENCODING ${sql.literal(`'${encoding}'`)} LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`
        return name
      }),
      (name) =>
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DROP DATABASE ${sql(name)} WITH (FORCE)`).pipe(
          Effect.orDie
        )
    ),
    Databases.addressOf
  )

Databases.describeOn(Databases.postgresAlone, "PostgresSettings.check", () => {
  it.live("rejects a database in LATIN1, and the error names the remedy", () =>
    Effect.gen(function* () {
      const stores = Databases.postgresStores(yield* databaseWith("LATIN1"))
      const error = yield* Effect.flip(Effect.scoped(Effect.provide(Effect.void, stores)))
      expect(error.message).toBe(
        "database: its encoding is LATIN1 and must be UTF8: create another one with ENCODING 'UTF8' TEMPLATE template0"
      )
    }).pipe(Effect.scoped, Effect.provide(Databases.serverClient))
  )

  it.live("accepts a database in SQL_ASCII, which stores every name unchanged", () =>
    Effect.gen(function* () {
      const stores = Databases.postgresStores(yield* databaseWith("SQL_ASCII"))
      const name = "🐈 Müller"
      yield* Effect.gen(function* () {
        const pets = yield* PetRepository
        const { id } = yield* pets.insert({ name, categoryId: 1n, status: "available" })
        expect(Option.getOrUndefined(yield* pets.find(id))?.name).toBe(name)
      }).pipe(Effect.provide(stores))
    }).pipe(Effect.scoped, Effect.provide(Databases.serverClient))
  )

  it.live("names the statement that grants the privileges on the schema", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const role = `animal_store_test_${process.pid}`
      yield* Effect.acquireRelease(sql`CREATE ROLE ${sql(role)} LOGIN PASSWORD 'test'`, () =>
        Effect.orDie(sql`DROP ROLE ${sql(role)}`)
      )
      const database = yield* Databases.postgresAlone.create
      // As PostgreSQL 15 and newer do by themselves.
      yield* Effect.provide(
        Effect.flatMap(SqlClient.SqlClient, (own) => own`REVOKE CREATE ON SCHEMA public FROM PUBLIC`),
        database.client
      )
      const url = new URL(database.address)
      url.username = role
      url.password = "test"
      const stores = Databases.postgresStores(url.href)
      const error = yield* Effect.flip(Effect.scoped(Effect.provide(Effect.void, stores)))
      expect(error.message).toMatch(
        new RegExp(
          `permission denied for schema public: run GRANT USAGE, CREATE ON SCHEMA public TO ${role}$`
        )
      )
    }).pipe(Effect.scoped, Effect.provide(Databases.serverClient))
  )
})
