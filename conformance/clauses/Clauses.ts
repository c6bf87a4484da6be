/** Everything an implementation is held to: the contract's sentences, and our answers to its gaps. */
import type { Clause } from "./Clause.ts"

/**
 * All clauses, section by section. A slug is frozen: reports and checks cite it, so it is never renamed
 * and never given to another sentence. A clause without a check says why in `unchecked`.
 */
export const clauses = [
  {
    slug: "auth.required",
    section: "§5.3",
    level: "spec",
    observable: "http",
    says: "An operation called without an API key answers 401."
  },
  {
    slug: "auth.bearer",
    section: "§5.1",
    level: "spec",
    observable: "http",
    says: "A valid key sent as `Authorization: Bearer <API_KEY>` is accepted."
  },
  {
    slug: "auth.header-only",
    section: "§5.1",
    level: "spec",
    observable: "http",
    says: "A key sent in the query, the path or another header counts as missing."
  },
  {
    slug: "auth.other-scheme",
    section: "§5.1",
    level: "spec",
    observable: "http",
    says: "A key sent under another scheme than `Bearer`, or without one, is not accepted."
  },
  {
    slug: "auth.every-operation",
    section: "§5.2",
    level: "spec",
    observable: "http",
    says: "No operation answers anything but 401, or 429, to a caller without a valid key."
  },
  {
    slug: "auth.invalid",
    section: "§5.3",
    level: "spec",
    observable: "http",
    says: "An operation called with a key that was never issued answers 401."
  },
  {
    slug: "auth.whole-key",
    section: "§5.3",
    level: "spec",
    observable: "http",
    says: "A part of a valid key, or a valid key with more behind it, is invalid."
  },
  {
    slug: "auth.refused-unstored",
    section: "§5.3",
    level: "spec",
    observable: "http",
    says: "A creation refused with 401 adds no animal."
  },
  {
    slug: "auth.error-body",
    section: "§5.3",
    level: "spec",
    observable: "http",
    says: "A 401 carries an Error body."
  },
  {
    slug: "auth.key-case",
    section: "§5.3",
    level: "design",
    observable: "http",
    says: "A valid key with the case of a letter changed is invalid."
  },
  {
    slug: "auth.revoked",
    section: "§5.4",
    level: "design",
    observable: "http",
    says: "A revoked key answers 401, like one that was never issued."
  },
  {
    slug: "auth.unknown-path",
    section: "§1",
    level: "design",
    observable: "http",
    says: "A request without a valid key for a path that does not exist answers 401."
  },
  {
    slug: "auth.first",
    section: "§4",
    level: "design",
    observable: "http",
    says: "The key is checked before path, method, query and body."
  },
  {
    slug: "auth.challenge",
    section: "§5.3",
    level: "design",
    observable: "http",
    says: 'A 401 carries `WWW-Authenticate` with the challenge `Bearer realm="animals"`.'
  },
  {
    slug: "auth.challenge-error",
    section: "§5.3",
    level: "design",
    observable: "http",
    says: 'The challenge says `error="invalid_token"` when a credential was sent, and only then.'
  },
  {
    slug: "auth.codes",
    section: "§7",
    level: "design",
    observable: "http",
    says: "A 401 has the code `missing_api_key` when no credential was sent, else `invalid_api_key`."
  },
  {
    slug: "auth.scheme-case",
    section: "§5.1",
    level: "design",
    observable: "http",
    says: "The scheme `Bearer` is recognised in any case."
  },
  {
    slug: "auth.token-length",
    section: "§5.1",
    level: "design",
    observable: "http",
    says: "A token of more than 512 characters answers 401."
  },
  {
    slug: "auth.token-verbatim",
    section: "§5.1",
    level: "design",
    observable: "http",
    says: "The token is taken as sent and never percent-decoded."
  },
  {
    slug: "auth.two-headers",
    section: "§5.1",
    level: "design",
    observable: "http",
    says: "A request with two `Authorization` headers answers 401."
  },
  {
    slug: "auth.key-format",
    section: "§5.4",
    level: "design",
    observable: "not",
    says: "A key is `ast_`, at least 160 random bits in base 62, and six characters of checksum.",
    unchecked: "Keys are issued outside HTTP, and other services may have keys of any form."
  },
  {
    slug: "auth.checksum-first",
    section: "§5.4",
    level: "design",
    observable: "not",
    says: "A key with a wrong checksum is refused without asking the key store.",
    unchecked: "Whether a store was asked shows in no answer."
  },
  {
    slug: "auth.stored-hashed",
    section: "§5.4",
    level: "design",
    observable: "not",
    says: "Of a key's secret only the SHA-256 is stored.",
    unchecked: "What a database holds is not visible from outside."
  },
  {
    slug: "auth.shown-once",
    section: "§5.4",
    level: "design",
    observable: "not",
    says: "A secret is shown when it is issued and never again.",
    unchecked: "Keys are issued outside HTTP."
  },
  {
    slug: "auth.rotation",
    section: "§5.4",
    level: "design",
    observable: "not",
    says: "While a key is rotated its old and its new secret are both accepted, until the overlap ends.",
    unchecked: "Keys are rotated outside HTTP."
  },
  {
    slug: "auth.no-administration",
    section: "§5.4",
    level: "design",
    observable: "not",
    says: "Keys cannot be issued, rotated or revoked over HTTP.",
    unchecked: "The absence of an operation cannot be shown by requests."
  },
  {
    slug: "resources.pet-fields",
    section: "§2",
    level: "spec",
    observable: "http",
    says: "An animal has at least `id`, `name` and `categoryId`."
  },
  {
    slug: "resources.pet-types",
    section: "§2",
    level: "spec",
    observable: "http",
    says: "In an animal `id` and `categoryId` are JSON integers within int64 and `name` is a string."
  },
  {
    slug: "resources.status-values",
    section: "§3",
    level: "spec",
    observable: "http",
    says: "The status of an animal that has one is `available`, `pending` or `sold`."
  },
  {
    slug: "resources.id-unique",
    section: "§2",
    level: "spec",
    observable: "both",
    says: "No two animals have the same `id`."
  },
  {
    slug: "resources.stable",
    section: "§2",
    level: "spec",
    observable: "both",
    says: "The id, name and category of an animal never change, whatever is created after it."
  },
  {
    slug: "resources.status-stable",
    section: "§3",
    level: "design",
    observable: "both",
    says: "The status of an animal never changes once it is created."
  },
  {
    slug: "resources.int64-numbers",
    section: "§2",
    level: "design",
    observable: "http",
    says: "Every int64 is a JSON number with all its digits, never a string, an exponent or a fraction."
  },
  {
    slug: "list.status-200",
    section: "§4.1",
    level: "spec",
    observable: "http",
    says: "A list request with allowed parameters answers 200."
  },
  {
    slug: "list.array",
    section: "§2",
    level: "spec",
    observable: "http",
    says: "The body of a list is a bare JSON array of animals."
  },
  {
    slug: "list.empty",
    section: "§4.1",
    level: "spec",
    observable: "http",
    says: "A list that no animal belongs to is 200 with an empty array."
  },
  {
    slug: "list.limit.accepted",
    section: "§8.1",
    level: "spec",
    observable: "http",
    says: "Every `limit` from 1 to 100 is accepted."
  },
  {
    slug: "list.limit.maximum-returned",
    section: "§4.1",
    level: "spec",
    observable: "both",
    says: "A list holds at most `limit` animals, for every `limit` from 1 to 100."
  },
  {
    slug: "list.limit.ceiling",
    section: "§8.1",
    level: "spec",
    observable: "http",
    says: "No list holds more than 100 animals, whatever limit was asked for."
  },
  {
    slug: "list.limit.default",
    section: "§8.1",
    level: "spec",
    observable: "http",
    says: "Without `limit` a list holds at most 20 animals."
  },
  {
    slug: "list.limit.default-fills",
    section: "§8.1",
    level: "spec",
    observable: "http",
    says: "Without `limit` a list holds 20 animals when at least so many belong to it."
  },
  {
    slug: "list.complete",
    section: "§4.1",
    level: "spec",
    observable: "both",
    says: "A list that holds fewer animals than its limit holds every animal that belongs to it."
  },
  {
    slug: "list.sees-created",
    section: "§4.1",
    level: "spec",
    observable: "both",
    says: "An animal belongs to every list of its status that is requested after its 201."
  },
  {
    slug: "list.faithful",
    section: "§4.1",
    level: "spec",
    observable: "both",
    says: "A list shows an animal with the id, name and category that its creation answered."
  },
  {
    slug: "list.distinct",
    section: "§4.1",
    level: "spec",
    observable: "both",
    says: "No animal is in a list twice."
  },
  {
    slug: "list.status.accepted",
    section: "§4.1",
    level: "spec",
    observable: "http",
    says: "Each of `available`, `pending` and `sold` is accepted as `status`."
  },
  {
    slug: "list.status.filter",
    section: "§4.1",
    level: "spec",
    observable: "both",
    says: "A list with `status` holds only animals of that status."
  },
  {
    slug: "list.status.all",
    section: "§4.1",
    level: "spec",
    observable: "both",
    says: "Without `status` a list holds animals of every status."
  },
  {
    slug: "list.status.before-limit",
    section: "§4.1",
    level: "spec",
    observable: "both",
    says: "The limit counts only the animals that have the wanted status."
  },
  {
    slug: "list.limit.range",
    section: "§4.1",
    level: "design",
    observable: "http",
    says: "A `limit` below 1 or above 100 answers 400 and is never moved into the range."
  },
  {
    slug: "list.limit.syntax",
    section: "§4.1",
    level: "design",
    observable: "http",
    says: "A `limit` that is not plain decimal digits, such as `05`, `1e1`, `+5` or nothing, answers 400."
  },
  {
    slug: "list.limit.repeated",
    section: "§4.1",
    level: "design",
    observable: "http",
    says: "A `limit` given twice answers 400."
  },
  {
    slug: "list.status.unknown",
    section: "§4.1",
    level: "design",
    observable: "http",
    says: "A `status` that is none of the three, or empty, answers 400."
  },
  {
    slug: "list.status.exact",
    section: "§4.1",
    level: "design",
    observable: "http",
    says: "The value of `status` is compared exactly: case counts and nothing is trimmed."
  },
  {
    slug: "list.status.repeated",
    section: "§4.1",
    level: "design",
    observable: "http",
    says: "A `status` given twice answers 400."
  },
  {
    slug: "list.parameter-code",
    section: "§7",
    level: "design",
    observable: "http",
    says: "A 400 for a query parameter has the code `invalid_parameter`."
  },
  {
    slug: "list.unknown-parameters",
    section: "§4.1",
    level: "design",
    observable: "http",
    says: "A query parameter that the contract does not name is ignored."
  },
  {
    slug: "list.order",
    section: "§4.1",
    level: "design",
    observable: "both",
    says: "A list is ordered by ascending `id`."
  },
  {
    slug: "list.paging",
    section: "§4.1",
    level: "design",
    observable: "http",
    says: 'A list after which more animals come links to those that follow with `Link` and `rel="next"`.'
  },
  {
    slug: "list.paging.last",
    section: "§4.1",
    level: "design",
    observable: "http",
    says: 'A list after which no animal comes carries no `Link` with `rel="next"`.'
  },
  {
    slug: "list.paging.complete",
    section: "§4.1",
    level: "design",
    observable: "http",
    says: "A walk along the `next` links shows each animal that existed when it began once."
  },
  {
    slug: "list.paging.filter",
    section: "§4.1",
    level: "design",
    observable: "http",
    says: "The `next` link keeps the status filter and the limit."
  },
  {
    slug: "list.paging.bound",
    section: "§4.1",
    level: "design",
    observable: "http",
    says: "A cursor used with another status filter than its own answers 400."
  },
  {
    slug: "list.paging.forged",
    section: "§4.1",
    level: "design",
    observable: "http",
    says: "A cursor that the service did not make, or that was altered, answers 400."
  },
  {
    slug: "list.paging.address",
    section: "§4.1",
    level: "design",
    observable: "http",
    says: "The target of a `next` link is a path, or absolute if a public base address is configured."
  },
  {
    slug: "create.status-201",
    section: "§4.2",
    level: "spec",
    observable: "http",
    says: "A creation with a plain name and an existing category answers 201."
  },
  {
    slug: "create.returns-created",
    section: "§4.2",
    level: "spec",
    observable: "both",
    says: "The answer to a creation shows the name and the category that were sent."
  },
  {
    slug: "create.id-assigned",
    section: "§4.2",
    level: "spec",
    observable: "both",
    says: "The answer to a creation shows the `id` that the service assigned."
  },
  {
    slug: "create.status-accepted",
    section: "§2",
    level: "spec",
    observable: "http",
    says: "Each of `available`, `pending` and `sold` is accepted as the status of a new animal."
  },
  {
    slug: "create.status-kept",
    section: "§2",
    level: "spec",
    observable: "both",
    says: "An animal created with a status is answered with that status."
  },
  {
    slug: "create.name-required",
    section: "§4.2",
    level: "spec",
    observable: "http",
    says: "A creation without `name` answers 400."
  },
  {
    slug: "create.name-type",
    section: "§2",
    level: "spec",
    observable: "http",
    says: "A creation whose `name` is no JSON string answers 400."
  },
  {
    slug: "create.category-required",
    section: "§4.2",
    level: "spec",
    observable: "http",
    says: "A creation without `categoryId` answers 400."
  },
  {
    slug: "create.category-type",
    section: "§2",
    level: "spec",
    observable: "http",
    says: "A creation whose `categoryId` is no JSON number, or has a fraction such as 1.5, answers 400."
  },
  {
    slug: "create.category-range",
    section: "§2",
    level: "spec",
    observable: "http",
    says: "A creation whose `categoryId` lies outside int64 answers 400."
  },
  {
    slug: "create.int64-exact",
    section: "§2",
    level: "spec",
    observable: "both",
    says: "A `categoryId` that is accepted comes back exact, also beyond 2⁵³."
  },
  {
    slug: "create.status-enum",
    section: "§2",
    level: "spec",
    observable: "http",
    says: "A creation whose `status` is neither one of the three nor null answers 400."
  },
  {
    slug: "create.body-required",
    section: "§4.2",
    level: "spec",
    observable: "http",
    says: "A creation announced as JSON but without a body answers 400."
  },
  {
    slug: "create.body-object",
    section: "§4.2",
    level: "spec",
    observable: "http",
    says: "A creation whose body is JSON but no object answers 400."
  },
  {
    slug: "create.json-syntax",
    section: "§1",
    level: "spec",
    observable: "http",
    says: "A creation whose body does not begin with a complete JSON value answers 400."
  },
  {
    slug: "create.content-type-accepted",
    section: "§4.2",
    level: "spec",
    observable: "http",
    says: "A creation sent as `application/json` is accepted."
  },
  {
    slug: "create.refused-unstored",
    section: "§7",
    level: "spec",
    observable: "http",
    says: "A creation that is refused adds no animal."
  },
  {
    slug: "create.concurrent",
    section: "§4.2",
    level: "spec",
    observable: "both",
    says: "Creations at the same time all take effect, each with its own `id`."
  },
  {
    slug: "create.name-length",
    section: "§2",
    level: "design",
    observable: "http",
    says: "A name of 1 to 255 code points is accepted, an empty or a longer one answers 400."
  },
  {
    slug: "create.name-blank",
    section: "§2",
    level: "design",
    observable: "http",
    says: "A name of nothing but white space answers 400."
  },
  {
    slug: "create.name-characters",
    section: "§2",
    level: "design",
    observable: "http",
    says: "A name may have every character but U+0000 and lone surrogates, which answer 400."
  },
  {
    slug: "create.name-exact",
    section: "§2",
    level: "design",
    observable: "both",
    says: "A name comes back exactly as sent, neither trimmed nor normalised."
  },
  {
    slug: "create.name-not-unique",
    section: "§2",
    level: "design",
    observable: "both",
    says: "Several animals may have the same name."
  },
  {
    slug: "create.category-any",
    section: "§2",
    level: "design",
    observable: "both",
    says: "Every int64 is accepted as `categoryId`, 0 and negative ones too."
  },
  {
    slug: "create.category-by-value",
    section: "§2",
    level: "design",
    observable: "http",
    says: "A `categoryId` is an integer by value: `1.0` and `1e3` are accepted as 1 and 1000."
  },
  {
    slug: "create.number-cost",
    section: "§2",
    level: "design",
    observable: "http",
    says: "A number such as `1e999999999` answers 400 as fast as any other wrong value."
  },
  {
    slug: "create.status-default",
    section: "§2",
    level: "design",
    observable: "http",
    says: "An animal created without a status is stored and shown as `available`."
  },
  {
    slug: "create.status-null",
    section: "§2",
    level: "design",
    observable: "http",
    says: "A creation whose `status` is null answers 400."
  },
  {
    slug: "create.unknown-fields",
    section: "§2",
    level: "design",
    observable: "http",
    says: "A field that the contract does not name is ignored and never shown again."
  },
  {
    slug: "create.id-ignored",
    section: "§2",
    level: "design",
    observable: "http",
    says: "An `id` in the body of a creation is ignored."
  },
  {
    slug: "create.json-strict",
    section: "§4.2",
    level: "design",
    observable: "http",
    says: "A creation whose body has text after its JSON value answers 400."
  },
  {
    slug: "create.json-duplicates",
    section: "§4.2",
    level: "design",
    observable: "http",
    says: "A creation whose body gives a name twice within one object answers 400."
  },
  {
    slug: "create.json-depth",
    section: "§4.2",
    level: "design",
    observable: "http",
    says: "A creation whose body is nested more than 32 levels deep answers 400."
  },
  {
    slug: "create.json-utf8",
    section: "§4.2",
    level: "design",
    observable: "http",
    says: "A creation whose body is not UTF-8, or begins with a byte order mark, answers 400."
  },
  {
    slug: "create.content-type",
    section: "§4.2",
    level: "design",
    observable: "http",
    says: "A creation with another content type than `application/json`, or none, answers 415."
  },
  {
    slug: "create.content-type-form",
    section: "§4.2",
    level: "design",
    observable: "http",
    says: "The content type may be in any case and say `charset=utf-8`, and no other charset."
  },
  {
    slug: "create.content-encoding",
    section: "§4.2",
    level: "design",
    observable: "http",
    says: "A creation with a `Content-Encoding` answers 415."
  },
  {
    slug: "create.body-size",
    section: "§4.2",
    level: "design",
    observable: "http",
    says: "A body of more than 64 KiB answers 413."
  },
  {
    slug: "create.body-size-accepted",
    section: "§4.2",
    level: "design",
    observable: "http",
    says: "A body of up to 64 KiB is read."
  },
  {
    slug: "create.body-size-counted",
    section: "§4.2",
    level: "design",
    observable: "http",
    says: "The size of a body is counted in bytes received, whether its length was announced or not."
  },
  {
    slug: "create.location",
    section: "§4.2",
    level: "design",
    observable: "http",
    says: "A 201 carries `Location` with the address of the new animal, while getPet exists."
  },
  {
    slug: "create.codes",
    section: "§7",
    level: "design",
    observable: "http",
    says: "A 400 for a body has the code `invalid_json` if it is no acceptable JSON, else `invalid_body`."
  },
  {
    slug: "get.found",
    section: "§4.3",
    level: "spec",
    observable: "both",
    says: "The id of an animal answers 200 with it, from its 201 until the operation is removed."
  },
  {
    slug: "get.faithful",
    section: "§4.3",
    level: "spec",
    observable: "both",
    says: "The animal is shown with the id, name and category that its creation answered."
  },
  {
    slug: "get.not-found",
    section: "§4.3",
    level: "spec",
    observable: "both",
    says: "An id that no animal has answers 404, until the operation is removed."
  },
  {
    slug: "get.malformed-id",
    section: "§4.3",
    level: "design",
    observable: "http",
    says: "A path segment that is no int64 answers 404."
  },
  {
    slug: "get.canonical-id",
    section: "§4.3",
    level: "design",
    observable: "http",
    says: "An id in any but its shortest decimal form, such as `01`, `+1` or `1.0`, answers 404."
  },
  {
    slug: "get.available-until-removal",
    section: "§9.3",
    level: "spec",
    observable: "http",
    says: "An animal can be fetched until 5 December 2030 has begun somewhere on earth."
  },
  {
    slug: "get.removed",
    section: "§9.3",
    level: "spec",
    observable: "http",
    says: "No animal can be fetched once 5 December 2030 is over everywhere on earth."
  },
  {
    slug: "get.removed-alone",
    section: "§9.3",
    level: "spec",
    observable: "http",
    says: "Listing and creating go on as before when getPet is removed."
  },
  {
    slug: "get.gone",
    section: "§9.3",
    level: "design",
    observable: "http",
    says: "From 5 December 2030, 00:00:00 UTC on, and not before, getPet answers 410 `operation_removed`."
  },
  {
    slug: "get.deprecation-headers",
    section: "§4.3",
    level: "design",
    observable: "http",
    says: "Every answer of the operation, errors too, carries `Deprecation`, `Sunset` and `Link`."
  },
  {
    slug: "errors.body",
    section: "§7",
    level: "spec",
    observable: "http",
    says: "The body of every error is a JSON object with `code`, `message` and `status`."
  },
  {
    slug: "errors.body-types",
    section: "§2",
    level: "spec",
    observable: "http",
    says: "In an error `code` and `message` are strings and `status` is an integer."
  },
  {
    slug: "errors.status-matches",
    section: "§2",
    level: "spec",
    observable: "http",
    says: "The `status` in an error's body is the HTTP status of the answer."
  },
  {
    slug: "errors.listed-statuses",
    section: "§7",
    level: "spec",
    observable: "http",
    says: "A request that the contract describes gets a status that it lists, unless the key is banned."
  },
  {
    slug: "errors.no-5xx",
    section: "§4",
    level: "spec",
    observable: "http",
    says: "A request that the contract describes is never answered with 5xx."
  },
  {
    slug: "errors.no-5xx-anywhere",
    section: "§4",
    level: "design",
    observable: "http",
    says: "No request, however wrong, is answered with 5xx while the stores can be reached."
  },
  {
    slug: "errors.exact-body",
    section: "§2",
    level: "design",
    observable: "http",
    says: "The body of an error has `code`, `message` and `status` and nothing else."
  },
  {
    slug: "errors.codes",
    section: "§7",
    level: "design",
    observable: "http",
    says: "Every `code` is one of the closed set, together with the status that belongs to it."
  },
  {
    slug: "errors.messages",
    section: "§7",
    level: "design",
    observable: "http",
    says: "The message of a 400 names the field or parameter that is wrong."
  },
  {
    slug: "errors.no-echo",
    section: "§7",
    level: "design",
    observable: "http",
    says: "No message repeats an API key or long input."
  },
  {
    slug: "errors.internal",
    section: "§7",
    level: "design",
    observable: "not",
    says: "A fault within the service answers 500 `internal_error` and tells nothing of its cause.",
    unchecked: "A fault within the service cannot be brought about from outside."
  },
  {
    slug: "errors.unavailable",
    section: "§7",
    level: "design",
    observable: "not",
    says: "A store that cannot be reached answers 503 `service_unavailable` with `Retry-After`.",
    unchecked: "A store cannot be made unreachable from outside."
  },
  {
    slug: "errors.headers-too-large",
    section: "§7",
    level: "design",
    observable: "http",
    says: "A header section or target that is too large answers 431 `headers_too_large` with an Error body.",
    unchecked:
      "What a server says to a broken connection is for tests with raw sockets; ours are those of the Node adapter."
  },
  {
    slug: "errors.malformed-request",
    section: "§7",
    level: "design",
    observable: "http",
    says: "Bytes that are no HTTP request answer 400 `malformed_request` with an Error body.",
    unchecked: "The suite sends well-formed HTTP only, so that it works through any proxy."
  },
  {
    slug: "errors.request-timeout",
    section: "§7",
    level: "design",
    observable: "http",
    says: "A request that is not complete in time answers 408 `request_timeout` with an Error body.",
    unchecked: "The time is the host's, and longer than a run should wait."
  },
  {
    slug: "limits.headers-present",
    section: "§8.3",
    level: "spec",
    observable: "http",
    says: "Every response carries X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset, once each."
  },
  {
    slug: "limits.header-types",
    section: "§8.3",
    level: "spec",
    observable: "http",
    says: "The three headers are decimal integers, none of them negative."
  },
  {
    slug: "limits.remaining-within",
    section: "§8.3",
    level: "spec",
    observable: "http",
    says: "Remaining is at most Limit."
  },
  {
    slug: "limits.plan-in-force",
    section: "§8.3",
    level: "spec",
    observable: "http",
    says: "For a valid key Limit is the requests per minute or per day of the key's plan."
  },
  {
    slug: "limits.reset-unix-seconds",
    section: "§8.3",
    level: "spec",
    observable: "http",
    says: "Reset is a Unix time in seconds, by the service's clock."
  },
  {
    slug: "limits.reset-ahead",
    section: "§8.3",
    level: "spec",
    observable: "http",
    says: "For a valid key that is not banned Reset is at most a day ahead."
  },
  {
    slug: "limits.reset-not-past",
    section: "§8.3",
    level: "spec",
    observable: "http",
    says: "For a valid key Reset is not in the past."
  },
  {
    slug: "limits.reset-truth",
    section: "§8.3",
    level: "spec",
    observable: "http",
    says: "A caller refused only for the window shown is admitted at its Reset if nothing was sent since."
  },
  {
    slug: "limits.remaining-truth",
    section: "§8.3",
    level: "spec",
    observable: "http",
    says: "The window shown does not refuse any of the next requests that its Remaining counts."
  },
  {
    slug: "limits.remaining-bound",
    section: "§8.3",
    level: "spec",
    observable: "http",
    says: "No more counted requests than the Remaining told are admitted before time gives some back."
  },
  {
    slug: "limits.plan.free",
    section: "§8.2",
    level: "spec",
    observable: "http",
    says: "Plan Free grants 60 requests per minute and 1000 per day.",
    unchecked:
      "A key does not tell the name of its plan; the suite holds it to the numbers that it was declared with."
  },
  {
    slug: "limits.plan.pro",
    section: "§8.2",
    level: "spec",
    observable: "http",
    says: "Plan Pro grants 300 requests per minute and 10000 per day.",
    unchecked:
      "A key does not tell the name of its plan; the suite holds it to the numbers that it was declared with."
  },
  {
    slug: "limits.plan.business",
    section: "§8.2",
    level: "spec",
    observable: "http",
    says: "Plan Business grants 1000 requests per minute and 100000 per day.",
    unchecked:
      "A key does not tell the name of its plan; the suite holds it to the numbers that it was declared with."
  },
  {
    slug: "limits.plan.enterprise",
    section: "§8.2",
    level: "spec",
    observable: "not",
    says: "Plan Enterprise grants numbers that are agreed one by one.",
    unchecked: "The numbers are agreed between people."
  },
  {
    slug: "limits.plan.upgrade",
    section: "§8.4.4",
    level: "spec",
    observable: "not",
    says: "Higher limits come from a plan upgrade.",
    unchecked: "Plans are changed outside HTTP."
  },
  {
    slug: "limits.per-minute",
    section: "§8.2",
    level: "spec",
    observable: "http",
    says: "A caller who sends without pause is refused once the requests per minute are used up."
  },
  {
    slug: "limits.per-day",
    section: "§8.2",
    level: "spec",
    observable: "http",
    says: "A caller whose requests per day are used up is refused."
  },
  {
    slug: "limits.no-early-429",
    section: "§8.4.1",
    level: "spec",
    observable: "http",
    says: "A caller who kept within both limits of the plan, and is not banned, is not answered 429."
  },
  {
    slug: "limits.exceeded-429",
    section: "§8.4.1",
    level: "spec",
    observable: "http",
    says: "A request over the limit answers 429."
  },
  {
    slug: "limits.every-operation",
    section: "§7",
    level: "spec",
    observable: "http",
    says: "Each of the three operations answers 429 to a request over the limit."
  },
  {
    slug: "limits.refused-unstored",
    section: "§8.4.1",
    level: "spec",
    observable: "http",
    says: "A creation refused with 429 adds no animal."
  },
  {
    slug: "limits.atomic",
    section: "§8.4.1",
    level: "spec",
    observable: "both",
    says: "Of requests at the same time no more are admitted than if they came one after the other."
  },
  {
    slug: "limits.retry-after-present",
    section: "§8.4.2",
    level: "spec",
    observable: "http",
    says: "A 429 carries `Retry-After`."
  },
  {
    slug: "limits.retry-after-promise",
    section: "§8.4.2",
    level: "spec",
    observable: "http",
    says: "After the time in `Retry-After` a caller who sent nothing since is admitted, unless banned."
  },
  {
    slug: "limits.retry-after-seconds",
    section: "§8.4.2",
    level: "design",
    observable: "http",
    says: "`Retry-After` is whole seconds, at least 1 and at most 2147483."
  },
  {
    slug: "limits.retry-after-exact",
    section: "§8.4.2",
    level: "design",
    observable: "http",
    says: "`Retry-After` is the wait, rounded up, until the slot of the refused request; the first slot is the next token."
  },
  {
    slug: "limits.slots",
    section: "§8.4.2",
    level: "design",
    observable: "both",
    says: "Each refused request is told a slot of its own, a token after the one before, up to a full bucket."
  },
  {
    slug: "limits.counted-per-key",
    section: "§8",
    level: "design",
    observable: "http",
    says: "Each key has its own budget, which no other key's requests touch."
  },
  {
    slug: "limits.secrets-share",
    section: "§8",
    level: "design",
    observable: "not",
    says: "The two secrets of a key that is being rotated share one budget and one ban.",
    unchecked: "Keys are rotated outside HTTP."
  },
  {
    slug: "limits.plan-change",
    section: "§8.4.4",
    level: "design",
    observable: "not",
    says: "A change of plan keeps what was used and caps what is left.",
    unchecked: "Plans are changed outside HTTP."
  },
  {
    slug: "limits.every-request-costs",
    section: "§8.2",
    level: "design",
    observable: "http",
    says: "A request with a valid key costs one, whatever the answer, unless that is a 429."
  },
  {
    slug: "limits.denied-costs-nothing",
    section: "§8.2",
    level: "design",
    observable: "http",
    says: "A request answered 429 takes nothing from either window."
  },
  {
    slug: "limits.bucket",
    section: "§8.2",
    level: "design",
    observable: "both",
    says: "The minute is a bucket that begins full with the requests per minute and never holds more."
  },
  {
    slug: "limits.bucket-refill",
    section: "§8.2",
    level: "design",
    observable: "both",
    says: "The bucket refills evenly, its whole content in 60 seconds, exact to the millisecond."
  },
  {
    slug: "limits.clock-back",
    section: "§8.2",
    level: "design",
    observable: "port",
    says: "When the clock steps back by a minute at most nothing is granted twice."
  },
  {
    slug: "limits.clock-lead",
    section: "§8.2",
    level: "design",
    observable: "port",
    says: "When the clock steps back nobody waits for more than a minute beyond what is due."
  },
  {
    slug: "limits.day-utc",
    section: "§8.2",
    level: "design",
    observable: "both",
    says: "The day is the calendar day in UTC, and at midnight its whole quota is back."
  },
  {
    slug: "limits.window-shown",
    section: "§8.3",
    level: "design",
    observable: "both",
    says: "An admitted request shows the window with least remaining, of two alike the later Reset."
  },
  {
    slug: "limits.window-shown-denied",
    section: "§8.3",
    level: "design",
    observable: "both",
    says: "A refused request shows the refusing window with the longest wait, Remaining 0."
  },
  {
    slug: "limits.window-single",
    section: "§8.3",
    level: "design",
    observable: "both",
    says: "Limit, Remaining and Reset of one response describe the same window."
  },
  {
    slug: "limits.remaining-floor",
    section: "§8.3",
    level: "design",
    observable: "both",
    says: "Remaining is the number of whole requests left after this one."
  },
  {
    slug: "limits.reset-full",
    section: "§8.3",
    level: "design",
    observable: "both",
    says: "Reset is the second, rounded up, at which the shown window is full again."
  },
  {
    slug: "limits.exceeded-code",
    section: "§7",
    level: "design",
    observable: "http",
    says: "A 429 for a window has the code `rate_limit_exceeded`."
  },
  {
    slug: "limits.before-routing",
    section: "§4",
    level: "design",
    observable: "http",
    says: "Limits and bans are checked before path, method, query and body."
  },
  {
    slug: "limits.anonymous",
    section: "§8.3",
    level: "design",
    observable: "http",
    says: "A request without a valid key counts in a bucket of its network, of plan Free, and shows it."
  },
  {
    slug: "limits.anonymous-exhausted",
    section: "§8.3",
    level: "design",
    observable: "http",
    says: "When the bucket of its network is empty a request without a valid key answers 429."
  },
  {
    slug: "limits.anonymous-apart",
    section: "§8.3",
    level: "design",
    observable: "http",
    says: "A request with a valid key does not touch the bucket of its network."
  },
  {
    slug: "limits.guesses-apart",
    section: "§8.3",
    level: "design",
    observable: "http",
    says: "A request with a wrong key touches the budget of no key."
  },
  {
    slug: "limits.anonymous-network",
    section: "§8",
    level: "design",
    observable: "not",
    says: "The network is an IPv4 address, or the /64 and the /48 of an IPv6 address, of the socket or a trusted proxy.",
    unchecked: "The suite sends from one address."
  },
  {
    slug: "limits.transport-errors",
    section: "§8.3",
    level: "design",
    observable: "http",
    says: "A 400, 408 or 431 to a connection without a complete request shows the bucket of its network.",
    unchecked:
      "What a server says to a broken connection is for tests with raw sockets; ours are those of the Node adapter."
  },
  {
    slug: "limits.unavailable",
    section: "§8.3",
    level: "design",
    observable: "not",
    says: "A 503 for want of limits shows the plan's limit, Remaining 0 and Reset after `Retry-After`.",
    unchecked: "A store cannot be made unreachable from outside."
  },
  {
    slug: "ban.possible",
    section: "§8.4.3",
    level: "spec",
    observable: "http",
    says: "Requests repeated after a 429 may lead to a ban of the key.",
    unchecked: "It is a permission, nobody has to ban."
  },
  {
    slug: "ban.temporary",
    section: "§8.4.3",
    level: "spec",
    observable: "http",
    says: "A ban ends."
  },
  {
    slug: "ban.only-that-key",
    section: "§8.4.3",
    level: "spec",
    observable: "http",
    says: "A ban strikes the key whose requests led to it and no other."
  },
  {
    slug: "ban.backoff",
    section: "§8.4.3",
    level: "spec",
    observable: "not",
    says: "Clients are expected to use exponential backoff.",
    unchecked: "It speaks of clients."
  },
  {
    slug: "ban.rules",
    section: "§8.4.3",
    level: "design",
    observable: "both",
    says: "20 strikes within 5 minutes of the first ban the key."
  },
  {
    slug: "ban.strike",
    section: "§8.4.3",
    level: "design",
    observable: "both",
    says: "A strike is a refused request for which no slot is left, and a bucket holds as many slots as requests."
  },
  {
    slug: "ban.first-429",
    section: "§8.4.3",
    level: "design",
    observable: "both",
    says: "A 429 that is told a slot of its own is no strike."
  },
  {
    slug: "ban.strike-interval",
    section: "§8.4.3",
    level: "design",
    observable: "both",
    says: "At most one strike is counted in a second, so a burst is one offence."
  },
  {
    slug: "ban.strikes-expire",
    section: "§8.4.3",
    level: "design",
    observable: "both",
    says: "Five minutes after the first strike a new count begins."
  },
  {
    slug: "ban.answer",
    section: "§8.4.3",
    level: "design",
    observable: "http",
    says: "A banned key answers 429 with the code `api_key_banned`."
  },
  {
    slug: "ban.headers",
    section: "§8.3",
    level: "design",
    observable: "both",
    says: "During a ban Limit is the requests per minute, Remaining 0 and Reset the end of the ban."
  },
  {
    slug: "ban.retry-after",
    section: "§8.4.2",
    level: "design",
    observable: "both",
    says: "During a ban `Retry-After` covers what is left of it."
  },
  {
    slug: "ban.unchanged-by-requests",
    section: "§8.4.3",
    level: "design",
    observable: "both",
    says: "Requests during a ban neither prolong it nor change anything else."
  },
  {
    slug: "ban.levels",
    section: "§8.4.3",
    level: "design",
    observable: "both",
    says: "The first ban lasts 1 minute, the next ones 5, 15 and then always 60."
  },
  {
    slug: "ban.clean-day",
    section: "§8.4.3",
    level: "design",
    observable: "both",
    says: "Each 24 hours without strike or ban make the next ban one step shorter."
  },
  {
    slug: "ban.polite-never",
    section: "§8.4.3",
    level: "design",
    observable: "both",
    says: "A client with one request at a time that waits for `Retry-After` is never banned."
  },
  {
    slug: "ban.workers-never",
    section: "§8.4.3",
    level: "design",
    observable: "both",
    says: "Clients that share a key and wait for `Retry-After`, as many as its bucket holds, are never banned."
  },
  {
    slug: "ban.day-workers-never",
    section: "§8.4.3",
    level: "design",
    observable: "both",
    says: "Eight clients that come back every 30 seconds while the day is used up are never banned."
  },
  {
    slug: "ban.capped-wait-never",
    section: "§8.4.3",
    level: "design",
    observable: "both",
    says: "A client with one request at a time that waits 30 seconds at most is never banned."
  },
  {
    slug: "ban.anonymous-never",
    section: "§8.4.3",
    level: "design",
    observable: "http",
    says: "A client without a valid key is never banned."
  },
  {
    slug: "deprecation.marked",
    section: "§4.3",
    level: "spec",
    observable: "not",
    says: "The operation getPet is marked deprecated.",
    unchecked: "The mark is in the interface description, and no response has to show it."
  },
  {
    slug: "deprecation.replacement",
    section: "§4.3",
    level: "spec",
    observable: "not",
    says: "Listing with the status filter replaces getPet.",
    unchecked: "It is advice to clients, and the filter has clauses of its own."
  },
  {
    slug: "deprecation.date",
    section: "§4.3",
    level: "design",
    observable: "http",
    says: "`Deprecation` is an `@` and the Unix time of the announcement, as in RFC 9745."
  },
  {
    slug: "deprecation.sunset",
    section: "§4.3",
    level: "design",
    observable: "http",
    says: "`Sunset` is `Thu, 05 Dec 2030 00:00:00 GMT`, as in RFC 8594."
  },
  {
    slug: "deprecation.successor",
    section: "§4.3",
    level: "design",
    observable: "http",
    says: '`Link` names the list of animals with `rel="successor-version"`.'
  },
  {
    slug: "deprecation.getpet-only",
    section: "§4.3",
    level: "design",
    observable: "http",
    says: "No answer of another operation carries `Deprecation` or `Sunset`."
  },
  {
    slug: "deprecation.described",
    section: "§4.3",
    level: "design",
    observable: "http",
    says: "The OpenAPI document marks getPet, and only it, as deprecated.",
    unchecked:
      "It lies outside the base address, which is all that the suite is given; the tests of the service hold it."
  },
  {
    slug: "deprecation.policy",
    section: "§9.4",
    level: "design",
    observable: "not",
    says: "Within v1 changes are additive, and removals announced at least 180 days ahead.",
    unchecked: "It is a promise about later versions."
  },
  {
    slug: "http.json-bodies",
    section: "§1",
    level: "spec",
    observable: "http",
    says: "Every response body is JSON."
  },
  {
    slug: "http.base-path",
    section: "§4",
    level: "spec",
    observable: "http",
    says: "The operations are found at `/pets` and `/pets/{petId}` below the base address."
  },
  {
    slug: "http.version-segment",
    section: "§9.1",
    level: "spec",
    observable: "http",
    says: "The base address has the path segment `/v1`."
  },
  {
    slug: "http.interface-version",
    section: "§9.2",
    level: "spec",
    observable: "not",
    says: "The interface description is at version 1.0.0.",
    unchecked: "No response has to show it."
  },
  {
    slug: "http.staging",
    section: "§4",
    level: "spec",
    observable: "not",
    says: "A staging environment has the same paths below a base address of its own.",
    unchecked: "Which environments exist is a matter of deployment; the suite can be run on each."
  },
  {
    slug: "http.tag",
    section: "§4",
    level: "spec",
    observable: "not",
    says: "Every operation carries the tag `animals`.",
    unchecked: "The tag is in the interface description, and no response has to show it."
  },
  {
    slug: "http.content-type",
    section: "§1",
    level: "design",
    observable: "http",
    says: "Every response with a body says `Content-Type: application/json; charset=utf-8`."
  },
  {
    slug: "http.accept",
    section: "§4",
    level: "design",
    observable: "http",
    says: "`Accept` is ignored."
  },
  {
    slug: "http.unknown-path",
    section: "§4",
    level: "design",
    observable: "http",
    says: "A path that does not exist answers 404 `not_found`."
  },
  {
    slug: "http.other-operations",
    section: "§4.4",
    level: "design",
    observable: "http",
    says: "There is no operation to update or delete an animal, and none for categories or orders."
  },
  {
    slug: "http.method-not-allowed",
    section: "§4",
    level: "design",
    observable: "http",
    says: "A method that a path does not have answers 405 `method_not_allowed` with `Allow`."
  },
  {
    slug: "http.head",
    section: "§4",
    level: "design",
    observable: "http",
    says: "HEAD answers as GET would, without the body."
  },
  {
    slug: "http.options",
    section: "§4",
    level: "design",
    observable: "http",
    says: "OPTIONS answers 204 with `Allow`."
  },
  {
    slug: "http.paths-exact",
    section: "§4",
    level: "design",
    observable: "http",
    says: "A path with a trailing slash or other letter case is another path, hence 404."
  },
  {
    slug: "http.decoded-once",
    section: "§4",
    level: "design",
    observable: "http",
    says: "The segments of a path are percent-decoded exactly once."
  },
  {
    slug: "http.malformed-escape",
    section: "§4",
    level: "design",
    observable: "http",
    says: "A malformed percent escape answers 404 in a path and 400 in a query."
  },
  {
    slug: "http.no-redirects",
    section: "§4",
    level: "design",
    observable: "http",
    says: "No answer is a redirect."
  },
  {
    slug: "http.order-of-checks",
    section: "§4",
    level: "design",
    observable: "http",
    says: "Of several faults the first in the order path, method, content type, size, content is told."
  },
  {
    slug: "http.standard-headers",
    section: "§4",
    level: "design",
    observable: "http",
    says: "Every response has `Date`, `Cache-Control: no-store`, `X-Content-Type-Options`, `X-Request-Id`."
  },
  {
    slug: "http.date",
    section: "§4",
    level: "design",
    observable: "http",
    says: "`Date` is the service's time, the one that limits and removal follow."
  },
  {
    slug: "http.request-id",
    section: "§4",
    level: "design",
    observable: "http",
    says: "No two responses have the same `X-Request-Id`."
  },
  {
    slug: "http.no-cors",
    section: "§4",
    level: "design",
    observable: "http",
    says: "No response carries CORS headers."
  },
  {
    slug: "http.probes",
    section: "§4",
    level: "design",
    observable: "http",
    says: "`/livez` and `/readyz`, outside the base path, answer 200 without key and uncounted.",
    unchecked:
      "It lies outside the base address, which is all that the suite is given; the tests of the service hold it."
  },
  {
    slug: "http.openapi",
    section: "§4",
    level: "design",
    observable: "http",
    says: "`/openapi.json`, outside the base path, is the OpenAPI document, without key and uncounted.",
    unchecked:
      "It lies outside the base address, which is all that the suite is given; the tests of the service hold it."
  },
  {
    slug: "http.servers",
    section: "§4",
    level: "design",
    observable: "not",
    says: "The base addresses that are configured are the `servers` of the OpenAPI document.",
    unchecked: "Which addresses are configured is not known outside."
  },
  {
    slug: "http.no-events",
    section: "§6",
    level: "design",
    observable: "not",
    says: "There are no events, callbacks or webhooks.",
    unchecked: "The absence of something cannot be shown by requests."
  },
  {
    slug: "pets.insert.exact",
    section: "§4.2",
    level: "design",
    observable: "port",
    says: "`insert` answers with the animal as given, every field exact, under its new id."
  },
  {
    slug: "pets.insert.id-positive",
    section: "§2",
    level: "design",
    observable: "port",
    says: "`insert` gives ids above 0."
  },
  {
    slug: "pets.insert.id-increasing",
    section: "§2",
    level: "design",
    observable: "port",
    says: "`insert` gives an id above all that were given before it began."
  },
  {
    slug: "pets.insert.id-never-reused",
    section: "§2",
    level: "design",
    observable: "port",
    says: "`insert` never gives an id twice, not even after the store was opened again."
  },
  {
    slug: "pets.insert.concurrent",
    section: "§2",
    level: "design",
    observable: "port",
    says: "Inserts at the same time get different ids, and each animal keeps its own fields."
  },
  {
    slug: "pets.insert.int64",
    section: "§2",
    level: "design",
    observable: "port",
    says: "A `categoryId` is kept exact over the whole of int64."
  },
  {
    slug: "pets.insert.names",
    section: "§2",
    level: "design",
    observable: "port",
    says: "A name is kept code point by code point, whatever it means to the database."
  },
  {
    slug: "pets.find.sees-insert",
    section: "§4.3",
    level: "design",
    observable: "port",
    says: "`find` sees every acknowledged `insert`."
  },
  {
    slug: "pets.find.exact",
    section: "§4.3",
    level: "design",
    observable: "port",
    says: "`find` answers with the animal that `insert` answered with."
  },
  {
    slug: "pets.find.none",
    section: "§4.3",
    level: "design",
    observable: "port",
    says: "`find` answers none for an id that was not given, over the whole of int64."
  },
  {
    slug: "pets.page.sees-insert",
    section: "§4.1",
    level: "design",
    observable: "port",
    says: "`page` sees every acknowledged `insert`."
  },
  {
    slug: "pets.page.exact",
    section: "§4.1",
    level: "design",
    observable: "port",
    says: "`page` answers with animals as `insert` answered with them."
  },
  {
    slug: "pets.page.order",
    section: "§4.1",
    level: "design",
    observable: "port",
    says: "`page` answers by ascending id, each animal once."
  },
  {
    slug: "pets.page.after",
    section: "§4.1",
    level: "design",
    observable: "port",
    says: "`page` answers only with animals whose id is above `after`."
  },
  {
    slug: "pets.page.status",
    section: "§4.1",
    level: "design",
    observable: "port",
    says: "`page` answers only with animals of the given status."
  },
  {
    slug: "pets.page.limit",
    section: "§4.1",
    level: "design",
    observable: "port",
    says: "`page` answers with at most `limit` animals."
  },
  {
    slug: "pets.page.first",
    section: "§4.1",
    level: "design",
    observable: "port",
    says: "`page` answers with the first animals that meet its conditions and skips none."
  },
  {
    slug: "pets.page.full",
    section: "§4.1",
    level: "design",
    observable: "port",
    says: "`page` answers with fewer than `limit` animals only when no more meet its conditions."
  },
  {
    slug: "pets.page.undefined",
    section: "§4.1",
    level: "design",
    observable: "port",
    says: "A condition of `page` that is `undefined` is left out."
  },
  {
    slug: "pets.page.kept",
    section: "§4.1",
    level: "design",
    observable: "port",
    says: "An answer of `page` is not changed by later inserts."
  },
  {
    slug: "pets.linearizable",
    section: "§4",
    level: "design",
    observable: "port",
    says: "Concurrent calls answer as if each took effect at one moment while it ran."
  },
  {
    slug: "pets.fails-typed",
    section: "§7",
    level: "design",
    observable: "port",
    says: "A method fails with `StoreUnavailable` and with nothing else."
  },
  {
    slug: "pets.failure-stores-nothing",
    section: "§7",
    level: "design",
    observable: "port",
    says: "An `insert` that fails stored nothing, unless the adapter says when that is unknown.",
    unchecked:
      "A backend that fails half-way cannot be made from outside; the tests of each adapter know how theirs breaks."
  },
  {
    slug: "pets.interruption",
    section: "§7",
    level: "design",
    observable: "port",
    says: "An interrupted call leaves the store usable and no animal stored by half."
  },
  {
    slug: "limits-store.modify.initial",
    section: "§8",
    level: "design",
    observable: "port",
    says: "`step` gets `undefined` when no state of the key is stored."
  },
  {
    slug: "limits-store.modify.stored",
    section: "§8",
    level: "design",
    observable: "port",
    says: "`step` gets the state that the latest `modify` of the key stored, every number exact."
  },
  {
    slug: "limits-store.modify.answer",
    section: "§8",
    level: "design",
    observable: "port",
    says: "`modify` answers with the value that `step` returns."
  },
  {
    slug: "limits-store.modify.atomic",
    section: "§8",
    level: "design",
    observable: "port",
    says: "No other `modify` of a key comes between reading and writing its state."
  },
  {
    slug: "limits-store.modify.keys-apart",
    section: "§8",
    level: "design",
    observable: "port",
    says: "A `modify` of one key touches the state of no other, however alike the keys are."
  },
  {
    slug: "limits-store.modify.throwing-step",
    section: "§8",
    level: "design",
    observable: "port",
    says: "A `step` that throws leaves the state as it was and the store usable."
  },
  {
    slug: "limits-store.kept",
    section: "§8",
    level: "design",
    observable: "port",
    says: "A state is not dropped before `RateLimit.spentAt` has passed."
  },
  {
    slug: "limits-store.swept",
    section: "§8",
    level: "design",
    observable: "port",
    says: "A state is dropped some time after `RateLimit.spentAt` has passed.",
    unchecked: "A store may drop late, and what it holds is not visible through the port."
  },
  {
    slug: "limits-store.consume.equal",
    section: "§8",
    level: "design",
    observable: "port",
    says: "`consume` answers, and leaves the state, as `modify` with `RateLimit.step` would."
  },
  {
    slug: "limits-store.consume.atomic",
    section: "§8",
    level: "design",
    observable: "port",
    says: "Concurrent `consume` and `modify` of one key take effect one after the other."
  },
  {
    slug: "limits-store.consume.clock",
    section: "§8",
    level: "design",
    observable: "port",
    says: "`consume` makes its step at `now` or at the time of a clock that all nodes share."
  },
  {
    slug: "limits-store.linearizable",
    section: "§8",
    level: "design",
    observable: "port",
    says: "Concurrent calls answer as if each took effect at one moment while it ran."
  },
  {
    slug: "limits-store.fails-typed",
    section: "§7",
    level: "design",
    observable: "port",
    says: "A method fails with `StoreUnavailable` and with nothing else."
  },
  {
    slug: "limits-store.failure-stores-nothing",
    section: "§7",
    level: "design",
    observable: "port",
    says: "A `modify` that fails left the state as it was, unless the adapter says when that is unknown.",
    unchecked:
      "A backend that fails half-way cannot be made from outside; the tests of each adapter know how theirs breaks."
  },
  {
    slug: "limits-store.interruption",
    section: "§7",
    level: "design",
    observable: "port",
    says: "An interrupted call leaves the store usable, the state as before or after the step."
  },
  {
    slug: "keys-store.find.by-hash",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "`findByHash` answers with the key one of whose secrets has the hash."
  },
  {
    slug: "keys-store.find.each-secret",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "A key with two secrets is found by either."
  },
  {
    slug: "keys-store.find.none",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "`findByHash` answers none for a hash that no secret has."
  },
  {
    slug: "keys-store.find.revoked",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "`findByHash` finds keys that are revoked and secrets that are expired too."
  },
  {
    slug: "keys-store.find.sees-insert",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "`findByHash` sees every acknowledged `insert`, within the adapter's documented staleness."
  },
  {
    slug: "keys-store.find.sees-update",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "`findByHash` sees every acknowledged `update`, within the adapter's documented staleness."
  },
  {
    slug: "keys-store.find.sees-insert-first",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "`findByHash` sees an acknowledged `insertFirst`, within the adapter's documented staleness."
  },
  {
    slug: "keys-store.find.dropped-secret",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "A secret that an `update` took away finds its key no longer."
  },
  {
    slug: "keys-store.exact",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "A key comes back with every field as it was stored, its secrets in the same order."
  },
  {
    slug: "keys-store.insert",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "`insert` adds the key and touches no other."
  },
  {
    slug: "keys-store.insert-first",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "`insertFirst` adds the key only when the store has none, and says whether it did."
  },
  {
    slug: "keys-store.insert-first.atomic",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "Of several `insertFirst` at the same time exactly one adds its key."
  },
  {
    slug: "keys-store.update.replaces",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "`update` replaces the key by what `change` makes of it and touches no other."
  },
  {
    slug: "keys-store.update.answer",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "`update` answers with the value that `change` returns."
  },
  {
    slug: "keys-store.update.none",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "`update` of an id that no key has answers none and changes nothing."
  },
  {
    slug: "keys-store.update.atomic",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "No other `update` of a key comes between reading and writing it."
  },
  {
    slug: "keys-store.list.all",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "`list` holds every key once."
  },
  {
    slug: "keys-store.list.order",
    section: "§5.4",
    level: "design",
    observable: "port",
    says: "`list` has the keys in the order in which they were added."
  },
  {
    slug: "keys-store.fails-typed",
    section: "§7",
    level: "design",
    observable: "port",
    says: "A method fails with `StoreUnavailable` and with nothing else."
  },
  {
    slug: "keys-store.failure-stores-nothing",
    section: "§7",
    level: "design",
    observable: "port",
    says: "A write that fails changed nothing, unless the adapter says when that is unknown.",
    unchecked:
      "A backend that fails half-way cannot be made from outside; the tests of each adapter know how theirs breaks."
  },
  {
    slug: "keys-store.interruption",
    section: "§7",
    level: "design",
    observable: "port",
    says: "An interrupted call leaves the store usable and no key stored by half."
  }
] as const satisfies ReadonlyArray<Clause>

/** The slug of one of the clauses. */
export type ClauseSlug = (typeof clauses)[number]["slug"]

/** The clauses by slug; given any text, so that what a person typed can be looked up. */
export const bySlug: ReadonlyMap<string, Clause> = new Map(clauses.map((clause) => [clause.slug, clause]))
