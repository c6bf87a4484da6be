import { describe, expect, it } from "vitest"
import type { Clause } from "./Clause.ts"
import { bySlug, clauses } from "./Clauses.ts"

const all: ReadonlyArray<Clause> = clauses

/** The sections of the contract that oblige anybody; §6 and §9.4 only tell what is not shown. */
const normative = [
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

/** The sections with gaps that we fill. */
const open = ["§2", "§3", "§4", "§4.1", "§4.2", "§4.3", "§4.4", "§5.4", "§6", "§7", "§8", "§8.2", "§9.4"]

const sectionsOf = (level: Clause["level"]): ReadonlySet<string> =>
  new Set(all.filter((clause) => clause.level === level).map((clause) => clause.section))

const slugsWhere = (isOdd: (clause: Clause) => boolean): ReadonlyArray<string> =>
  all.filter(isOdd).map((clause) => clause.slug)

describe("the clauses", () => {
  it("have a slug each, and none is given twice", () => {
    expect(slugsWhere(({ slug }) => all.filter((clause) => clause.slug === slug).length > 1)).toEqual([])
  })

  it("have slugs of two to four dotted lower-case words", () => {
    const word = "[a-z0-9]+(?:-[a-z0-9]+)*"
    const wellFormed = new RegExp(`^[a-z]+(?:-[a-z]+)*(?:\\.${word}){1,3}$`)
    expect(slugsWhere(({ slug }) => !wellFormed.test(slug))).toEqual([])
  })

  it("are told in one sentence each, and no two in the same for one subject", () => {
    const oneSentence = /^[A-Z0-9`](?:(?![.!?]\s+[A-Z`]).)*[^.\s]\.$/
    expect(slugsWhere(({ says }) => !oneSentence.test(says))).toEqual([])
    const told = all.map(({ says, slug }) => `${slug.slice(0, slug.indexOf("."))}: ${says}`)
    expect(told.filter((one, index) => told.indexOf(one) !== index)).toEqual([])
  })

  it("say in one sentence why nothing covers them, where no one can see a breach", () => {
    expect(slugsWhere((clause) => clause.observable === "not" && clause.unchecked === undefined)).toEqual([])
    expect(
      slugsWhere(({ unchecked }) => unchecked !== undefined && !/^[A-Z].*[^.\s]\.$/.test(unchecked))
    ).toEqual([])
  })

  it("cover every section of the contract that obliges anybody", () => {
    expect(normative.filter((section) => !sectionsOf("spec").has(section))).toEqual([])
    expect([...sectionsOf("spec")].filter((section) => !normative.includes(section))).toEqual([])
  })

  it("cover every section whose gap we fill, and all name a section that the contract has", () => {
    const known = [...normative, ...open]
    expect(open.filter((section) => !sectionsOf("design").has(section))).toEqual([])
    expect([...sectionsOf("design")].filter((section) => !known.includes(section))).toEqual([])
  })

  it("demand of ports only what we decided", () => {
    const ofPort = /^(?:pets|limits-store|keys-store)\./
    expect(slugsWhere(({ level, observable }) => observable === "port" && level !== "design")).toEqual([])
    expect(slugsWhere(({ observable, slug }) => ofPort.test(slug) && observable !== "port")).toEqual([])
  })

  it("stand together by subject", () => {
    const subjects = all.map(({ slug }) => slug.slice(0, slug.indexOf(".")))
    const runs = subjects.filter((subject, index) => subject !== subjects[index - 1])
    expect(runs).toEqual([...new Set(subjects)])
  })

  it("are found by their slugs and by nothing else", () => {
    expect(all.map(({ slug }) => bySlug.get(slug))).toEqual(all)
    expect(bySlug.size).toBe(all.length)
    expect(bySlug.get("toString")).toBeUndefined()
  })
})
