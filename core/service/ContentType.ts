/** Checks the content type of request bodies: JSON in UTF-8 without a content coding (contract §1). */
import * as ApiError from "../errors/ApiError.ts"
import type { ServiceRequest } from "./ServiceRequest.ts"
import * as ServiceResponse from "./ServiceResponse.ts"

/**
 * Returns the 415 reply to a request with an unsupported body, with a header that names the supported type or
 * coding; `undefined` if the body is supported.
 */
export const rejectionOf = (request: Pick<ServiceRequest, "header">): ServiceResponse.Reply | undefined => {
  if (request.header("content-encoding") !== undefined) return unsupportedCoding
  return isJson(request.header("content-type")) ? undefined : unsupportedType
}

/** Returns whether the type is JSON in UTF-8. Allows empty parameters: `application/json; ;` (RFC 9110 §5.6.6). */
const isJson = (contentType: string | undefined): boolean =>
  contentType !== undefined &&
  /^application\/json(?:[ \t]*;)*(?:(?<=;)[ \t]*charset=(?:utf-8|"utf-8")(?:[ \t]*;)*)?[ \t]*$/i.test(
    contentType
  )

const unsupported = ApiError.make("unsupported_media_type")
const unsupportedType = ServiceResponse.error(unsupported, ["Accept", "application/json"])
const unsupportedCoding = ServiceResponse.error(unsupported, ["Accept-Encoding", "identity"])
