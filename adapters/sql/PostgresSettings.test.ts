import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
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
