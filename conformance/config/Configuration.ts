/** Parses the configuration file of a run over HTTP. Flags of the command line take precedence over it. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Int64 from "../../core/domain/Int64.ts"
import { SetupError } from "../engine/SetupError.ts"

const Text = Schema.String.check(Schema.isMinLength(1))

const optional = Schema.optionalKey

const Secret = Text.annotate({
  description: "An API key, or env:NAME for the value of an environment variable."
})

const Count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000_000 }))

const SmallKey = Schema.Struct({ key: Secret, perMinute: Count, perDay: Count })
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
).annotate({ description: "A URL that begins with https://, or an email address." })

export const Implementation = Schema.Struct({
  name: Label,
  version: optional(Label),
  contact: optional(Contact)
}).annotate({ description: "The implementation under test, for the report." })

const Keys = Schema.Struct({
  main: optional(Secret),
  tiny: optional(SmallKey.annotate({ description: "A key on a small plan that the run may use up." })),
  victim: optional(SmallKey.annotate({ description: "A key that may be banned during the run." })),
  revoked: optional(Secret),
  expired: optional(Secret)
})

const Declared = Schema.Struct({
  categories: optional(
    Schema.Array(Category).check(Schema.isMinLength(1)).annotate({
      description:
        "The values of categoryId that the subject accepts, if it does not accept every int64; large ones as text."
    })
  ),
  bans: optional(Schema.Boolean.annotate({ description: "Whether it bans keys that ignore a 429." }))
})

const Patterns = Schema.Array(Text)

/**
 * The content of the file. Every member is optional, because flags can replace it; a check that needs a missing key or
 * clock is inconclusive.
 */
export const Configuration = Schema.Struct({
  $schema: optional(Schema.String),
  name: optional(Text.annotate({ description: "The name of the subject in the report." })),
  implementation: optional(Implementation),
  url: optional(Text.annotate({ description: "The base address, such as http://127.0.0.1:3000/v1." })),
  keys: optional(Keys),
  clock: optional(
    Text.annotate({
      description: "Address of the server's clock: GET shows it, POST …/advance moves it forward."
    })
  ),
  level: optional(Schema.Literals(["spec", "design"])),
  declared: optional(Declared),
  budget: optional(Schema.Struct({ requests: optional(Count), seconds: optional(Count) })),
  only: optional(Patterns),
  exclude: optional(Patterns),
  iOwnThisServer: optional(
    Schema.Boolean.annotate({ description: "Needed for hosts other than this machine." })
  )
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
