import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Html from "../reports/Html.ts"
import * as Json from "../reports/Json.ts"
import * as JUnit from "../reports/JUnit.ts"
import * as Markdown from "../reports/Markdown.ts"
import { hostile, mapTexts, report } from "../reports/Report.arbitrary.ts"
import * as Terminal from "../reports/Terminal.ts"
import * as Redaction from "../subjects/Redaction.ts"
import * as ReportRedaction from "./ReportRedaction.ts"

/** Secrets in the form of keys, and secrets with characters that an encoding escapes. */
const secret = fc.oneof(
  fc
    .string({ unit: fc.constantFrom(..."0123456789ABCDEFabcdefxyz"), minLength: 20, maxLength: 40 })
    .map((key) => `ast_${key}`),
  fc.string({ unit: fc.constantFrom(..."qQzZ0189+/%&<>'\"\\ |$`"), minLength: 8, maxLength: 30 })
)

const escapes: ReadonlyArray<(key: string) => string> = [
  (key) => key,
  (key) => `Bearer ${key}`,
  (key) => JSON.stringify({ key }),
  (key) => JSON.stringify(JSON.stringify({ key })),
  (key) => encodeURIComponent(key),
  (key) => new URLSearchParams({ key }).toString(),
  (key) => `Basic ${btoa(`${key}:`)}`,
  (key) => `Basic ${btoa(`:${key}`)}`,
  (key) => `Basic ${btoa(`animals:${key}`)}`
]

const places = fc.tuple(fc.constantFrom(...escapes), hostile, hostile)

describe("the report of ReportRedaction.ofReport", () => {
  it("contains no secret in any rendering, no matter where and in which encoding the subject returned it", () => {
    fc.assert(
      fc.property(
        report,
        fc.array(secret, { minLength: 1, maxLength: 3 }),
        fc.array(places, { minLength: 1 }),
        (value, secrets, forms) => {
          let at = 0
          const leaky = mapTexts(value, (text) => {
            const [form, before, after] = forms[at++ % forms.length] ?? [String, "", ""]
            return `${text}${before}${form(secrets[at % secrets.length] ?? "")}${after}`
          })
          const redact = Redaction.make(
            Object.fromEntries(secrets.map((value, index) => [`k${index}`, value]))
          )
          // Laws and clauses come from the suite, not from a subject.
          const clean = {
            ...ReportRedaction.ofReport(leaky, redact),
            clauses: value.clauses,
            checks: ReportRedaction.ofReport(leaky, redact).checks.map((check, index) => ({
              ...check,
              law: value.checks[index]?.law ?? ""
            }))
          }
          for (const { render } of [Json, Terminal, JUnit, Markdown, Html]) {
            const text = render(clean)
            for (const value of secrets) {
              expect(text).not.toContain(value)
              const json = JSON.stringify(value).slice(1, -1)
              expect(text).not.toContain(json)
              expect(text).not.toContain(JSON.stringify(json).slice(1, -1))
              expect(text).not.toContain(encodeURIComponent(value))
              for (const user of ["", ":", "animals:"]) {
                // Only the base64 of whole groups of three bytes, which does not depend on the text that follows.
                const whole = btoa(`${user}${value}`).slice(0, -4)
                expect(text).not.toContain(whole.slice(Math.ceil((user.length * 4) / 3)))
              }
            }
          }
        }
      ),
      { numRuns: 60 }
    )
  })

  it("equals the original report if the original contains no secret", () => {
    fc.assert(
      fc.property(report, (value) => {
        const redact = Redaction.make({
          main: "ast_0f3kQ9zLw2mB7vXc4nRt",
          none: undefined,
          empty: "",
          short: "1"
        })
        expect(ReportRedaction.ofReport(value, redact)).toEqual(value)
      }),
      { numRuns: 30 }
    )
  })
})

describe("the function of Redaction.make", () => {
  const key = "ast_0f3kQ9zLw2mB7vXc4nRt8yHj"
  const redact = Redaction.make({ main: key, tiny: `${key}-tiny`, short: "1" })

  it("replaces the longest key first, with a placeholder that contains the name of the key", () => {
    expect(redact(`a ${key} b ${key}-tiny c`)).toBe("a ‹key:main› b ‹key:tiny› c")
  })

  it("ignores letter case", () => {
    expect(redact(`bearer ${key.toUpperCase()}`)).toBe("bearer ‹key:main›")
  })

  it("replaces a truncated or mistyped key if the remaining part is long", () => {
    expect(redact(`Bearer ${key.slice(0, -1)}`)).toBe("Bearer ‹part of key:main›")
    expect(redact(`Bearer ${key.slice(0, -1)}!`)).toBe("Bearer ‹part of key:main›!")
    expect(redact(`Bearer ${key.slice(0, 8)}`)).toBe(`Bearer ${key.slice(0, 8)}`)
  })

  it("replaces a very short secret only as a credential, such as after `Bearer`", () => {
    expect(redact('Bearer 1 → 401 {"status":401} page 1')).toBe(
      'Bearer ‹key:short› → 401 {"status":401} page 1'
    )
    expect(redact("Bearer 12")).toBe("Bearer 12")
  })

  it("never uses a placeholder that contains a secret", () => {
    const redact = Redaction.make({ hunter22: "secret-one", main: "hunter22", other: "key:main" })
    expect(redact("secret-one hunter22")).toBe("‹key› ‹key›")
  })

  it("returns every text unchanged if there are no secrets", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(Redaction.make({})(text)).toBe(text)
        expect(Redaction.make({ main: "", tiny: undefined })(text)).toBe(text)
      })
    )
  })
})
