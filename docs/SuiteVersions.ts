/**
 * Freezes versions of the suite: `npm run generate` stores the clauses as the unreleased version of
 * `conformance/clauses/Versions.ts`, and writes the changelog; `npm run suite:release -- 2026-12-01` releases it.
 */
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import type { Clause } from "../conformance/clauses/Clause.ts"
import { clauses } from "../conformance/clauses/Clauses.ts"
import * as Versions from "../conformance/clauses/Versions.ts"
import { catalogue } from "../core/errors/ErrorCatalogue.ts"

const directory = new URL("../conformance/clauses/versions/", import.meta.url)

const listFile = new URL("versions.json", directory)

export const path = new URL("conformance/changelog.md", import.meta.url)

export interface Version {
  readonly version: string
  /** The day of the release; `null` while the version may still change. */
  readonly released: string | null
  /** What changed and why. */
  readonly says: string
  /** The SHA-256 of the frozen lines, in hexadecimal. */
  readonly hash: string
}

/**
 * One line for each clause and error code: kind and id; for codes their status; for clauses their level, where they can
 * be observed, and the first 16 digits of the SHA-256 of the sentence.
 */
export type Frozen = ReadonlyArray<string>

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** Returns the first 16 digits of the SHA-256 of a sentence. */
export const digits = (sentence: string): string => sha256(sentence).slice(0, 16)

type Sentence = Pick<Clause, "slug" | "says" | "level" | "observable">

/** Returns the sorted lines of the given clauses and error codes. */
export const freeze = (
  sentences: ReadonlyArray<Sentence>,
  errors: { readonly [code: string]: { readonly status: number } } = {}
): Frozen =>
  [
    ...sentences.map(
      ({ level, observable, says, slug }) => `clause ${slug} ${level} ${observable} ${digits(says)}`
    ),
    ...Object.entries(errors).map(([code, { status }]) => `code ${code} ${status}`)
  ].toSorted()

/** The lines of the current clauses and error codes; the clause `errors.codes` requires these codes. */
export const current = freeze(clauses, catalogue)

export const hashOf = (frozen: Frozen): string => sha256(frozen.join("\n"))

/** Reads all versions, the oldest first. */
export const readVersions = (): ReadonlyArray<Version> => JSON.parse(readFileSync(listFile, "utf8"))

const frozenFile = (version: string): URL => new URL(`${version}.txt`, directory)

/** Reads the lines of a version; returns an empty list if the version was never frozen. */
export const readFrozen = (version: string): Frozen =>
  existsSync(frozenFile(version)) ? readFileSync(frozenFile(version), "utf8").split("\n").filter(Boolean) : []

export interface Changes {
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
  /** Clauses whose sentence, level or place changed, and codes whose status changed. */
  readonly changed: ReadonlyArray<string>
}

/** Compares two versions; each difference is a kind and an id, such as "clause list.order". */
export const changes = (before: Frozen, after: Frozen): Changes => {
  const byName = (frozen: Frozen) =>
    new Map(frozen.map((line) => [line.split(" ").slice(0, 2).join(" "), line] as const))
  const [oldLines, newLines] = [byName(before), byName(after)]
  return {
    added: [...newLines.keys()].filter((name) => !oldLines.has(name)),
    removed: [...oldLines.keys()].filter((name) => !newLines.has(name)),
    changed: [...newLines].flatMap(([name, line]) =>
      oldLines.has(name) && oldLines.get(name) !== line ? [name] : []
    )
  }
}

const numbers = (version: string): ReadonlyArray<number> => version.split(".").map(Number)

/** Whether a version number is high enough: added or removed ids need a new minor or major number. */
const isHighEnough = (before: string, after: string, { added, removed }: Changes): boolean => {
  const [oldMajor = 0, oldMinor = 0, oldPatch = 0] = numbers(before)
  const [major = 0, minor = 0, patch = 0] = numbers(after)
  if (major !== oldMajor) return major > oldMajor
  if (minor !== oldMinor) return minor > oldMinor
  return patch > oldPatch && added.length === 0 && removed.length === 0
}

