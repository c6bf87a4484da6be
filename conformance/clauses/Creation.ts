/** Clauses about creating an animal: the request body and the accepted values. */
import { design, optional, spec, unlessFull } from "./Clause.ts"

export const clauses = [
  ...spec({
    "create.status-201": "§4.2: A creation with a plain name and an existing category gets 201.",
    "create.returns-created":
      "§4.2: The response to a creation contains the name and the category that were sent.",
    "create.id-assigned": "§4.2: The response to a creation contains the `id` that the service assigned.",
    "create.name-required": "§4.2: A creation without `name` gets 400.",
    "create.category-required": "§4.2: A creation without `categoryId` gets 400.",
    "create.body-required": "§4.2: A creation that declares a JSON body but has none gets 400.",
    "create.body-object": "§4.2: A creation whose body is JSON but not an object gets 400.",
    "create.content-type-accepted": "§4.2: A creation sent as `application/json` is accepted.",
    "create.concurrent": "§4.2: Concurrent creations all take effect, each with its own `id`.",
    "create.status-accepted":
      "§2: Each of `available`, `pending` and `sold` is accepted as the status of a new animal.",
    "create.status-kept": "§2: The response to a creation contains the status that was sent.",
    "create.name-type": "§2: A creation whose `name` is not a JSON string gets 400.",
    "create.category-type":
      "§2: A creation whose `categoryId` is not a JSON number, or has a fraction such as 1.5, gets 400.",
    "create.category-range": "§2: A creation whose `categoryId` is outside int64 gets 400.",
    "create.int64-exact": "§2: An accepted `categoryId` is returned exactly, even beyond 2⁵³.",
    "create.status-enum":
      "§2: A creation whose `status` is neither one of the three values nor null gets 400.",
    "create.member-names": optional(
      "§2: A member whose name differs from `status` in case does not set the status.",
      "No creation with a member such as `Status` was accepted."
    ),
    "create.status-chosen":
      "§2: All animals that are created without a status get the same one, or all of them none.",
    "create.json-syntax": "§1: A creation whose body is not JSON text (RFC 8259) gets 400.",
    "create.json-strict": "§1: A creation whose body has text after its JSON value gets 400.",
    "create.refused-unstored": unlessFull("§7: A rejected creation adds no animal.")
  }),
  ...design({
    "create.name-characters":
      "§2: A name of 1 to 255 code points is accepted, unless it consists only of white space or contains U+0000 or a lone surrogate; any other gets 400.",
    "create.name-exact": "§2: A name is returned exactly as sent, neither trimmed nor normalized.",
    "create.name-not-unique": "§2: Several animals may have the same name.",
    "create.category-any":
      "§2: Every int64 is accepted as `categoryId`, 0 and negative numbers too, in any JSON spelling: `1.0` and `1e3` mean 1 and 1000.",
    "create.status-default": "§2: An animal created without a status is stored and shown as `available`.",
    "create.status-null": "§2: A creation whose `status` is null gets 400.",
    "create.unknown-fields": "§2: Unknown fields, and an `id`, are ignored and not returned.",
    "create.json-duplicates": "§4.2: A creation whose body repeats a member name within one object gets 400.",
    "create.json-depth": "§4.2: A creation whose body is nested more than 32 levels deep gets 400.",
    "create.json-utf8":
      "§4.2: A creation whose body is not UTF-8, or begins with a byte order mark, gets 400.",
    "create.content-type":
      "§4.2: A creation with another content type than `application/json`, in any case and with no parameter but `charset=utf-8`, with none, or with a `Content-Encoding`, gets 415.",
    "create.body-size":
      "§4.2: A body of more than 64 KiB, counted in bytes received, is rejected with 413; any other is accepted.",
    "create.location":
      "§4.2: While getPet exists, a 201 response has `Location` with the URL of the new animal."
  })
]
