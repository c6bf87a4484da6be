/** Reads the Error body of contract §2. */
import * as Result from "effect/Result"
import * as PetJson from "./PetJson.ts"
import { text, type WireResponse } from "./Wire.ts"

export interface ErrorBody {
  readonly code: string
  readonly message: string
  readonly status: number
  /** Names of all members, in the order sent. */
  readonly members: ReadonlyArray<string>
}

/** Returns the Error in a parsed body, or the reason why it is not an Error. */
export const read = (value: unknown): Result.Result<ErrorBody, string> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return Result.fail(`not an Error object: ${PetJson.show(value)}`)
  }
  const absent = ["code", "message", "status"].find((name) => !(name in value))
  if (absent !== undefined) return Result.fail(`${absent} is absent`)
  const { code, message, status } = value as { readonly [field: string]: unknown }
  if (typeof code !== "string" || code.trim() === "")
    return Result.fail(`code is not text: ${PetJson.show(code)}`)
  if (typeof message !== "string") return Result.fail(`message is not a string: ${PetJson.show(message)}`)
  // Contract §2: a human-readable description.
  if (message.trim() === "") return Result.fail("message is empty")
  if (typeof status !== "bigint") return Result.fail(`status is not an integer: ${PetJson.show(status)}`)
  return Result.succeed({
    code,
    message,
    status: Number(status),
    members: Object.keys(value)
  })
}

/** Returns the Error in a response, or the reason why there is none. */
export const of = ({ body }: Pick<WireResponse, "body">): Result.Result<ErrorBody, string> =>
  Result.flatMap(PetJson.parse(text(body)), read)

/** Returns the `code` of the Error in a response; `undefined` if the response has no Error. */
export const codeOf = (response: Pick<WireResponse, "body">): string | undefined =>
  Result.match(of(response), { onSuccess: ({ code }) => code, onFailure: () => undefined })
