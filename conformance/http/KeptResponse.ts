/**
 * Shortens responses to the part that a run stores until its end. The law that sent the request gets the whole
 * response; later checks and reports need only the beginning of a long body and the findings about the whole body.
 */
import * as Result from "effect/Result"
import * as ErrorBody from "./ErrorBody.ts"
import * as Excerpt from "./Excerpt.ts"
import * as PetJson from "./PetJson.ts"
import { text, type WireResponse } from "./Wire.ts"

/** Maximum number of stored bytes of a body. */
export const MAX_KEPT = 4_096

/** The findings about a whole body of which only the beginning is stored. */
export interface CutBody {
  /** Size of the whole body in bytes. */
  readonly length: number
  /** Success if the whole body is JSON, otherwise the reason. */
  readonly json: Result.Result<void, string>
  /** The number of animals in the body; `undefined` if it is not a list of animals. */
  readonly animals: number | undefined
  /** The Error in the body with truncated texts, or the reason why there is none. */
  readonly error: Result.Result<ErrorBody.ErrorBody, string>
}

export interface KeptResponse extends WireResponse {
  /** Present when `body` is only the beginning of the received body. */
  readonly cut?: CutBody
}

/** Returns the response with at most `MAX_KEPT` bytes of its body; adds `cut` if the body is longer. */
export const of = (response: WireResponse): KeptResponse => {
  const { body } = response
  if (body.length <= MAX_KEPT) return response
  const parsed = PetJson.parse(text(body))
  return {
    ...response,
    // A copy, so that the whole body can be freed.
    body: body.slice(0, MAX_KEPT),
    cut: {
      length: body.length,
      json: Result.map(parsed, () => undefined),
      animals: Result.getOrUndefined(
        Result.map(Result.flatMap(parsed, PetJson.animals), (all) => all.length)
      ),
      error: Result.map(Result.flatMap(parsed, ErrorBody.read), shorten)
    }
  }
}

/** Maximum number of stored UTF-16 code units of a text in an Error; laws allow fewer units in a message. */
const MAX_TEXT = 1_000

/** Maximum number of stored member names of an Error. */
const MAX_MEMBERS = 20

const shorten = (whole: ErrorBody.ErrorBody): ErrorBody.ErrorBody => ({
  ...whole,
  code: Excerpt.of(whole.code, MAX_TEXT),
  message: Excerpt.of(whole.message, MAX_TEXT),
  members: whole.members.slice(0, MAX_MEMBERS).map((name) => Excerpt.of(name, MAX_TEXT))
})

/** Returns success if the body is JSON, otherwise the reason. */
export const jsonOf = ({ body, cut }: KeptResponse): Result.Result<void, string> =>
  cut?.json ?? Result.map(PetJson.parse(text(body)), () => undefined)

/** Returns the size of the whole body in bytes. */
export const sizeOf = ({ body, cut }: KeptResponse): number => cut?.length ?? body.length
