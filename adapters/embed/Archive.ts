/** Exports and imports the animals in a database, and copies databases. */
import { hash } from "node:crypto"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import type { PetArchive } from "../../core/ports/PetArchive.ts"
import type { DatabaseUnusable } from "../sql/DatabaseUnusable.ts"
import type { Copied, CopyFailed } from "../sql/SqlCopy.ts"
import * as Database from "./Database.ts"

/** Returns the archive of the database at `address`, which `open` opens; by default, missing tables are created. */
export const layer = (
  address: string,
  open: (address: string) => Database.Tables = Database.tables
): Result.Result<Layer.Layer<PetArchive, DatabaseUnusable>, Database.InvalidDatabase> =>
  Result.map(open(address), (client) =>
    Layer.unwrap(
      Effect.map(
        Effect.promise(() => import("../sql/SqlPetArchive.ts")),
        (module) => Layer.provide(module.layer, client)
      )
    )
  )

/** The source and the target of a copy. `report` receives the number of copied animals and the total. */
export interface CopyOptions {
  readonly from: SqlClient.SqlClient
  readonly to: SqlClient.SqlClient
  readonly report: (animals: bigint, total: bigint) => void
}

/** Copies a database into an empty one, or resumes an unfinished copy of the same source. */
export const copy = (options: CopyOptions): Effect.Effect<Copied, CopyFailed | DatabaseUnusable> =>
  Effect.gen(function* () {
    const [cursorKeys, copies] = yield* Effect.promise(() =>
      Promise.all([import("../sql/SqlCursorKey.ts"), import("../sql/SqlCopy.ts")])
    )
    // Identifies the source by its cursor key, which is random and stays the same when the database moves.
    const key = yield* Effect.provideService(cursorKeys.get, SqlClient.SqlClient, options.from)
    return yield* copies.run({ ...options, source: hash("sha256", key) })
  }).pipe(Effect.provide(SecureRandom.layerWebCrypto))
