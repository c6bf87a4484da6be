/** Bulk access of a command to the animals of its database. */
import * as Context from "effect/Context"
import type * as CliError from "effect/cli/CliError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { PetArchive } from "../../core/ports/PetArchive.ts"
import * as Archive from "../embed/Archive.ts"
import * as Failure from "./Failure.ts"

/** Opens the database at `address`, which is created if it is a file that does not exist; the scope closes it. */
export const open = (
  address: string
): Effect.Effect<PetArchive["Service"], CliError.UserError, Scope.Scope> =>
  Effect.fromResult(Archive.layer(address)).pipe(
    Effect.flatMap(Layer.build),
    Effect.map((context) => Context.get(context, PetArchive)),
    Effect.mapError(Failure.userError)
  )
