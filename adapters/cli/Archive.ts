/** Opens a database for commands that read or write animals in bulk. */
import * as Context from "effect/Context"
import type * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { PetArchive } from "../../core/ports/PetArchive.ts"
import * as Archive from "../embed/Archive.ts"
import * as Database from "../embed/Database.ts"
import * as Failure from "./Failure.ts"

/** Opens the database at `address` with `openTables`, by default for writing. The scope closes the database. */
export const open = (
  address: string,
  openTables: (address: string) => Database.Tables = Database.tables
): Effect.Effect<PetArchive["Service"], CliError.UserError, Scope.Scope> =>
  Effect.fromResult(Archive.layer(address, openTables)).pipe(
    Effect.flatMap(Layer.build),
    Effect.map((context) => Context.get(context, PetArchive)),
    Effect.mapError(Failure.userError)
  )
