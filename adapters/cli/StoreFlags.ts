/** Defines the flags of `serve` that programs have as options. */
import * as AnimalStoreOptions from "../embed/AnimalStoreOptions.ts"
import summaries from "./OptionSummaries.json" with { type: "json" }
import * as Setting from "./Setting.ts"

/** The database if `--database` is absent. */
export const DEFAULT_DATABASE = "sqlite:./data/animal-store.db"

const { accessLog, docs, logFormat } = AnimalStoreOptions.table

/** The options of `openAnimalStore`, with the defaults of `serve`. */
export const storeTable = {
  ...AnimalStoreOptions.table,
  database: AnimalStoreOptions.databaseFlag(DEFAULT_DATABASE),
  docs: { ...docs, default: true, defaultText: "on" },
  logFormat: {
    ...logFormat,
    default: undefined,
    defaultText: "columns if standard error is a terminal, otherwise text"
  },
  accessLog: { ...accessLog, default: undefined, defaultText: "on if standard error is a terminal" }
}

/** The options of `listen`. */
export const { listenTable } = AnimalStoreOptions

const descriptions: ReadonlyMap<string, string> = new Map(Object.entries(summaries))

const summaryOf = (name: string): string => descriptions.get(name) ?? ""

/** The flags of the options of `openAnimalStore`. */
export const store = Setting.ofTable(storeTable, summaryOf)

/** The flags of the options of `listen`. */
export const listen = Setting.ofTable(listenTable, summaryOf)

/** Returns the flag of an option of programs, without the leading dashes; `undefined` if it has none. */
export const flagOf = (option: string): string | undefined => {
  const table = { ...storeTable, ...listenTable }
  const entry: unknown = Object.hasOwn(table, option) ? Reflect.get(table, option) : undefined
  return Setting.isFlag(entry) ? entry.flag : undefined
}
