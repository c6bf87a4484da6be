/** Recognizes error responses, and makes the errors of faulty servers. */
import type { WireResponse } from "../../http/Wire.ts"
import * as Edit from "./Edit.ts"

export const isError = (status: number): boolean => status >= 400

export const failure = Edit.error(500, "internal_error")

/** Replaces the body with an HTML page. */
export const html = (response: WireResponse): WireResponse =>
  Edit.header("Content-Type", "text/html; charset=utf-8")(Edit.body(`<h1>${response.status}</h1>`)(response))
