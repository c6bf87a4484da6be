/** Renders and parses a report as JSON: the storage format, from which every other format can be rendered. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Report, schemaVersion } from "../engine/Report.ts"
import { SetupError } from "../engine/SetupError.ts"

const decodeReport = Schema.decodeUnknownResult(Schema.fromJsonString(Report))

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

/** Parses the output of `render`; ignores unknown fields. Fails if the text is no report of this schema version. */
export const parse = (text: string): Result.Result<Report, SetupError> =>
  Result.mapError(
    decodeReport(text),
    ({ message }) =>
      new SetupError({ reason: `this is not a report of schema version ${schemaVersion}: ${message}` })
  )
