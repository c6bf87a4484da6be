/** Generates `api.md`, a report of the package's public API, from the built declarations. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import ts from "typescript"

const root = new URL("../", import.meta.url)
const dist = fileURLToPath(new URL("dist/", root))

export const path = new URL("api.md", import.meta.url)

/** An entry point of `package.json`: its specifier and its declaration file. */
interface EntryPoint {
  readonly specifier: string
  readonly file: string
}

/** A public symbol and the name by which programs reach it, such as `RateLimit.step`. */
interface Export {
  readonly name: string
  readonly symbol: ts.Symbol
}

const entryPoints = (): ReadonlyArray<EntryPoint> => {
  const manifest: { name: string; exports: Record<string, string | { types: string }> } = JSON.parse(
    readFileSync(new URL("package.json", root), "utf8")
  )
  return Object.entries(manifest.exports).flatMap(([subpath, target]) =>
    typeof target === "string"
      ? []
      : [{ specifier: manifest.name + subpath.slice(1), file: fileURLToPath(new URL(target.types, root)) }]
  )
}

const options: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  types: ["node"],
  noEmit: true,
  allowImportingTsExtensions: true
}

const isOurs = (node: ts.Node): boolean => node.getSourceFile().fileName.startsWith(dist)

/** Returns the statement that the report contains for a declaration. */
const statementOf = (declaration: ts.Declaration): ts.Node =>
  ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration

/** Whether a declaration is at the top level of a module, so that programs reach it only if it is exported. */
const isTopLevel = (declaration: ts.Declaration): boolean =>
  !ts.isSourceFile(declaration) && ts.isSourceFile(statementOf(declaration).parent)

/**
 * Whether the compiler can copy a type into declarations of other programs instead of naming it: an alias, or the base
 * class that it declares for `class X extends make(…)`. The report contains such a type before the export that uses it,
 * unless the type is also exported.
 */
const isSpelledOut = (declaration: ts.Declaration): boolean =>
  ts.isTypeAliasDeclaration(declaration) || ts.isVariableDeclaration(declaration)

/** Whether an export is a function or a variable: other programs infer its type. */
const isValue = ({ flags }: ts.Symbol): boolean =>
  (flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Variable)) !== 0

const printer = ts.createPrinter({ removeComments: true })

const printStatement = (statement: ts.Node): string =>
  printer
    .printNode(ts.EmitHint.Unspecified, statement, statement.getSourceFile())
    .replace(/^(export )?(declare )?/, "")

const namespaceOf = (name: string): string => name.slice(0, name.lastIndexOf(".") + 1)

/**
 * Renders the report from the built declarations. Throws if they are missing or have type errors, or if an exported
 * signature uses a type that programs cannot name.
 */
export const render = (): string => {
  const entries = entryPoints()
  const program = ts.createProgram({ rootNames: entries.map(({ file }) => file), options })
  const checker = program.getTypeChecker()
  for (const file of program.getSourceFiles().filter(isOurs)) {
    for (const { messageText } of program.getSemanticDiagnostics(file)) {
      throw new Error(`${file.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`)
    }
  }

  const resolve = (symbol: ts.Symbol): ts.Symbol =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol

  /** Returns the exports of a module, sorted by name; exports of a namespace are prefixed with its name. */
  const exportsOf = (module: ts.Symbol, prefix = ""): ReadonlyArray<Export> =>
    checker
      .getExportsOfModule(module)
      .map((symbol) => ({ name: prefix + symbol.name, symbol: resolve(symbol) }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) =>
        entry.symbol.flags & ts.SymbolFlags.ValueModule ? exportsOf(entry.symbol, `${entry.name}.`) : [entry]
      )

  const exportsOfFile = (file: string): ReadonlyArray<Export> => {
    const source = program.getSourceFile(file)
    const symbol = source && checker.getSymbolAtLocation(source)
    if (symbol === undefined) throw new Error(`${file} is missing: build the package first`)
    return exportsOf(symbol)
  }

  const sections = entries.map(({ file, specifier }) => ({ specifier, exports: exportsOfFile(file) }))
  const exported = new Set(sections.flatMap(({ exports }) => exports.map(({ symbol }) => symbol)))
  const exportedStatements = new Set(
    [...exported].flatMap(({ declarations = [] }) => declarations.map(statementOf))
  )

  /**
   * Returns the symbols to which the type of an export may refer. The compiler writes the type of a value into
   * declarations of other programs, and finds names for its parts only among the exports of the same entry point, or
   * in the namespace that was imported.
   */
  const nameable = ({ name, symbol }: Export, exports: ReadonlyArray<Export>): ReadonlySet<ts.Symbol> => {
    if (!isValue(symbol)) return exported
    const reachable = exports.filter((entry) => ["", namespaceOf(name)].includes(namespaceOf(entry.name)))
    return new Set(reachable.map((entry) => entry.symbol))
  }

  const unnamed = new Set<string>()

  /** Renders the declarations of an export, and of the unexported types that it contains. */
  const codeOf = (
    specifier: string,
    entry: Export,
    exports: ReadonlyArray<Export>
  ): ReadonlyArray<string> => {
    const names = nameable(entry, exports)
    const statements = new Set<ts.Node>()
    const visit = (node: ts.Node): void => {
      ts.forEachChild(node, visit)
      const used = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined
      if (used !== undefined) refer(resolve(used))
    }
    const refer = (target: ts.Symbol): void => {
      const declaration = target.declarations?.[0]
      if (declaration === undefined || !isTopLevel(declaration) || !isOurs(declaration)) return
      if (names.has(target)) return
      if (isSpelledOut(declaration)) add(target)
      else unnamed.add(`${target.name}, used by ${entry.name} of ${specifier}`)
    }
    const add = (symbol: ts.Symbol): void => {
      for (const statement of (symbol.declarations ?? []).map(statementOf)) {
        if (statements.has(statement)) continue
        statements.add(statement)
        visit(statement)
      }
    }
    add(entry.symbol)
    const ownStatements = new Set(entry.symbol.declarations?.map(statementOf))
    const isRenderedHere = (statement: ts.Node) =>
      ownStatements.has(statement) || !exportedStatements.has(statement)
    return [...statements].filter(isRenderedHere).toReversed().map(printStatement)
  }

  const reported = new Map<ts.Symbol, string>()
  const lines = sections.flatMap(({ exports, specifier }) => [
    `## \`${specifier}\``,
    "",
    ...exports.flatMap((entry) => {
      const code = codeOf(specifier, entry, exports)
      const previous = reported.get(entry.symbol)
      reported.set(entry.symbol, previous ?? `\`${entry.name}\` of \`${specifier}\``)
      return [
        `### ${entry.name}`,
        "",
        ...(previous ? [`The same as ${previous}.`] : ["```ts", ...code, "```"]),
        ""
      ]
    })
  ])
  if (unnamed.size > 0)
    throw new Error(`no entry point exports a name for ${[...unnamed].toSorted().join("; ")}`)
  return [
    "# Public API",
    "",
    "Every export of the package, by entry point. A change to this page is a change that users see.",
    "",
    ...lines,
    "<!-- generated by docs/ApiReport.ts -->",
    ""
  ].join("\n")
}
