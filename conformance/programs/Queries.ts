/** Lists values of the query parameters of a list (contract §4.1), percent-encoded as they are sent. */
import { words } from "./Words.ts"

/** Limits that every server accepts. */
export const limits = words("1 100 20 2 99 21 19 10")

export const statuses = ["available", "pending", "sold"] as const

/** Integers that are no limits, around the boundaries of the contract and of integer types. */
export const otherNumbers = [
  ...words("101 0 -1 102 1000 2147483647 2147483648 4294967295 4294967301 9007199254740993"),
  ...words("9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551621"),
  ...words("-9223372036854775809 100000000000000000000000000005 340282366920938463463374607431768211461")
]

/** Other texts for a limit, some with a second one. */
export const unusualLimits = [
  "",
  ...words("05 00 007 +5 %2B5 5.0 5.5 .5 5. 1e1 1E1 1e2 1e3 0x10 0b11 0o17 1_0 1,0 5n 5abc abc -0 --5 5-"),
  ...words("5%25 %205 5%20 +5+ %095 5%0A 5%00 %22%22 '5' [5] all null NaN true undefined Infinity %D9%A5"),
  ...words("%EF%BC%95 %C2%B2 %35 %31%30 %zz % 5&limit=5 1&limit=100 100&limit=1 100&limit=1000"),
  ...words("1000&limit=100 &limit=5 5&%6Cimit=6 5;status=sold")
]

export const unusualStatuses = [
  "",
  ...words("SOLD Pending aVAILABLE sol solds s_ld sol%25 %25 * %20sold sold%20 +sold sold%00 sold%0A 0 1"),
  ...words("lost null undefined all toString __proto__ sold,pending sold|pending sold%2Cpending sold'--"),
  ...words(
    "'%20OR%20'1'='1 %C5%BFold s%6Fld %73old %22sold%22 ['sold'] sold&status=sold sold&status=pending"
  ),
  ...words("&status=sold sold&%73tatus=pending %zz sold% %FF")
]

/** Parameters that the contract does not name. */
export const others = [
  ...words(
    "zz=1 Limit=1 LIMIT=2 limit%20=1 limit[]=1 Status=sold STATUS=pending status[]=sold offset=1 page=2"
  ),
  ...words("page=0 sort=-id name=a categoryId=1 per_page=1 constructor=1 __proto__=1"),
  ...words("_method=DELETE format=xml debug=1 = & && ?limit=1 cursor= cursor=0 cursor=MQ== after=0")
]

/** No filter, and each one by a status. */
export const filters = ["", ...statuses.map((status) => `status=${status}`)]

/** Joins parameters to the path of a list, except empty ones. */
export const list = (...parameters: ReadonlyArray<string>): string => {
  const given = parameters.filter((parameter) => parameter !== "")
  return given.length === 0 ? "/pets" : `/pets?${given.join("&")}`
}
