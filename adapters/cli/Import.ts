/** `animal-store import`: stores animals from JSON Lines. */

import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import type * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Param from "effect/cli/Param"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { PetArchive } from "../../core/ports/PetArchive.ts"
import * as Import from "../../core/transfer/Import.ts"
import * as ImportRecord from "../../core/transfer/ImportRecord.ts"
import * as Archive from "./Archive.ts"
import * as CommandExit from "./CommandExit.ts"
import { descriptions } from "./Descriptions.ts"
import * as Failure from "./Failure.ts"
import * as ImportSource from "./ImportSource.ts"
import * as ImportSummary from "./ImportSummary.ts"
import * as Invocation from "./Invocation.ts"
import * as Output from "./Output.ts"
import * as Setting from "./Setting.ts"
import * as StatusLine from "./StatusLine.ts"
import * as StoreFlags from "./StoreFlags.ts"
import * as Throughput from "./Throughput.ts"

const flags = {
  file: Param.makeSingle({
    kind: Param.argumentKind,
    name: "file",
    primitiveType: Setting.pathOrText("FILE")
  }).pipe(Argument.withDescription("File with one animal as JSON per line, or - for standard input.")),
  dryRun: Setting.toggle("dry-run", "Only check the lines; do not open the database."),
  keepIds: Setting.toggle(
    "keep-ids",
    "Keep the ids in the lines, which must be ascending; otherwise animals get new ids."
  ),
  ignoreUnknown: Setting.toggle(
    "ignore-unknown",
    "Ignore unknown fields; otherwise they make a line invalid."
  ),
  again: Setting.toggleWithoutVariable("again", "Import a source again even if it was imported completely."),
  name: Setting.withoutVariable(
    "name",
    "NAME",
    "Name of the data on standard input; with a name, the import can be resumed after a failure.",
    Setting.text
  ).pipe(Flag.optional),
  database: StoreFlags.store.database,
  json: Setting.toggle("json", "Print the summary as one line of JSON, and nothing else, to standard output.")
}

type Flags = Command.Command.Config.Infer<typeof flags>

/** Stores the animals in a file or on standard input; with `--dry-run`, only checks the lines. */
export const importAnimals = Command.make(
  "import",
  flags,
  Effect.fn("import")(function* (flags) {
    const source = yield* ImportSource.open(flags.file)
    if (source.isFile && Option.isSome(flags.name)) {
      return yield* Effect.fail(
        Failure.userError(
          new Error("--name: only valid for standard input; files are identified by their content")
        )
      )
    }
    const status = yield* StatusLine.make
    let hasBegun = false
    const begin = Effect.sync(() => {
      hasBegun = true
    })
    const work = flags.dryRun
      ? Effect.map(check(flags, source, status), outcomeOfCheck)
      : store(flags, source, status, begin)
    const [elapsed, outcome] = yield* Effect.andThen(rejectOtherForm(flags, source), work).pipe(
      Effect.onInterrupt(() =>
        Console.error(`animal-store: interrupted; ${rerunHint(flags, source, hasBegun)}`)
      ),
      Effect.ensuring(status.end),
      Effect.timed
    )
    const throughput = Throughput.make(flags.dryRun ? outcome.animals : outcome.inserted, elapsed)
    if (outcome.invalidLines.length > 0) {
      for (const line of ImportSummary.formatInvalidLines(source.label, outcome)) yield* Console.error(line)
    }
    if (flags.json) yield* Output.print(JSON.stringify(ImportSummary.recordOf(outcome, throughput)))
    else if (outcome.invalidLines.length === 0) yield* Output.print(ImportSummary.format(outcome, throughput))
    yield* CommandExit.withCode(outcome.invalidLines.length === 0 ? 0 : 1)
  }, Effect.scoped)
).pipe(Command.withDescription(descriptions.import))

/** Fails, before a database is opened, if the source has another form than JSON Lines. */
const rejectOtherForm = Effect.fnUntraced(function* (
  flags: Flags,
  { blocks, label }: ImportSource.ImportSource
): Effect.fn.Return<void, CliError.UserError> {
  const form = Import.formOf(yield* blocks.first, flags)
  if (form === undefined) return
  const input = flags.file === "-" ? `… | ${form.command}` : `${form.command} ${Invocation.quote(label)}`
  return yield* Effect.fail(
    Failure.userError(
      new Error(
        `${label}: it is ${form.name}, not one JSON object on each line; convert it with ${input} | animal-store import -`
      )
    )
  )
})

const outcomeOfCheck = ({ animals, invalidLines }: Import.Checked): ImportSummary.Outcome => ({
  isDryRun: true,
  animals,
  before: 0,
  inserted: 0,
  present: 0,
  invalidLines
})

