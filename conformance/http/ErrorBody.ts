/** The Error body of contract §2. */
import * as Result from "effect/Result"
import * as PetJson from "./PetJson.ts"
import { text, type WireResponse } from "./Wire.ts"

export interface ErrorBody {
  readonly code: string
  readonly message: string
  /** Of the whole message, in UTF-16 units. */
  readonly messageLength: number
  readonly status: number
  /** Names of all members, in the order sent. */
  readonly members: ReadonlyArray<string>
}

/** The Error that a parsed body is, or what is wrong with it. */
export const read = (value: unknown): Result.Result<ErrorBody, string> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return Result.fail(`no Error object: ${PetJson.show(value)}`)
  }
  const { code, message, status } = value as { readonly [field: string]: unknown }
  if (typeof code !== "string" || code === "") return Result.fail(`code is no text: ${PetJson.show(code)}`)
  if (typeof message !== "string") return Result.fail(`message is no string: ${PetJson.show(message)}`)
  if (typeof status !== "bigint") return Result.fail(`status is no integer: ${PetJson.show(status)}`)
  return Result.succeed({
    code,
    message,
    messageLength: message.length,
    status: Number(status),
    members: Object.keys(value)
  })
}

/** A response, or what a run keeps of it. */
type Source = Pick<WireResponse, "body"> & {
  readonly cut?: { readonly error: Result.Result<ErrorBody, string> }
}

/** The Error that a response carries, or what is wrong with it. */
export const of = ({ body, cut }: Source): Result.Result<ErrorBody, string> =>
  cut?.error ?? Result.flatMap(PetJson.parse(text(body)), read)

/** The `code` of an Error body, where there is one. */
export const codeOf = (response: Source): string | undefined =>
  Result.match(of(response), { onSuccess: ({ code }) => code, onFailure: () => undefined })
