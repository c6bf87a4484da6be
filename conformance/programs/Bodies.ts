/** Lists bodies of creations (contract §2 `NewPet`, §4.2): ways to write the same animal, and values of each field. */
import { bytes, type Header } from "../http/Wire.ts"
import type { Sent } from "./Program.ts"
import { words } from "./Words.ts"

/** The members of a body: names, and values in JSON. */
export type Members = ReadonlyArray<readonly [name: string, json: string]>

/** How members are written and sent. */
export interface Form {
  readonly write: (members: Members) => string | Uint8Array
  readonly headers?: ReadonlyArray<Header>
}

const joined = (members: Members, name: (text: string) => string = JSON.stringify): string =>
  `{${members.map(([key, json]) => `${name(key)}:${json}`).join(",")}}`

export const plain: Form = { write: (members) => joined(members) }

/** Writes one escape for each UTF-16 unit of the strings in a text. */
const escaped = (text: string): string =>
  text.replaceAll(
    /"(?:[^"\\]|\\.)*"/g,
    (string) =>
      `"${(JSON.parse(string) as string).replaceAll(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`)}"`
  )

/** Forms of JSON text (RFC 8259). */
export const forms: ReadonlyArray<Form> = [
  { write: (members) => joined(members.map(([name, json]) => [name, escaped(json)])) },
  { write: (members) => joined(members, (name) => escaped(JSON.stringify(name))) },
  {
    write: (members) =>
      `\r\n\t {${members.map(([name, json]) => ` "${name}"\t:\n${json} `).join(" ,\r\n")}} \n`
  },
  { write: (members) => joined(members.toReversed()) },
  { write: plain.write, headers: [["Transfer-Encoding", "chunked"]] }
]

/** Adds members to a body, in JSON. */
export const adding = (json: string): Form => ({
  write: (members) => `${joined(members).slice(0, -1)},${json}}`
})

/** Changes the JSON text of the members. */
const changed = (write: (json: string) => string | Uint8Array): Form => ({
  write: (members) => write(joined(members))
})

/** What is sent instead of the members; `@` stands for their JSON text. */
const texts = [
  ...words(`@x @{} @, @] @; @} x@ [@] {"pet":@} nonsense null true 1 "name" [] {}`),
  ...["@\0", "# a\n@", ")]}',\n@", "\u00a0@", "\f@", "\ufeff@", "", " \n"],
  ...["[".repeat(20_000), '{"a":'.repeat(12_000)]
]

