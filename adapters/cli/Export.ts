/** `animal-store export`: exports animals as JSON Lines. */
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { PetArchive } from "../../core/ports/PetArchive.ts"
import * as Export from "../../core/transfer/Export.ts"
import { reading } from "../embed/Database.ts"
import * as Archive from "./Archive.ts"
import * as Database from "./Database.ts"
import { descriptions } from "./Descriptions.ts"
import * as Failure from "./Failure.ts"
import * as Output from "./Output.ts"
import * as OutputFile from "./OutputFile.ts"
import { printable } from "./Printable.ts"
import * as Setting from "./Setting.ts"
import * as StatusLine from "./StatusLine.ts"
import * as StoreFlags from "./StoreFlags.ts"
import * as Throughput from "./Throughput.ts"

/** Number of chunks between two progress reports; a chunk has up to 1,000 animals. */
const CHUNKS_PER_REPORT = 10

/** Writes all animals to standard output or to the `--out` file. */
export const exportAnimals = Command.make(
  "export",
  {
    out: Setting.make(
      "out",
      "FILE",
      "File to write, created only when the export is complete. Default, or with -: standard output.",
      Setting.text
    ).pipe(Flag.optional),
    force: Setting.toggleWithoutVariable("force", "Replace the --out file if it exists."),
    database: StoreFlags.store.database,
    json: Setting.toggle(
      "json",
      "Print the summary as one line of JSON, and nothing else, to standard output; requires --out."
    )
  },
  Effect.fn("export")(function* (flags) {
    const file = Option.getOrUndefined(Option.filter(flags.out, (out) => out !== "-"))
    if (flags.json && file === undefined) {
      return yield* Effect.fail(
        Failure.userError(new Error("--json: requires --out, because standard output contains the animals"))
      )
    }
    yield* Database.requireExisting(flags.database, "database")
    if (file !== undefined && Database.isFileOf(flags.database, file)) {
      return yield* Effect.fail(
        Failure.userError(new Error(`--out: ${printable(file)} belongs to the database that is exported`))
      )
    }
    const output = file === undefined ? undefined : yield* OutputFile.make(file, flags.force)
    const write = output?.write ?? Output.write
    const archive = yield* Archive.open(flags.database, reading)
    const status = yield* StatusLine.make
    let animals = 0
    let chunks = 0
    const [elapsed] = yield* Export.chunks.pipe(
      Stream.mapError(Failure.userError),
      Stream.runForEach((chunk) =>
        Effect.map(write(chunk.text), () => {
          animals += chunk.animals
          if (chunks++ % CHUNKS_PER_REPORT === 0) status.show(`exported ${Throughput.animals(animals)}`)
        })
      ),
      Effect.provideService(PetArchive, archive),
      Effect.ensuring(status.end),
      Effect.timed
    )
    const throughput = Throughput.make(animals, elapsed)
    const summary = `Exported ${Throughput.animals(animals)} ${Throughput.format(throughput)}`
    if (output === undefined || file === undefined) return yield* Console.error(`${summary}.`)
    yield* output.complete
    yield* Output.print(
      flags.json ? JSON.stringify({ animals, ...throughput }) : `${summary} to ${printable(file)}.`
    )
  }, Effect.scoped)
).pipe(Command.withDescription(descriptions.export))
