import { spawnSync } from "node:child_process"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Report, Status } from "../engine/Report.ts"
import { printable } from "../http/Printable.ts"
import * as JUnit from "./JUnit.ts"
import { report } from "./Report.arbitrary.ts"
import { example } from "./Report.fixture.ts"
import * as Wording from "./Wording.ts"

/** A Python program that parses the documents like a consumer, with a parser that is not ours. */
const reader = `
import json, sys, xml.etree.ElementTree as ET
def read(element):
    return {"tag": element.tag, "attributes": element.attrib, "text": element.text or "", "children": [read(child) for child in element]}
json.dump([read(ET.fromstring(text.encode("utf-8"))) for text in json.load(sys.stdin)], sys.stdout)
`

interface Element {
  readonly tag: string
  readonly attributes: { readonly [name: string]: string }
  readonly text: string
  readonly children: ReadonlyArray<Element>
}

const Element = Schema.Struct({
  tag: Schema.String,
  attributes: Schema.Record(Schema.String, Schema.String),
  text: Schema.String,
  children: Schema.Array(Schema.suspend((): Schema.Codec<Element> => Element))
})

const decodeElements = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(Element)))

const readAll = (documents: ReadonlyArray<string>): ReadonlyArray<Element> => {
  const { status, stderr, stdout } = spawnSync("python3", ["-c", reader], {
    input: JSON.stringify(documents),
    encoding: "utf8",
    maxBuffer: 100_000_000
  })
  if (status !== 0) throw new Error(stderr)
  return decodeElements(stdout)
}

const hasPython = spawnSync("python3", ["-c", "import xml.etree.ElementTree"]).status === 0

const descendants = (element: Element, tag: string): ReadonlyArray<Element> =>
  element.children.flatMap((child) => [...(child.tag === tag ? [child] : []), ...descendants(child, tag)])

/** The elements that a consumer must find in a case, by its status. */
const shape: { readonly [S in Status]: ReadonlyArray<string> } = {
  pass: [],
  fail: ["failure"],
  inconclusive: ["skipped"],
  error: ["error"],
  "not-applicable": ["skipped"],
  excluded: ["skipped"]
}

const expectMatch = (value: Report, root: Element): void => {
  const cases = descendants(root, "testcase").filter(({ attributes }) => attributes.classname !== "run")
  expect(cases.map(({ attributes }) => attributes.name).sort()).toEqual(
    value.checks.map(({ id }) => id).sort()
  )
  for (const check of value.checks) {
    const found = cases.find(({ attributes }) => attributes.name === check.id)
    if (found === undefined) throw new Error(`${check.id} is missing`)
    expect(found.attributes.classname).toBe(check.profile)
    expect(found.children.map(({ tag }) => tag)).toEqual(shape[check.status])
    const [first] = found.children
    if (check.status === "fail") {
      expect(first?.attributes).toEqual({
        message: printable(Wording.summary(check)),
        type: "violation"
      })
      const lines = first?.text.split("\n") ?? []
      for (const step of check.counterexample?.steps ?? []) {
        expect(lines.some((line) => line.endsWith(`. ${Wording.step(step)}`))).toBe(true)
      }
    }
    if (check.status === "inconclusive") expect(first?.attributes.message).toMatch(/^inconclusive: /)
    if (check.status === "error") expect(first?.attributes.type).toBe("suite-error")
  }
  // Each count in the attributes must equal the number of elements.
  for (const element of [root, ...descendants(root, "testsuite")]) {
    const inside = descendants(element, "testcase")
    const countWith = (tag: string) =>
      String(inside.filter((element) => element.children.some((child) => child.tag === tag)).length)
    const { errors, failures, skipped, tests } = element.attributes
    expect({ errors, failures, skipped, tests }).toEqual({
      errors: countWith("error"),
      failures: countWith("failure"),
      skipped: countWith("skipped"),
      tests: String(inside.length)
    })
  }
}

describe("a report as JUnit XML", () => {
  it.skipIf(!hasPython)(
    "is parsed correctly by Python's XML parser, whatever the texts of the report are (needs python3)",
    () => {
      const values = fc.sample(report, 150)
      const roots = readAll(values.map(JUnit.render))
      for (const [index, value] of values.entries()) {
        const root = roots[index]
        if (root === undefined) throw new Error("a document is missing")
        expectMatch(value, root)
      }
    }
  )

  it("contains only characters of XML 1.0, and no markup from the texts of the report", () => {
    fc.assert(
      fc.property(report, (value) => {
        const xml = JUnit.render(value)
        expect(xml).not.toMatch(/[^\n -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u)
        expect(xml.replace(/&(amp|lt|gt|quot);/g, "")).not.toMatch(/&|\]\]>/)
        for (const [tag] of xml.matchAll(/<[^>]*>/g)) {
          expect(tag).toMatch(
            /^<[?/]?(xml|testsuites?|testcase|failure|error|skipped)( [a-z]+="[^"]*")*[?/]?>$/
          )
        }
      })
    )
  })

  it("contains an error if the run as a whole failed", () => {
    const failed: Report = { ...example, verdict: "error", checks: [], findings: ["the key is not accepted"] }
    expect(JUnit.render(failed)).toContain('tests="1" failures="0" errors="1" skipped="0"')
    expect(JUnit.render(failed)).toContain("the key is not accepted</error>")
  })
})
