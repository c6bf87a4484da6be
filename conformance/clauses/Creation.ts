/** Clauses about creating an animal: the request body and the accepted values. */
import { optional, section, unlessFull } from "./Clause.ts"

export const clauses = [
  ...section("§4.2", "spec", "http", {
    "create.status-201": "A creation with a plain name and an existing category gets 201.",
    "create.returns-created": "The response to a creation contains the name and the category that were sent.",
    "create.id-assigned": "The response to a creation contains the `id` that the service assigned.",
    "create.name-required": "A creation without `name` gets 400.",
    "create.category-required": "A creation without `categoryId` gets 400.",
    "create.body-required": "A creation that declares a JSON body but has none gets 400.",
    "create.body-object": "A creation whose body is JSON but not an object gets 400.",
    "create.content-type-accepted": "A creation sent as `application/json` is accepted.",
    "create.concurrent": "Concurrent creations all take effect, each with its own `id`."
  }),
  ...section("§2", "spec", "http", {
    "create.status-accepted":
      "Each of `available`, `pending` and `sold` is accepted as the status of a new animal.",
    "create.status-kept": "The response to a creation contains the status that was sent.",
    "create.name-type": "A creation whose `name` is not a JSON string gets 400.",
    "create.category-type":
      "A creation whose `categoryId` is not a JSON number, or has a fraction such as 1.5, gets 400.",
    "create.category-range": "A creation whose `categoryId` is outside int64 gets 400.",
    "create.int64-exact": "An accepted `categoryId` is returned exactly, even beyond 2⁵³.",
    "create.status-enum": "A creation whose `status` is neither one of the three values nor null gets 400.",
    "create.member-names": optional(
      "A member whose name differs from `status` in case does not set the status.",
      "The service rejects unknown members."
    ),
    "create.status-chosen":
      "All animals that are created without a status get the same one, or all of them none."
  }),
  ...section("§1", "spec", "http", {
    "create.json-syntax": "A creation whose body is not JSON text (RFC 8259) gets 400.",
    "create.json-strict": "A creation whose body has text after its JSON value gets 400."
  }),
  ...section("§7", "spec", "http", {
    "create.refused-unstored": unlessFull("A rejected creation adds no animal.")
  }),
  ...section("§2", "design", "http", {
    "create.name-length":
      "A name of 1 to 255 code points is accepted; an empty or longer one is rejected with 400.",
    "create.name-blank": "A name that consists only of white space is rejected with 400.",
    "create.name-characters":
      "A name may contain any character except U+0000 and lone surrogates, which are rejected with 400.",
    "create.name-exact": "A name is returned exactly as sent, neither trimmed nor normalized.",
    "create.name-not-unique": "Several animals may have the same name.",
    "create.category-any": "Every int64 is accepted as `categoryId`, including 0 and negative numbers.",
    "create.category-by-value":
      "Any JSON spelling of an integer is accepted as `categoryId`: `1.0` and `1e3` mean 1 and 1000.",
    "create.number-cost":
      "A number such as `1e999999999` is rejected with 400 as fast as any other invalid value.",
    "create.status-default": "An animal created without a status is stored and shown as `available`.",
    "create.status-null": "A creation whose `status` is null gets 400.",
    "create.unknown-fields": "Unknown fields are ignored and not returned.",
    "create.id-ignored": "An `id` in the body of a creation is ignored."
  }),
  ...section("§4.2", "design", "http", {
    "create.json-duplicates": "A creation whose body repeats a member name within one object gets 400.",
    "create.json-depth": "A creation whose body is nested more than 32 levels deep gets 400.",
    "create.json-utf8": "A creation whose body is not UTF-8, or begins with a byte order mark, gets 400.",
    "create.content-type":
      "A creation with a content type other than `application/json`, or without one, gets 415.",
    "create.content-type-form":
      "The content type is case-insensitive, and `utf-8` is the only charset allowed.",
    "create.content-encoding": "A creation with a `Content-Encoding` gets 415.",
    "create.body-size": "A body of more than 64 KiB is rejected with 413.",
    "create.body-size-accepted": "A body of up to 64 KiB is accepted.",
    "create.body-size-counted":
      "The size of a body is the number of bytes received, whether or not its length was declared.",
    "create.location": "While getPet exists, a 201 response has `Location` with the URL of the new animal."
  }),
  ...section("§7", "design", "http", {
    "create.codes":
      "A 400 response caused by the body has the code `invalid_json` if the JSON is invalid, otherwise `invalid_body`."
  })
]
