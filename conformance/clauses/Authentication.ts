/** Clauses about authentication: valid keys, and the responses to invalid ones. */
import { design, optional, spec, unlessFull } from "./Clause.ts"

export const clauses = [
  ...spec({
    "auth.required": "§5.3: A request without an API key gets 401.",
    "auth.invalid": "§5.3: A request with a key that was never issued gets 401.",
    "auth.whole-key": "§5.3: A part of a valid key, or a valid key followed by more characters, is invalid.",
    "auth.refused-unstored": unlessFull("§5.3: A create request that gets 401 stores no animal."),
    "auth.error-body": "§5.3: A 401 response has an Error body.",
    "auth.key-case": "§5.3: A valid key in another case is invalid.",
    "auth.token-verbatim": "§5.3: The token is compared as sent: a percent-encoded key is invalid.",
    "auth.revoked": optional(
      "§5.3: A request with a revoked key gets 401, like one with a key that was never issued.",
      "No revoked key is declared."
    ),
    "auth.expired": optional(
      "§5.3: A request with an expired key gets 401, like one with a key that was never issued.",
      "No expired key is declared."
    ),
    "auth.bearer": "§5.1: A valid key sent as `Authorization: Bearer <API_KEY>` is accepted.",
    "auth.header-only": "§5.1: A key sent in the query, the path or another header counts as missing.",
    "auth.other-scheme":
      "§5.1: A request gets 401 if its key is sent without a scheme, or with a scheme other than `Bearer`.",
    "auth.every-operation": "§5.2: Every operation responds with 401 or 429 to a request without a valid key."
  }),
  ...design({
    "auth.challenge":
      '§5.3: A 401 response has `WWW-Authenticate` with the challenge `Bearer realm="animals"`, and with `error="invalid_token"` if and only if a credential was sent.',
    "auth.scheme-case": "§5.1: The scheme `Bearer` is matched case-insensitively.",
    "auth.token-length": "§5.1: A request with a token of more than 512 characters gets 401.",
    "auth.two-headers": "§5.1: A request with two `Authorization` headers gets 401."
  })
]
