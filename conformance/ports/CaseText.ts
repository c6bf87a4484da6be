/** Writes a case as text, for the token that replays it. */
import * as Data from "effect/Data"
import * as Result from "effect/Result"

/** A text or value that is not a case. */
export class NotACase extends Data.TaggedError("NotACase")<{ readonly reason: string }> {}

/** The value of a case, and the port that it calls. */
export interface CaseOfPort {
  readonly port: string
  readonly value: unknown
}

/** Names and keys contain no NUL, so a text that begins with it stands for an integer. */
const INTEGER = "\0"

/** Writes a case as JSON, with all digits of its integers. */
export const write = (given: CaseOfPort): string =>
  JSON.stringify(given, (_name, value: unknown) => (typeof value === "bigint" ? `${INTEGER}${value}` : value))

export const parse = (text: string): Result.Result<CaseOfPort, NotACase> =>
  Result.try({
    try: () => {
      const read: unknown = JSON.parse(text, (_name, value: unknown) =>
        typeof value === "string" && value.startsWith(INTEGER) ? BigInt(value.slice(1)) : value
      )
      if (typeof read !== "object" || read === null || !("port" in read) || !("value" in read))
        throw new Error("no port and no value")
      return { port: String(read.port), value: read.value }
    },
    catch: (error) => new NotACase({ reason: String(error) })
  })
