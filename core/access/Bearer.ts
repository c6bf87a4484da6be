/** Parses the credential in the `Authorization` header (contract §5.1; RFC 6750 §2.1, RFC 9110 §11.4). */

const maxTokenLength = 512

/**
 * Parses the bearer token of a header value: the scheme in any case, one or more spaces, and one `b64token` of at most
 * 512 characters, which is not percent-decoded. Returns `undefined` if there is no credential, and "malformed" if the
 * credential is not a single bearer token.
 *
 * @example
 * ```ts
 * parse("bearer abc") // { token: "abc" }
 * parse("Basic abc") // "malformed"
 * ```
 */
export const parse = (header: string | undefined): { readonly token: string } | "malformed" | undefined => {
  if (header === undefined || header === "") return undefined
  const token = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header)?.[1]
  return token === undefined || token.length > maxTokenLength ? "malformed" : { token }
}