/** Changes to the JSON text of the members: what is replaced, and by what. */
const replacements: ReadonlyArray<readonly [RegExp, string]> = [
  // Comments at each place where JSON allows white space.
  ...[/^/, /(?<=\{)/, /(?<=:)/, /(?<=,)/, /(?=\}$)/, /$/].flatMap((place) =>
    ["/* a */", "\n// a\n"].map((comment) => [place, comment] as const)
  ),
  [/\}$/, ",}"],
  [/\{/, "{,"],
  [/,"/g, ' "'],
  [/"/g, "'"],
  [/"(\w+)":/g, "$1:"],
  [/":/g, '"='],
  [/\}$/, ""],
  // The text ends with a number.
  [/(?:,"status".*)?\}$/, ""],
  // In the name alone, which may be the only string that a server reads too generously.
  ...["\n", "\t", "\\x41", "\\u12"].map((end) => [/"(?=,)/, `${end}"`] as const)
]

/** Forms that are no JSON text, or that servers read differently. */
export const unusualForms: ReadonlyArray<Form> = [
  ...texts.map((text) => changed((json) => text.replace("@", () => json))),
  ...replacements.map(([from, to]) => changed((json) => json.replace(from, to))),
  ...[1, 3, 4, 6].map((eighths) => changed((json) => json.slice(0, (json.length * eighths) >> 3))),
  // Latin-1, an invalid byte, an overlong NUL and a surrogate, each at the end of the first string value.
  ...[[0xe9], [0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80]].map((given) =>
    changed((json) => {
      const at = json.indexOf('",')
      return Uint8Array.from([...bytes(json.slice(0, at)), ...given, ...bytes(json.slice(at))])
    })
  ),
  changed((json) => Buffer.from(`\ufeff${json}`, "utf16le")),
  changed((json) => Buffer.from(`\ufeff${json}`, "utf16le").swap16()),
  changed(JSON.stringify),
  // In a member that a server may skip without reading it.
  ...words(`"a":NaN "a":-Infinity "a":01 "a":'x' "a":[1,]`).map(adding),
  {
    write: (members) => members.map(([name, json]) => `${name}=${json.replaceAll('"', "")}`).join("&")
  },
  ...["gzip", "identity"].map((coding) => ({
    write: plain.write,
    headers: [["Content-Encoding", coding] as const]
  })),
  { write: (members) => `${joined(members)}x`, headers: [["Transfer-Encoding", "chunked"]] }
]

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels)

/** Members that are added to a valid body, in JSON. */
export const additions: ReadonlyArray<string> = [
  ...words(`"colour":"red" "id":1 "id":7310452986017342 "id":"x" "Name":"Other","NAME":"Another" "":1`),
  ...words(`"CategoryId":2,"categoryid":3 "category_id":2 "Status":"sold" "STATUS":"lost" "name":"Other"`),
  ...words(`"categoryId":2 "status":"sold","status":"pending" "n\\u0061me":"Other" "pet.name":"Other"`),
  ...words(`"__proto__":{"status":"sold"} "constructor":{"prototype":{"status":"sold"}} "a":1e999999999`),
  ...[20, 31, 32, 500].map((levels) => `"a":${nested(levels)}`),
  ...[900, 9_000, 70_000].map((length) => `"a":"${"x".repeat(length)}"`)
]

/** Names of members that replace those of the contract. */
const otherNames: Readonly<Record<string, ReadonlyArray<string>>> = {
  name: ["Name", "NAME", "name "],
  categoryId: ["CategoryId", "CATEGORYID", "categoryid", "category_id", "categoryId "],
  status: ["Status", "STATUS", "status "]
}

/** The values of a field in JSON; `undefined` for an absent field. */
const of = (text: string): ReadonlyArray<string | undefined> => [undefined, ...words(text)]

/** Invalid and unusual values of each field, one of which makes a body invalid or open. */
export const fieldValues = {
  name: of(`null "" 5 0 true false [] {} ["a"] {"a":1} 1.5 NaN`),
  categoryId: [
    ...of(`null "1" "" "abc" true false [] [1] {} {"id":1} 1.5 -0.1 5e-1 1e400 -1e400 1e19 1.0 1e0 10e-1`),
    ...words("1e3 -0 9223372036854775808 -9223372036854775809 18446744073709551617 36893488147419103233"),
    ...words("100000000000000000000000000005 01 +1 0x1 1. .5 1_0 1n NaN Infinity - '1'"),
    ...[`1e${"9".repeat(300)}`, `0.${"0".repeat(3_000)}1`]
  ],
  status: [
    ...of(
      `null "" "SOLD" "Sold" "lost" "unknown" "sol" "solds" "sold,pending" 0 1 true false [] ["sold"] {}`
    ),
    ...words(`"\\u0073old" sold`),
    '"sold "'
  ]
} as const

/** Categories that a double cannot represent. */
export const inexactCategories = ["9007199254740993", "-9007199254740993", "9223372036854775807"]

export const categories = [
  ...words("0 -1 2147483647 2147483648 -2147483649 4294967296 9007199254740991 9007199254740992"),
  ...words("-9223372036854775808 1234567890123456789"),
  ...inexactCategories
]

/** Values of Content-Type, several if it is sent twice. */
export const contentTypes: ReadonlyArray<ReadonlyArray<string>> = [
  ...words(`Application/JSON application/json;charset="UTF-8" application/json; json text/plain text/json`),
  ...words("application/x-www-form-urlencoded application/problem+json application/jsonp"),
  ...["utf-8", "iso-8859-1", "utf-16"].map((charset) => `application/json; charset=${charset}`),
  ...["application/json; version=1", "application/json, text/plain", "multipart/form-data; boundary=x"],
  ...["application/octet-stream", ""]
]
  .map((type): ReadonlyArray<string> => [type])
  .concat([[], ["application/json", "application/json"], ["application/json", "text/plain"]])

/** Returns the creation with these members. */
export const creation = (
  members: Members,
  { headers = [], write }: Form = plain,
  types: ReadonlyArray<string> = ["application/json"]
): Sent => ({
  method: "POST",
  path: "/pets",
  headers: [...types.map((type): Header => ["Content-Type", type]), ...headers],
  body: write(members)
})

/** Returns members with another value of a field in JSON, or without the field. */
export const withValue = (given: Members, field: string, json: string | undefined): Members => {
  const others = given.filter(([name]) => name !== field)
  return json === undefined ? others : [...others, [field, json]]
}

/** Creations that are invalid or open in one way. */
export const unusual: ReadonlyArray<(valid: Members) => Sent> = [
  ...Object.entries(fieldValues).flatMap(([field, values]) =>
    values.map((json) => (valid: Members) => creation(withValue(valid, field, json)))
  ),
  ...Object.entries(otherNames).flatMap(([field, others]) =>
    others.map(
      (other) => (valid: Members) =>
        creation(valid.map(([name, json]) => [name === field ? other : name, json] as const))
    )
  ),
  ...unusualForms.map((form) => (valid: Members) => creation(valid, form)),
  ...contentTypes.map((types) => (valid: Members) => creation(valid, plain, types)),
  // A member that is taken for the status shows if none was sent.
  ...forms.map((form) => (valid: Members) => creation(valid, form)),
  ...additions.map(
    (added) => (valid: Members) =>
      creation(/^"status"/i.test(added) ? withValue(valid, "status", undefined) : valid, adding(added))
  )
]
