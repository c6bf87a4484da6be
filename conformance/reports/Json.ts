/** Renders and parses a report as JSON: the storage format, from which every other format can be rendered. */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { profiles } from "../clauses/Profile.ts"
import { statuses } from "../engine/Counts.ts"
import { type CheckResult, type Report, type Status, schemaVersion } from "../engine/Report.ts"

/** The text is not a report, or its schema version is not supported. */
export class InvalidReport extends Data.TaggedError("InvalidReport")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

const Level = Schema.Literals(["spec", "design"])

const Strings = Schema.Array(Schema.String)

const CheckResultSchema = Schema.Struct({
  id: Schema.String,
  law: Schema.String,
  section: Schema.String,
  level: Level,
  profile: Schema.Literals(profiles),
  status: Schema.Literals(statuses),
  reason: Schema.optional(Schema.String),
  decided: Count,
  counterexample: Schema.optional(
    Schema.Struct({
      expected: Schema.String,
      actual: Schema.String,
      steps: Schema.Array(
        Schema.Struct({ did: Schema.String, got: Schema.String, curl: Schema.optional(Schema.String) })
      ),
      times: Count,
      token: Schema.optional(Schema.String)
    })
  )
})

/**
 * The schema of a report in JSON; undefined members are absent.
 *
 * @internal
 */
export const ReportSchema = Schema.Struct({
  schemaVersion: Schema.Literal(schemaVersion),
  suite: Schema.Struct({ name: Schema.String, version: Schema.String, laws: Schema.String }),
  contract: Schema.Struct({ name: Schema.String, version: Schema.String }),
  implementation: Schema.optionalKey(
    Schema.Struct({
      name: Schema.String,
      version: Schema.optionalKey(Schema.String),
      contact: Schema.optionalKey(Schema.String)
    })
  ),
  subject: Schema.Struct({
    name: Schema.String,
    kind: Schema.Literals(["port", "http"]),
    capabilities: Strings
  }),
  level: Level,
  seed: Schema.Finite,
  startedAt: Schema.String,
  milliseconds: Schema.Finite,
  waitedMs: Schema.Finite,
  requests: Count,
  counts: Schema.Struct({
    planned: Count,
    decided: Count,
    ...(Object.fromEntries(statuses.map((status) => [status, Count])) as { [S in Status]: typeof Count }) // each status
  }),
  findings: Strings,
  stopped: Strings,
  choices: Strings,
  causes: Schema.Array(Schema.Struct({ check: Schema.String, follows: Strings, more: Count })),
  checks: Schema.Array(CheckResultSchema),
  verdict: Schema.Literals(["conformant", "not-conformant", "inconclusive", "selection-passed", "error"]),
  profiles: Schema.Array(
    Schema.Struct({
      profile: Schema.Literals(profiles),
      planned: Count,
      passed: Count,
      status: Schema.Literals(statuses)
    })
  ),
  limits: Schema.Struct({
    requests: Schema.optionalKey(Count),
    milliseconds: Schema.optionalKey(Count),
    effort: Schema.Finite,
    only: Strings,
    exclude: Strings
  }),
  claims: Schema.Array(Schema.Literals(profiles)),
  exitCode: Schema.Literals([0, 1, 2, 3])
})

const decodeReport = Schema.decodeUnknownResult(ReportSchema)
const decodeVersion = Schema.decodeUnknownResult(Schema.Struct({ schemaVersion: Schema.Unknown }))

/** Renders the report as indented JSON that ends with a line break. */
export const render = (report: Report): string => `${escaped(JSON.stringify(report, null, 2))}\n`

/**
 * Renders the report as JSON in one line, without a line break at its end.
 *
 * @internal
 */
export const line = (report: Report): string => escaped(JSON.stringify(report))

/**
 * Escapes characters and markers that are legal in JSON strings but that others interpret: control characters and bidi
 * overrides (terminals), and command prefixes such as `##vso[` (CI services). The parsed value stays the same.
 *
 * @internal
 */
export const escaped = (json: string): string =>
  json
    .replace(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, unicodeEscapes)
    .replace(/(?<=#)#(?=(?:vso|teamcity)?\[)/gi, unicodeEscapes)

/** Replaces each UTF-16 code unit with a JSON escape. */
const unicodeEscapes = (character: string): string =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("")

/** Parses the output of `render`; ignores unknown fields. */
export const parse = (text: string): Result.Result<Report, InvalidReport> => {
  const invalid = (reason: string) => Result.fail(new InvalidReport({ reason }))
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return invalid("this is not a report: it is not JSON")
  }
  const versioned = decodeVersion(json)
  if (Result.isFailure(versioned)) return invalid("this is not a report: it has no schemaVersion")
  const { schemaVersion: version } = versioned.success
  if (version !== schemaVersion) {
    return invalid(
      `the report has schema version ${JSON.stringify(version)}, but ` +
        `this suite supports version ${schemaVersion}`
    )
  }
  const decoded = decodeReport(json)
  if (Result.isFailure(decoded)) return invalid(`the report is invalid: ${decoded.failure.message}`)
  return Result.succeed({ ...decoded.success, checks: decoded.success.checks.map(withUndefinedMembers) })
}

/** Sets optional members that are missing from the JSON to `undefined`. */
const withUndefinedMembers = (check: typeof CheckResultSchema.Type): CheckResult => ({
  ...check,
  reason: check.reason,
  counterexample: check.counterexample && {
    ...check.counterexample,
    token: check.counterexample.token
  }
})
