/**
 * A response as a run keeps it until its end: a law sees the whole response at once, and later checks and reports need no
 * more than the beginning of a long body and what was found in it.
 */
import * as Result from "effect/Result"
import * as ErrorBody from "./ErrorBody.ts"
import * as Excerpt from "./Excerpt.ts"
import * as PetJson from "./PetJson.ts"
import { text, type WireResponse } from "./Wire.ts"

/** Most bytes of a body that are kept. */
export const MAX_KEPT = 4_096

/** What is known of a body that is not kept whole. */
export interface CutBody {
  /** Of the whole body, in bytes. */
  readonly length: number
  /** Whether the whole body is JSON, or what is wrong with it. */
  readonly json: Result.Result<void, string>
  /** The Error that it is, its texts cut, or what is wrong with it. */
  readonly error: Result.Result<ErrorBody.ErrorBody, string>
}

export interface KeptResponse extends WireResponse {
  /** Present when `body` is only the beginning. */
  readonly cut?: CutBody
}

/** The response with at most `MAX_KEPT` bytes of its body. */
export const of = (response: WireResponse): KeptResponse => {
  const { body } = response
  if (body.length <= MAX_KEPT) return response
  const parsed = PetJson.parse(text(body))
  return {
    ...response,
    // A copy, so that the whole can be freed.
    body: body.slice(0, MAX_KEPT),
    cut: {
      length: body.length,
      json: Result.map(parsed, () => undefined),
      error: Result.map(Result.flatMap(parsed, ErrorBody.read), shortened)
    }
  }
}

/** Most UTF-16 units that are kept of a text in an Error: more than a law lets it have. */
const MAX_TEXT = 1_000

/** Most names of members that are kept. */
const MAX_MEMBERS = 20

const shortened = (whole: ErrorBody.ErrorBody): ErrorBody.ErrorBody => ({
  ...whole,
  code: Excerpt.of(whole.code, MAX_TEXT),
  message: Excerpt.of(whole.message, MAX_TEXT),
  members: whole.members.slice(0, MAX_MEMBERS).map((name) => Excerpt.of(name, MAX_TEXT))
})

/** Whether the body is JSON, or what is wrong with it. */
export const jsonOf = ({ body, cut }: KeptResponse): Result.Result<void, string> =>
  cut?.json ?? Result.map(PetJson.parse(text(body)), () => undefined)

/** Length of the whole body, in bytes. */
export const sizeOf = ({ body, cut }: KeptResponse): number => cut?.length ?? body.length
