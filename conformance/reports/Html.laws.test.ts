import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Html from "./Html.ts"
import { report, withHarmlessTexts } from "./Report.arbitrary.ts"
import { example } from "./Report.fixture.ts"

/** Returns all tags: the texts between angle brackets. */
const tagsOf = (html: string) => html.match(/<[^>]*>/g)

describe("a report as HTML", () => {
  it("has the same tags and attributes whatever the texts of the report are", () => {
    fc.assert(
      fc.property(report, (value) => {
        expect(tagsOf(Html.render(value))).toEqual(tagsOf(Html.render(withHarmlessTexts(value))))
      })
    )
  })

  it("contains no character that a browser hides, and no unescaped `&`", () => {
    fc.assert(
      fc.property(report, (value) => {
        for (const line of Html.render(value).split("\n")) {
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
          expect(
            line.replace(/&(amp|lt|gt|quot);/g, "").replace(/^.*content="default-src.*$/, "")
          ).not.toContain("&")
        }
      })
    )
  })

  it("closes every element", () => {
    fc.assert(
      fc.property(report, (value) => {
        const open: Array<string> = []
        for (const tag of tagsOf(Html.render(value)) ?? []) {
          const [, slash, name = ""] = /^<(\/?)([a-z0-9]+)/i.exec(tag) ?? []
          if (tag.startsWith("<!") || ["meta", "input"].includes(name)) continue
          if (slash === "/") expect(open.pop()).toBe(name)
          else open.push(name)
        }
        expect(open).toEqual([])
      })
    )
  })

  it("loads no resources and runs no scripts", () => {
    const html = Html.render(example)
    expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`)
    expect(html).not.toMatch(/<(script|link|img|iframe|object|form|base)\b|url\(|@import|\son[a-z]+=/i)
  })

  it("has one top-level heading, a caption for each table, and table headers with a scope", () => {
    const html = Html.render(example)
    expect(html.match(/<h1>/g)).toHaveLength(1)
    expect(html.match(/<caption>/g)).toHaveLength(html.match(/<table>/g)?.length ?? 0)
    expect(html).not.toMatch(/<th>/)
    expect(html).toMatch(/<html lang="en">/)
  })

  it("has a contrast of at least 4.5 : 1 in the light and the dark color scheme", () => {
    const [light = "", dark = ""] = [...Html.render(example).matchAll(/:root\{([^}]*)\}/g)].map(
      ([, rules]) => rules
    )
    for (const rules of [light, dark]) {
      const color = Object.fromEntries(rules.split(/[;\s]+/).map((rule) => rule.split(":")))
      for (const text of ["--ink", "--good", "--bad", "--care"]) {
        expect([text, contrast(color[text], color["--page"]) >= 4.5]).toEqual([text, true])
      }
    }
  })
})

/** Returns the relative luminance of a color, as WCAG 2 defines it. */
const luminance = (hex: string): number => {
  const digits = hex.length === 4 ? hex.replace(/[^#]/g, "$&$&") : hex
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(digits.slice(at, at + 2), 16) / 255
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const contrast = (foreground = "", background = ""): number => {
  const [low = 0, high = 0] = [luminance(foreground), luminance(background)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}
