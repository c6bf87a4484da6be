import { describe, expect, it } from "vitest"
import type { Clause } from "./Clause.ts"
import { bySlug, clauses } from "./Clauses.ts"

const all: ReadonlyArray<Clause> = clauses

/** The sections of the contract with obligations; §6 and §9.4 only list what the contract does not define. */
const normativeSections = [
  "§1",
  "§2",
  "§3",
  "§4",
  "§4.1",
  "§4.2",
  "§4.3",
  "§5.1",
  "§5.2",
  "§5.3",
  "§7",
  "§8.1",
  "§8.2",
  "§8.3",
  "§8.4.1",
  "§8.4.2",
  "§8.4.3",
  "§8.4.4",
  "§9.1",
  "§9.2",
  "§9.3"
]

/** The sections that leave points open of which a run can decide our choice; §6 and §9.4 have none. */
const sectionsWithOpenPoints = ["§2", "§3", "§4", "§4.1", "§4.2", "§4.3", "§4.4", "§5.4", "§7", "§8", "§8.2"]

const sectionsOf = (level: Clause["level"]): ReadonlySet<string> =>
  new Set(all.filter((clause) => clause.level === level).map((clause) => clause.section))

const slugsWhere = (isWrong: (clause: Clause) => boolean): ReadonlyArray<string> =>
  all.filter(isWrong).map((clause) => clause.slug)

describe("clauses", () => {
  it("have unique slugs", () => {
    expect(slugsWhere(({ slug }) => all.filter((clause) => clause.slug === slug).length > 1)).toEqual([])
  })

  it("have slugs of two to four lower-case words, separated by dots", () => {
    const word = "[a-z0-9]+(?:-[a-z0-9]+)*"
    const wellFormed = new RegExp(`^[a-z]+(?:-[a-z]+)*(?:\\.${word}){1,3}$`)
    expect(slugsWhere(({ slug }) => !wellFormed.test(slug))).toEqual([])
  })

  it("have one sentence each", () => {
    const oneSentence = /^[A-Z0-9`](?:(?![.!?]\s+[A-Z`]).)*[^.\s]\.$/
    expect(slugsWhere(({ says }) => !oneSentence.test(says))).toEqual([])
  })

  it("have different sentences within a family", () => {
    const sentences = all.map(({ says, slug }) => `${slug.slice(0, slug.indexOf("."))}: ${says}`)
    expect(sentences.filter((sentence, index) => sentences.indexOf(sentence) !== index)).toEqual([])
  })

  it("state in a sentence why no check covers them, which only a sentence of the contract needs", () => {
    const isSentence = /^[A-Z].*[^.\s]\.$/
    expect(slugsWhere(({ level, unchecked }) => unchecked !== undefined && level !== "spec")).toEqual([])
    expect(slugsWhere(({ unchecked }) => unchecked !== undefined && !isSentence.test(unchecked))).toEqual([])
  })

  it("with level spec cover exactly the sections of the contract with obligations", () => {
    expect(normativeSections.filter((section) => !sectionsOf("spec").has(section))).toEqual([])
    expect([...sectionsOf("spec")].filter((section) => !normativeSections.includes(section))).toEqual([])
  })

  it("with level design cover every section with open points, and only sections of the contract", () => {
    const known = [...normativeSections, ...sectionsWithOpenPoints]
    expect(sectionsWithOpenPoints.filter((section) => !sectionsOf("design").has(section))).toEqual([])
    expect([...sectionsOf("design")].filter((section) => !known.includes(section))).toEqual([])
  })

  it("about ports have level design, and their violations are observable at a port", () => {
    const ofPort = /^(?:pets|limits-store|keys-store)\./
    expect(slugsWhere(({ level, observable }) => observable === "port" && level !== "design")).toEqual([])
    expect(slugsWhere(({ observable, slug }) => ofPort.test(slug) && observable !== "port")).toEqual([])
  })

  it("are grouped by family", () => {
    const families = all.map(({ slug }) => slug.slice(0, slug.indexOf(".")))
    const groups = families.filter((family, index) => family !== families[index - 1])
    expect(groups).toEqual([...new Set(families)])
  })

  it("are found by their slugs", () => {
    expect(all.map(({ slug }) => bySlug.get(slug))).toEqual(all)
    expect(bySlug.size).toBe(all.length)
  })

  it("are not found by an unknown slug, such as toString", () => {
    expect(bySlug.get("toString")).toBeUndefined()
  })
})
