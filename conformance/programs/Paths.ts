/** Lists paths below the base address, methods, and spellings of the id in the path of an animal (contract §4). */

const words = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/)

/** Paths that the contract does not describe; `ID` stands for the id of an animal. */
export const paths = [
  ...words(
    "/pets/ /pets// //pets /PETS /Pets /pet /pets/ID/ /pets//ID /pets/ID/1 /PETS/ID /pets/ID/photos / /nothing"
  ),
  ...words(
    "/store/orders /store/orders/1 /categories /pets%2F1 /%70ets /p%65ts/ID /%2570ets /pets% /pets%20 /%zz"
  ),
  ...words(
    "/pets%00 /pets;a=1 /pets.json /pets/ID.json /pets/../pets /pets/./ID /./pets /pets/%2e%2e/pets /pets/ID%2F"
  ),
  ...words("/pets?/1 /health /openapi.json /favicon.ico /v1/pets"),
  `/pets/${"9".repeat(2_000)}`
] as const

/** Methods other than those of the contract. */
export const methods = words("HEAD OPTIONS PUT PATCH DELETE PROPFIND TRACE QUERY FOO get Post")

/** Ids of which no animal is likely to exist, and segments that are no id. */
export const otherIds = [
  ...words("5318008317345021 0 -1 2147483647 2147483648 4294967295 9007199254740993 9223372036854775807"),
  ...words("-9223372036854775808 9223372036854775808 -9223372036854775809 18446744073709551616"),
  ...words(
    "99999999999999999999999999999999999999999 abc null NaN - -0 1e0 true undefined %F0%9F%90%88 %FF %zz %3"
  ),
  ...words("%00 %20 %27%20OR%201=1-- * [1] {petId} :petId _ D9%A1")
]

/** Spellings of the id of an animal that may be taken for it. */
export const spellings: Readonly<Record<string, (id: bigint) => string>> = {
  "percent-encoded": (id) => String(id).replaceAll(/[0-9]/g, (digit) => `%3${digit}`),
  "encoded twice": (id) => String(id).replaceAll(/[0-9]/g, (digit) => `%253${digit}`),
  "a zero before": (id) => `0${id}`,
  "a plus sign": (id) => `+${id}`,
  "an encoded plus sign": (id) => `%2B${id}`,
  "a fraction of zero": (id) => `${id}.0`,
  "a fraction": (id) => `${id}.5`,
  "a full stop after": (id) => `${id}.`,
  "an exponent": (id) => `${id}e0`,
  hexadecimal: (id) => `0x${id.toString(16)}`,
  "a space before": (id) => `%20${id}`,
  "a space after": (id) => `${id}%20`,
  "a newline after": (id) => `${id}%0A`,
  "NUL after": (id) => `${id}%00`,
  "letters after": (id) => `${id}abc`,
  "letters before": (id) => `abc${id}`,
  "a letter for bigint": (id) => `${id}n`,
  "a comma": (id) => `${id},${id}`,
  "a minus sign": (id) => `-${id}`,
  "2^32 more": (id) => String(id + 2n ** 32n),
  "2^64 more": (id) => String(id + 2n ** 64n),
  "2^64 less": (id) => String(id - 2n ** 64n),
  "a digit more": (id) => `${id}0`,
  quoted: (id) => `%22${id}%22`,
  "a query": (id) => `${id}?limit=1`,
  "other digits": (id) =>
    encodeURIComponent(String(id).replaceAll(/[0-9]/g, (digit) => String.fromCharCode(0x660 + Number(digit))))
}
