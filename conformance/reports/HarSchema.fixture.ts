/** Validates HAR 1.2, as its specification defines it: http://www.softwareishard.com/blog/har-12-spec/ */
import * as Schema from "effect/Schema"

const Text = Schema.String
const Size = Schema.Int.check(Schema.isGreaterThanOrEqualTo(-1))
const Milliseconds = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/** Every object may have a comment, and no other additional member. */
const object = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct({ ...fields, comment: Schema.optionalKey(Text) })

const Pairs = Schema.Array(object({ name: Text, value: Text }))

const message = { httpVersion: Text, cookies: Pairs, headers: Pairs, headersSize: Size, bodySize: Size }

const Entry = object({
  startedDateTime: Text.check(Schema.isPattern(/^[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)),
  time: Milliseconds,
  request: object({
    ...message,
    method: Text,
    url: Text.check(Schema.isPattern(/^https?:/)),
    queryString: Pairs,
    postData: Schema.optionalKey(object({ mimeType: Text, params: Pairs, text: Text }))
  }),
  response: object({
    ...message,
    status: Schema.Int,
    statusText: Text,
    content: object({ size: Size, mimeType: Text, text: Text }),
    redirectURL: Text
  }),
  cache: object({}),
  timings: object({ send: Milliseconds, wait: Milliseconds, receive: Milliseconds })
})

const Log = Schema.Struct({
  version: Schema.Literal("1.2"),
  creator: object({ name: Text, version: Text }),
  comment: Text,
  entries: Schema.Array(Entry)
})

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ log: Log })))

/** Parses an archive; throws an error with the first violation of the format. */
export const parse = (archive: string) => decode(archive, { onExcessProperty: "error" })
