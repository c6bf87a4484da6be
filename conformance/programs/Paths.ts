/** Lists paths below the base address, methods, and spellings of the id in the path of an animal (contract §4). */
import { words } from "./Words.ts"

/** Paths that the contract does not describe; `ID` stands for the id of an animal. */
export const paths = [
  ...words(
    "/pets/ /pets// //pets /PETS /Pets /pet /pets/ID/ /pets//ID /pets/ID/1 /PETS/ID /pets/ID/photos /"
  ),
  ...words(
    "/nothing /store/orders /store/orders/1 /categories /pets%2F1 /%70ets /p%65ts/ID /%2570ets /pets%"
  ),
  ...words("/pets%20 /%zz /pets%00 /pets;a=1 /pets.json /pets/ID.json /pets/../pets /pets/./ID /./pets"),
  ...words("/pets/%2e%2e/pets /pets/ID%2F /pets?/1 /health /openapi.json /favicon.ico /v1/pets"),
  `/pets/${"9".repeat(2_000)}`
]

/** Methods other than those of the contract. */
export const methods = words("HEAD OPTIONS PUT PATCH DELETE PROPFIND TRACE QUERY FOO get Post")

/** Ids of which no animal is likely to exist, and segments that are no id. */
export const otherIds = [
  ...words("5318008317345021 0 -1 2147483647 2147483648 4294967295 9007199254740993 9223372036854775807"),
  ...words("-9223372036854775808 9223372036854775808 -9223372036854775809 18446744073709551616"),
  ...words("99999999999999999999999999999999999999999 abc null NaN - -0 1e0 true undefined %F0%9F%90%88"),
  ...words("%FF %zz %3 %00 %20 %27%20OR%201=1-- * [1] {petId} :petId _ D9%A1")
]

/** Spellings of the id of an animal that may be taken for it. */
export const spellings: ReadonlyArray<(id: bigint) => string> = [
  ...words("0ID +ID %2BID ID.0 ID.5 ID. IDe0 %20ID ID%20 ID%0A ID%00 IDabc abcID IDn ID,ID -ID ID0").map(
    (spelling) => (id: bigint) => spelling.replaceAll("ID", String(id))
  ),
  (id) => `%22${id}%22`,
  (id) => `${id}?limit=1`,
  (id) => `0x${id.toString(16)}`,
  (id) => String(id + 2n ** 32n),
  (id) => String(id + 2n ** 64n),
  (id) => String(id - 2n ** 64n),
  // Percent-encoded once and twice, and in Arabic digits.
  (id) => String(id).replaceAll(/[0-9]/g, "%3$&"),
  (id) => String(id).replaceAll(/[0-9]/g, "%253$&"),
  (id) => String(id).replaceAll(/[0-9]/g, "%D9%A$&")
]