const check = (
  flags: Flags,
  { blocks, size }: ImportSource.ImportSource,
  status: StatusLine.StatusLine,
  findTaken?: PetArchive["Service"]["findTaken"]
): Effect.Effect<Import.Checked, CliError.UserError> =>
  Import.check(
    blocks.all,
    flags,
    ImportSource.makeHash(),
    (bytes, animals) => status.show(`checked ${Throughput.animals(animals)}${percent(bytes, size)}`),
    (pets) =>
      findTaken === undefined ? Effect.succeed([]) : Effect.mapError(findTaken(pets), Failure.userError)
  )

const percent = (bytes: number, size: number | undefined): string =>
  size === undefined || size === 0 ? "" : `, ${Math.floor((bytes * 100) / size)}%`

/**
 * Stores the animals. A file is checked completely first, and stored only if all lines are valid; a stream is stored as
 * it is read. Runs `begin` before anything is stored.
 */
const store = Effect.fnUntraced(function* (
  flags: Flags,
  source: ImportSource.ImportSource,
  status: StatusLine.StatusLine,
  begin: Effect.Effect<void>
): Effect.fn.Return<ImportSummary.Outcome, CliError.UserError, Scope.Scope> {
  // The check needs the database only with `--keep-ids`. Otherwise the database is opened after the check, so that an
  // invalid file does not create one.
  const openedForCheck = flags.keepIds ? yield* Archive.open(flags.database) : undefined
  const checked = source.isFile ? yield* check(flags, source, status, openedForCheck?.findTaken) : undefined
  if (checked !== undefined && checked.invalidLines.length > 0)
    return { ...outcomeOfCheck(checked), isDryRun: false }
  const archive = openedForCheck ?? (yield* Archive.open(flags.database))
  const name =
    checked === undefined
      ? Option.getOrUndefined(Option.map(flags.name, (given) => `name:${given}`))
      : `sha256:${checked.digest}`
  const from =
    name === undefined ? ImportRecord.beginning : yield* startOrResume(flags, source, archive, name)
  if (name === undefined && !flags.keepIds) yield* Console.error(`animal-store: ${NO_NAME_WARNING}`)
  // Reserve the ids first: a server that creates an animal during the import could otherwise take the id
  // of a later line.
  if (flags.keepIds && checked !== undefined) {
    yield* Effect.mapError(archive.reserveIds(checked.lastId), Failure.userError)
  }
  yield* begin
  let animalsSoFar = from.animals
  const { invalidLines, inserted, position, present } = yield* Import.store(
    source.blocks.all,
    { name, from, digest: checked?.digest },
    flags,
    ImportSource.makeHash(),
    (bytes, animals) => {
      animalsSoFar = animals
      status.show(`imported ${Throughput.animals(animals)}${percent(bytes, source.size)}`)
    }
  ).pipe(
    Effect.provideService(PetArchive, archive),
    Effect.mapError((error) =>
      Failure.withConsequence(
        error,
        `; ${ImportSummary.storedText(animalsSoFar)}; ${hintAfterError(error, flags, source)}`
      )
    )
  )
  return { isDryRun: false, animals: position.animals, before: from.animals, inserted, present, invalidLines }
})

const NO_NAME_WARNING =
  "without --name NAME this import cannot be resumed after a failure; a second run would store the same animals twice"

/** Returns a hint about what to do after an error. */
const hintAfterError = (
  error: { readonly _tag: string },
  flags: Flags,
  source: ImportSource.ImportSource
): string => {
  if (error._tag === "IdTaken") return "the same command would fail again"
  if (error._tag !== "SourceChanged") return rerunHint(flags, source, true)
  return flags.keepIds
    ? "import the changed source again"
    : "the changed source counts as a new one, so these animals would be stored twice"
}

/** Returns a hint about running the same command again; `hasBegun` is whether animals may have been stored. */
const rerunHint = (
  { dryRun, keepIds, name }: Flags,
  { isFile }: ImportSource.ImportSource,
  hasBegun: boolean
): string => {
  if (dryRun) return "nothing was stored"
  if (isFile || keepIds || Option.isSome(name)) return "run the same command again to resume"
  return hasBegun ? "the same command would store these animals twice" : "nothing was stored"
}

/**
 * Returns the position to start from, and records the import if it is new. Fails if the source was already imported, or
 * if `--keep-ids` differs from the interrupted import.
 */
const startOrResume = Effect.fnUntraced(function* (
  { again, keepIds }: Flags,
  { isFile, label }: ImportSource.ImportSource,
  archive: PetArchive["Service"],
  name: string
): Effect.fn.Return<ImportRecord.Position, CliError.UserError> {
  const record = yield* Effect.mapError(archive.findImport(name), Failure.userError)
  const decision = ImportRecord.startOf(record, { again, keepIds, canGrow: !isFile })
  const { isNew, position } = yield* Effect.mapError(Effect.fromResult(decision), (reason) =>
    Failure.userError(new Error(`${label}: ${reason}`))
  )
  if (isNew) yield* Effect.mapError(archive.startImport(name, keepIds, again), Failure.userError)
  return position
})