/** Freezes lines as `version`, and returns all versions, or the reason why these lines cannot be frozen. */
export const freezeAs = (
  versions: ReadonlyArray<Version>,
  version: string,
  lines: Frozen,
  linesOf: (version: string) => Frozen
): ReadonlyArray<Version> | string => {
  const last = versions.at(-1)
  const hash = hashOf(lines)
  if (last?.version === version) {
    if (last.released === null) return [...versions.slice(0, -1), { ...last, hash }]
    if (last.hash === hash) return versions
    return `version ${version} was released on ${last.released} and must not change: set the next version in conformance/clauses/Versions.ts`
  }
  if (last !== undefined && last.released === null) return `version ${last.version} is not released yet`
  if (last !== undefined && !isHighEnough(last.version, version, changes(linesOf(last.version), lines))) {
    return `version ${version} is too low after ${last.version}: new or removed ids need a new minor number`
  }
  return [...versions, { version, released: null, says: "", hash }]
}

const section = (
  { hash, released, says, version }: Version,
  before: Frozen | undefined,
  after: Frozen
): ReadonlyArray<string> => {
  const count = (kind: string) => after.filter((entry) => entry.startsWith(`${kind} `)).length
  const { added, changed, removed } = changes(before ?? [], after)
  const listItem = (heading: string, names: ReadonlyArray<string>) =>
    names.length === 0
      ? []
      : [`- ${heading}: ${names.map((name) => name.replace(/ (.*)/, " `$1`")).join(", ")}`]
  return [
    `## ${version} (${released ?? "unreleased"})`,
    "",
    `${count("clause")} clauses; SHA-256 \`${hash}\`.`,
    "",
    ...(says === "" ? [] : [`- ${says}`]),
    ...(before === undefined
      ? []
      : [...listItem("Added", added), ...listItem("Removed", removed), ...listItem("Changed", changed)]),
    ""
  ]
}

/** Renders the changelog, the newest version first. */
export const render = (
  versions = readVersions(),
  linesOf: (version: string) => Frozen = readFrozen
): string => {
  const sections = versions.map((version, index) => {
    const previous = versions[index - 1]
    return section(version, previous && linesOf(previous.version), linesOf(version.version))
  })
  return [
    "# Versions of the suite",
    "",
    "Reports with the same version of the suite have the same requirements: a release freezes the ids, sentences and levels of all",
    "clauses ([these words](../conformance.md#words)). A new or removed id needs a new minor number, a changed sentence a new patch",
    "number. The version of the suite is independent of the version of the package.",
    "",
    "`npm run generate` freezes the unreleased version again after a change, and",
    "`npm run suite:release -- YYYY-MM-DD` releases it; the next change then needs the next number in",
    "`conformance/clauses/Versions.ts`.",
    "",
    ...sections.toReversed().flat(),
    "<!-- generated by docs/SuiteVersions.ts -->",
    ""
  ].join("\n")
}

/** The versions with the current clauses and codes as the last one; throws if they cannot be frozen as it. */
const frozenVersions = (): ReadonlyArray<Version> => {
  const versions = freezeAs(readVersions(), Versions.suite, current, readFrozen)
  if (typeof versions === "string") throw new Error(versions)
  return versions
}

const listOf = (versions: ReadonlyArray<Version>): string => `${JSON.stringify(versions, null, 2)}\n`

const pageOf = (versions: ReadonlyArray<Version>): string =>
  render(versions, (version) => (version === Versions.suite ? current : readFrozen(version)))

/** The generators of the files that freeze the unreleased version. */
export const generators = [
  { path: frozenFile(Versions.suite), render: () => `${current.join("\n")}\n` },
  { path: listFile, render: () => listOf(frozenVersions()) },
  { path, render: () => pageOf(frozenVersions()) }
]

/** Releases the last version on a day. */
const release = (day: string): void => {
  const versions = frozenVersions().map((version, index, { length }) =>
    index === length - 1 ? { ...version, released: version.released ?? day } : version
  )
  writeFileSync(listFile, listOf(versions))
  writeFileSync(path, pageOf(versions))
}

if (import.meta.main) {
  const [day = ""] = process.argv.slice(2)
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) throw new Error("usage: npm run suite:release -- YYYY-MM-DD")
  release(day)
}
