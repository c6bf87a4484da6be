/** Parses the configuration file of a run over HTTP. Flags of the command line take precedence over it. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { SetupError } from "../engine/SetupError.ts"

const Text = Schema.String.check(Schema.isMinLength(1))

const Secret = Text.annotate({
  description: "An API key, or env:NAME for the value of an environment variable."
})

const Count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000_000 }))

const SmallKey = Schema.Struct({ key: Secret, perMinute: Count, perDay: Count })
export type SmallKey = typeof SmallKey.Type

const strings = Schema.Array(Text)

/**
 * The content of the file. Every member is optional, because flags can replace it; a check that needs a missing key or
 * clock is inconclusive.
 */
export const Configuration = Schema.Struct({
  $schema: Schema.optionalKey(Schema.String),
  name: Schema.optionalKey(Text.annotate({ description: "The name of the subject in the report." })),
  implementation: Schema.optionalKey(
    Schema.Struct({
      name: Text,
      version: Schema.optionalKey(Text),
      contact: Schema.optionalKey(
        Text.annotate({ description: "A URL that begins with https://, or an email address." })
      )
    }).annotate({ description: "The implementation under test, for the report." })
  ),
  url: Schema.optionalKey(
    Text.annotate({ description: "The base address, such as http://127.0.0.1:3000/v1." })
  ),
  keys: Schema.optionalKey(
    Schema.Struct({
      main: Schema.optionalKey(Secret),
      tiny: Schema.optionalKey(
        SmallKey.annotate({ description: "A key on a small plan that the run may use up." })
      ),
      victim: Schema.optionalKey(
        SmallKey.annotate({ description: "A key that may be banned during the run." })
      ),
      revoked: Schema.optionalKey(Secret),
      expired: Schema.optionalKey(Secret)
    })
  ),
  clock: Schema.optionalKey(
    Text.annotate({
      description: "Address of the server's clock: GET shows it, POST …/advance moves it forward."
    })
  ),
  level: Schema.optionalKey(Schema.Literals(["spec", "design"])),
  declared: Schema.optionalKey(
    Schema.Struct({
      categories: Schema.optionalKey(
        Schema.Array(Schema.Union([Schema.Int, Schema.String.check(Schema.isPattern(/^-?[0-9]{1,19}$/))]))
          .check(Schema.isMinLength(1))
          .annotate({
            description:
              "The values of categoryId that the subject accepts, if it does not accept every int64; large ones as text."
          })
      ),
      bans: Schema.optionalKey(
        Schema.Boolean.annotate({ description: "Whether it bans keys that ignore a 429." })
      )
    })
  ),
  budget: Schema.optionalKey(
    Schema.Struct({ requests: Schema.optionalKey(Count), seconds: Schema.optionalKey(Count) })
  ),
  only: Schema.optionalKey(strings),
  exclude: Schema.optionalKey(strings),
  iOwnThisServer: Schema.optionalKey(
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
