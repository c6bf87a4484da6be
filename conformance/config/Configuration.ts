/** Parses the configuration file of a run over HTTP. Flags of the command line take precedence over it. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Int64 from "../../core/domain/Int64.ts"
import { SetupError } from "../engine/SetupError.ts"

const Text = Schema.String.check(Schema.isMinLength(1))

/** Defines a member of the file; its description is also that of its flag. */
const member = <S extends Schema.Top>(description: string, schema: S) =>
  Schema.optionalKey(schema.annotate({ description }))

const Count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000_000 }))

const SmallKey = Schema.Struct({ key: Text, perMinute: Count, perDay: Count })
export type SmallKey = typeof SmallKey.Type

/** An int64 as text. */
export const Integer = Schema.String.check(
  Schema.makeFilter((text) => Int64.fromCanonicalText(text) !== undefined, { message: Int64.message })
)

const Category = Schema.Union([Schema.Int, Integer])

/** Maximum length of each text in UTF-16 code units, so that a badge and a table can show it. */
const MAX_LENGTH = 100

/** A text that reports show. */
export const Label = Text.check(
  Schema.isMaxLength(MAX_LENGTH, { message: `must have at most ${MAX_LENGTH} characters` })
)

/** An email address or an `https` URL without credentials: pages show it as a link. */
export const Contact = Label.check(
  Schema.makeFilter(
    (text) => {
      if (/^[^\s@<>"'`:]+@[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(text)) return true
      const url = /^https:\/\/[\x21-\x7e]+$/.test(text) ? URL.parse(text) : null
      return url?.username === "" && url.password === ""
    },
    { message: "must be an email address, or a URL that begins with https:// and has no credentials" }
  )
)

export const Implementation = Schema.Struct({
  name: Label.annotate({ description: "Name of the software under test, such as acme-pets." }),
  version: member("Version of the implementation.", Label),
  contact: member("Home page (https://…) or email address for questions about the implementation.", Contact)
})

export const Keys = Schema.Struct({
  main: member(
    "API key with limits high enough for the run; env:NAME reads an environment variable, as for each key.",
    Text
  ),
  tiny: member(
    "Key with low limits that the run may exhaust, such as 5 per minute and 40 per day with a clock, 500 without.",
    SmallKey
  ),
  victim: member("Key that the run may cause to be banned.", SmallKey),
  revoked: member("Revoked key.", Text),
  expired: member("Expired key.", Text)
})

export const Declared = Schema.Struct({
  categories: member(
    "Values of categoryId that the server accepts, if it does not accept every int64; in a file large ones as text.",
    Schema.Array(Category).check(Schema.isMinLength(1))
  ),
  bans: member("Whether the server bans keys that ignore a 429.", Schema.Boolean)
})

const Patterns = Schema.Array(Text)

/**
 * The content of the file. Every member is optional, because flags can replace it; a check that needs a missing key or
 * clock is inconclusive.
 */
export const Configuration = Schema.Struct({
  $schema: Schema.optionalKey(Schema.String),
  name: member("Label of this server in reports, such as staging.", Text),
  implementation: Schema.optionalKey(Implementation),
  url: member("Base URL of the server, such as http://127.0.0.1:3000/v1.", Text),
  keys: Schema.optionalKey(Keys),
  clock: member("URL of the server's test clock, if it has one, such as http://127.0.0.1:3001/clock.", Text),
  level: member(
    "spec checks the contract; design also checks this project's decisions where the contract is silent. Default: spec.",
    Schema.Literals(["spec", "design"])
  ),
  declared: Schema.optionalKey(Declared),
  budget: member(
    "Maximum number of requests and seconds.",
    Schema.Struct({ requests: Schema.optionalKey(Count), seconds: Schema.optionalKey(Count) })
  ),
  only: member("Run only these checks, given by id, pattern (list.*) or profile.", Patterns),
  exclude: member("Skip these checks; the server is then not reported as conformant.", Patterns),
  iOwnThisServer: member("Allow a server that is not on this machine.", Schema.Boolean)
}).annotate({ identifier: "ConformanceConfiguration" })

export type Configuration = typeof Configuration.Type

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Configuration))

/** Parses a configuration file. Rejects unknown members, because they would have no effect. */
export const parse = (text: string): Effect.Effect<Configuration, SetupError> =>
  Effect.mapError(
    decode(text, { onExcessProperty: "error" }),
    ({ message }) =>
      new SetupError({ reason: `the configuration file is wrong: ${message.replaceAll(/\s+/g, " ")}` })
  )
