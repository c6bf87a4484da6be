/**
 * Encodes the id of a check and its failing case as one word. For a server, the word contains the whole case, so that a
 * replay does not depend on the generators; for ports, it contains what draws the case again.
 */
import { deflateSync, inflateSync } from "node:zlib"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import packageJson from "../../package.json" with { type: "json" }

const Content = Schema.Struct({ version: Schema.String, check: Schema.String, case: Schema.String })
const decodeContent = Schema.decodeUnknownResult(Schema.fromJsonString(Content))

export type ReplayToken = Omit<typeof Content.Type, "version">

/** The text is not a token, or it is from another version of the suite, whose cases may have another meaning. */
export class InvalidToken extends Data.TaggedError("InvalidToken")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

const PREFIX = "asc1_"

export const encode = (token: ReplayToken): string =>
  PREFIX + deflateSync(JSON.stringify({ version: packageJson.version, ...token })).toString("base64url")

const MAX_JSON_BYTES = 1_000_000

export const decode = (text: string): Result.Result<ReplayToken, InvalidToken> => {
  const invalidToken = new InvalidToken({
    reason: "this is not a replay token: it must begin with asc1_ and be complete"
  })
  if (!text.startsWith(PREFIX)) return Result.fail(invalidToken)
  let json: string
  try {
    json = inflateSync(Buffer.from(text.slice(PREFIX.length), "base64url"), {
      maxOutputLength: MAX_JSON_BYTES
    }).toString()
  } catch {
    return Result.fail(invalidToken)
  }
  const content = decodeContent(json)
  if (Result.isFailure(content)) return Result.fail(invalidToken)
  const { version, ...token } = content.success
  return version === packageJson.version
    ? Result.succeed(token)
    : Result.fail(
        new InvalidToken({
          reason: `the token is from version ${version} of the suite, but this is ${packageJson.version}`
        })
      )
}
