import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Bars from "./Bars.ts"

/** Returns the texts of XML that consists of elements and text; throws if the XML is not well-formed. */
const textsOf = (xml: string): ReadonlyArray<string> => {
  const openTags: Array<string> = []
  const texts: Array<string> = []
  const tokens =
    /<\/(\w+)>|<(\w+)((?:\s+[\w-]+(?::\w+)?="[^"<&]*")*)\s*(\/?)>|((?:[^<>&]|&(?:amp|lt|gt|quot);)+)/gy
  while (tokens.lastIndex < xml.length) {
    const at = tokens.lastIndex
    const match = tokens.exec(xml)
    if (match === null) throw new Error(`not well-formed at ${at}: ${xml.slice(at, at + 80)}`)
    const [, closed, opened, , isEmpty, text] = match
    if (closed !== undefined && openTags.pop() !== closed) throw new Error(`</${closed}> has no start tag`)
    if (opened !== undefined && isEmpty === "") openTags.push(opened)
    if (text !== undefined && text.trim() !== "") texts.push(text)
  }
  if (openTags.length > 0) throw new Error(`<${openTags.join(">, <")}> have no end tag`)
  return texts
}

const unescaped = (text: string): string =>
  text.replaceAll("&quot;", '"').replaceAll("&gt;", ">").replaceAll("&lt;", "<").replaceAll("&amp;", "&")

const label = fc
  .array(fc.constantFrom("<", ">", "&", '"', "'", "a", "&amp;", "</text>"), { minLength: 1 })
  .map((parts) => parts.join(""))

const bar = (value: number, second: number, text = ""): Bars.Bar => ({
  first: { median: value, low: value / 2, high: value * 2 },
  second,
  text
})
const drawn = (...bars: ReadonlyArray<Bars.Bar>) =>
  Bars.draw({
    title: "",
    note: "",
    columns: ["get"],
    groups: [{ name: "", rows: bars.map((bar) => ({ label: "", isOurs: false, bars: [bar] })) }]
  })

describe("Bars.draw", () => {
  it("draws well-formed bars that show every label and text unchanged", () => {
    fc.assert(
      fc.property(label, label, fc.double({ min: 0, max: 1e9, noNaN: true }), (title, name, value) => {
        const row = { label: name, isOurs: true, bars: [undefined, bar(value, value, `<${name}>`)] }
        const columns = ["&", name]
        const texts = textsOf(
          Bars.draw({ title, note: name, columns, groups: [{ name: title, rows: [row] }] })
        )
        expect(texts.map(unescaped)).toEqual([title, title, name, title, "&", name, name, `<${name}>`])
      })
    )
  })

  it("draws both parts of a bar in proportion to their values", () => {
    const [first = 0, second = 0, half] = [
      ...drawn(bar(20, 10), bar(10, 0)).matchAll(/<rect [^>]*width="([\d.]+)"/g)
    ].map(([, width]) => Number(width))
    expect(first).toBeGreaterThan(100)
    expect(second).toBeCloseTo(first / 2)
    expect(half).toBeCloseTo(first / 2)
  })
})
