/** `animal-store keys`: manages the API keys in any database, even while servers are running on it. */
import * as Command from "effect/cli/Command"
import { issue } from "./keys/Issue.ts"
import { list } from "./keys/List.ts"
import { log } from "./keys/Log.ts"
import * as Revoke from "./keys/Revoke.ts"
import { rotate } from "./keys/Rotate.ts"
import { set } from "./keys/Set.ts"
import { show } from "./keys/Show.ts"
import { unban } from "./keys/Unban.ts"

/** The `keys` commands. */
export const keys = Command.make("keys").pipe(
  Command.withSubcommands([issue, list, show, set, unban, rotate, Revoke.of(false), log]),
  Command.withDescription(
    "Issue, list, change, rotate and revoke API keys, even while servers are running on the database."
  )
)
