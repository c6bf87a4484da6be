/**
 * Encodes the id of a check and its failing case as one word. The word contains the whole case, so that a replay does
 * not depend on the generators.
 */
import { deflateSync, inflateSync } from "node:zlib"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import packageJson from "../../package.json" with { type: "json" }
import { SetupError } from "./SetupError.ts"

const Content = Schema.Struct({ version: Schema.String, check: Schema.String, case: Schema.String })
const decodeContent = Schema.decodeUnknownResult(Schema.fromJsonString(Content))

export type ReplayToken = Omit<typeof Content.Type, "version">

const PREFIX = "asc1_"

export const encode = (token: ReplayToken): string =>
  PREFIX + deflateSync(JSON.stringify({ version: packageJson.version, ...token })).toString("base64url")

const MAX_JSON_BYTES = 1_000_000

/** Fails if the text is not a token, or if it is from another version, whose cases may have another meaning. */
export const decode = (text: string): Result.Result<ReplayToken, SetupError> => {
  const fail = (reason: string) => Result.fail(new SetupError({ reason }))
  const content = Result.try(() => {
    const bytes = Buffer.from(text.slice(PREFIX.length), "base64url")
    return inflateSync(bytes, { maxOutputLength: MAX_JSON_BYTES }).toString()
  }).pipe(Result.flatMap(decodeContent))
  if (!text.startsWith(PREFIX) || Result.isFailure(content))
    return fail("this is not a replay token: it must begin with asc1_ and be complete")
  const { version, ...token } = content.success
  return version === packageJson.version
    ? Result.succeed(token)
    : fail(`the token is from version ${version} of the suite, but this is ${packageJson.version}`)
}
