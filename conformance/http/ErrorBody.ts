/** The Error body of contract §2. */
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

/** The Error that an answer carries, or what is wrong with it. */
export const of = (response: Pick<WireResponse, "body">): Result.Result<ErrorBody, string> =>
  Result.flatMap(PetJson.parse(text(response.body)), (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return Result.fail(`no Error object: ${PetJson.show(value)}`)
    }
    const { code, message, status } = value as { readonly [field: string]: unknown }
    if (typeof code !== "string" || code === "") return Result.fail(`code is no text: ${PetJson.show(code)}`)
    if (typeof message !== "string") return Result.fail(`message is no string: ${PetJson.show(message)}`)
    if (typeof status !== "bigint") return Result.fail(`status is no integer: ${PetJson.show(status)}`)
    return Result.succeed({ code, message, status: Number(status), members: Object.keys(value) })
  })

/** The `code` of an Error body, where there is one. */
export const codeOf = (response: Pick<WireResponse, "body">): string | undefined =>
  Result.match(of(response), { onSuccess: ({ code }) => code, onFailure: () => undefined })
