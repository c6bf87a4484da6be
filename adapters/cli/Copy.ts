/** `animal-store copy`: copies a whole database to another one. */

import * as Console from "effect/Console"
import * as Context from "effect/Context"
import type * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import * as Archive from "../embed/Archive.ts"
import { type Tables, tables } from "../embed/Database.ts"
import * as Database from "./Database.ts"
import { descriptions } from "./Descriptions.ts"
import * as Failure from "./Failure.ts"
import * as Output from "./Output.ts"
import * as Setting from "./Setting.ts"
import * as StatusLine from "./StatusLine.ts"
import * as Throughput from "./Throughput.ts"

/** Copies all tables and compares both databases. Running the command again resumes an unfinished copy. */
export const copyDatabase = Command.make(
  "copy",
  {
    from: Setting.make("from", "ADDRESS", "Address of the source, as for serve --database.", Setting.text),
    to: Setting.make("to", "ADDRESS", "Address of the target, which must be empty.", Setting.text),
    json: Setting.toggle(
      "json",
      "Print the summary as one line of JSON, and nothing else, to standard output."
    )
  },
  Effect.fn("copy")(
    function* ({ from, json, to }) {
      yield* Database.requireExisting(from, "from")
      const status = yield* StatusLine.make
      const [source, target] = [yield* open(tables(from, "source"), "from"), yield* open(tables(to), "to")]
      const [elapsed, copied] = yield* Archive.copy({
        from: source,
        to: target,
        report: (animals, total) =>
          status.show(`copied ${Throughput.thousands(animals)} of ${Throughput.thousands(total)} animals`)
      }).pipe(Effect.mapError(Failure.userError), Effect.ensuring(status.end), Effect.timed)
      const throughput = Throughput.make(
        copied.tables.find(({ name }) => name === "pets")?.rows ?? 0,
        elapsed
      )
      const nameWidth = Math.max(...copied.tables.map(({ name }) => name.length))
      yield* Output.print(
        json
          ? JSON.stringify({ resumed: copied.isResumed, ...throughput, tables: copied.tables })
          : [
              `Copied ${Database.locationOf(from)} to ${Database.locationOf(to)} ${Throughput.format(throughput)}${copied.isResumed ? ", resuming an earlier copy" : ""}.`,
              "Both have the same rows:",
              ...copied.tables.map(
                ({ digest, name, rows }) =>
                  `  ${name.padEnd(nameWidth)} ${Throughput.thousands(rows).padStart(12)}  SHA-256 ${digest.slice(0, 16)}`
              )
            ].join("\n")
      )
    },
    Effect.onInterrupt(() =>
      Console.error("animal-store: interrupted; run the same command again to resume")
    ),
    Effect.scoped
  )
).pipe(Command.withDescription(descriptions.copy))

const open = (
  client: Tables,
  flag: string
): Effect.Effect<SqlClient.SqlClient, CliError.UserError, Scope.Scope> =>
  Effect.fromResult(client).pipe(
    Effect.flatMap(Layer.build),
    Effect.map((context) => Context.get(context, SqlClient.SqlClient)),
    Effect.mapError(Failure.userErrorAt(flag))
  )
