/** Lists bodies of creations (contract §2 `NewPet`, §4.2): ways to write the same animal, and values of each field. */
import { bytes, type Header } from "../http/Wire.ts"
import type { Sent } from "./Program.ts"

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
const escaped = (text: string, digits = (hex: string) => hex): string =>
  text.replaceAll(
    /"(?:[^"\\]|\\.)*"/g,
    (string) =>
      `"${(JSON.parse(string) as string).replaceAll(/[\s\S]/g, (unit) => `\\u${digits(unit.charCodeAt(0).toString(16).padStart(4, "0"))}`)}"`
  )

const values =
  (change: (json: string) => string): Form["write"] =>
  (members) =>
    joined(members.map(([name, json]) => [name, change(json)] as const))

const around =
  (before: string, after: string): Form["write"] =>
  (members) =>
    before + joined(members) + after

/** Forms of JSON text (RFC 8259). */
export const forms: Readonly<Record<string, Form>> = {
  escapes: { write: values(escaped) },
  "escapes in capitals": { write: values((json) => escaped(json, (hex) => hex.toUpperCase())) },
  "escaped member names": { write: (members) => joined(members, (name) => escaped(JSON.stringify(name))) },
  "white space": {
    write: (members) =>
      `\r\n\t {${members.map(([name, json]) => ` "${name}"\t:\n${json} `).join(" ,\r\n")}} \n`
  },
  "members reversed": { write: (members) => joined(members.toReversed()) },
  chunks: { write: plain.write, headers: [["Transfer-Encoding", "chunked"]] }
}

const utf16 = (text: string, isBig: boolean): Uint8Array =>
  Uint8Array.from(
    [...Array(text.length).keys()].flatMap((at) => {
      const unit = text.charCodeAt(at)
      return isBig ? [unit >> 8, unit & 255] : [unit & 255, unit >> 8]
    })
  )

/** Replaces the last character of the first string value by raw bytes. */
const raw =
  (...given: ReadonlyArray<number>): Form["write"] =>
  (members) => {
    const text = joined(members)
    const at = text.indexOf('",')
    return Uint8Array.from([...bytes(text.slice(0, at)), ...given, ...bytes(text.slice(at))])
  }

const cut = (eighths: number): Form => ({
  write: (members) => joined(members).slice(0, (joined(members).length * eighths) >> 3)
})

/** Forms that are no JSON text, or that servers read differently. */
export const unusualForms: Readonly<Record<string, Form>> = {
  "text after": { write: around("", "x") },
  "an object after": { write: around("", "{}") },
  "a comma after": { write: around("", ",") },
  "a bracket after": { write: around("", "]") },
  "a semicolon after": { write: around("", ";") },
  "NUL after": { write: around("", "\0") },
  "a comment after": { write: around("", "/* a */") },
  "a line comment after": { write: around("", "\n// a") },
  "a comment before": { write: around("/* a */", "") },
  "a line comment before": { write: around("// a\n", "") },
  "a hash comment before": { write: around("# a\n", "") },
  "a comment inside": { write: (members) => joined(members).replace(":", ":/* a */") },
  "a line comment inside": { write: (members) => joined(members).replace(",", ",// a\n") },
  "text before": { write: around("x", "") },
  "a guard before": { write: around(")]}',\n", "") },
  "a no-break space before": { write: around("\u00a0", "") },
  "a form feed before": { write: around("\f", "") },
  "a trailing comma": { write: (members) => joined(members).replace(/\}$/, ",}") },
  "a leading comma": { write: (members) => joined(members).replace("{", "{,") },
  "no commas": { write: (members) => joined(members).replaceAll(',"', ' "') },
  "single quotes": { write: (members) => joined(members).replaceAll('"', "'") },
  "names without quotes": { write: (members) => joined(members, (name) => name) },
  "equals signs": { write: (members) => joined(members).replaceAll('":', '"=') },
  "no closing brace": { write: (members) => joined(members).slice(0, -1) },
  "no closing brace after a number": {
    write: (members) => joined(members.filter(([name]) => name !== "status")).slice(0, -1)
  },
  "an eighth of the text": cut(1),
  "three eighths of the text": cut(3),
  "four eighths of the text": cut(4),
  "six eighths of the text": cut(6),
  "two closing braces": { write: around("", "}") },
  "an array around": { write: around("[", "]") },
  "an object around": { write: around('{"pet":', "}") },
  "a string around": { write: (members) => JSON.stringify(joined(members)) },
  "a raw newline in a string": { write: values((json) => json.replace(/"$/, '\n"')) },
  "a raw tab in a string": { write: values((json) => json.replace(/"$/, '\t"')) },
  "an unknown escape": { write: values((json) => json.replace(/"$/, '\\x41"')) },
  "half an escape": { write: values((json) => json.replace(/"$/, '\\u12"')) },
  "a byte order mark": { write: around("\ufeff", "") },
  "UTF-16 LE": { write: (members) => utf16(`\ufeff${joined(members)}`, false) },
  "UTF-16 BE": { write: (members) => utf16(`\ufeff${joined(members)}`, true) },
  "Latin-1": { write: raw(0xe9) },
  "an invalid byte": { write: raw(0xff) },
  "an overlong NUL": { write: raw(0xc0, 0x80) },
  "a surrogate in UTF-8": { write: raw(0xed, 0xa0, 0x80) },
  "URL-encoded members": {
    write: (members) => members.map(([name, json]) => `${name}=${json.replaceAll('"', "")}`).join("&")
  },
  "gzip as coding": { write: plain.write, headers: [["Content-Encoding", "gzip"]] },
  "identity as coding": { write: plain.write, headers: [["Content-Encoding", "identity"]] },
  "text after, in chunks": { write: around("", "x"), headers: [["Transfer-Encoding", "chunked"]] },
  "no body": { write: () => "" },
  "white space only": { write: () => " \n" },
  "no JSON": { write: () => "nonsense" },
  null: { write: () => "null" },
  true: { write: () => "true" },
  "a number": { write: () => "1" },
  "a string": { write: () => '"name"' },
  "an empty array": { write: () => "[]" },
  "an empty object": { write: () => "{}" },
  "open brackets": { write: () => "[".repeat(20_000) },
  "open objects": { write: () => '{"a":'.repeat(12_000) }
}

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels)

/** Members that are added to a valid body. */
export const additions: Readonly<Record<string, Members>> = {
  "an unknown member": [["colour", '"red"']],
  "an id": [["id", "1"]],
  "a large id": [["id", "7310452986017342"]],
  "an id as text": [["id", '"x"']],
  "Name and NAME": [
    ["Name", '"Other"'],
    ["NAME", '"Another"']
  ],
  CategoryId: [
    ["CategoryId", "2"],
    ["categoryid", "3"]
  ],
  category_id: [["category_id", "2"]],
  "Status sold": [["Status", '"sold"']],
  "STATUS lost": [["STATUS", '"lost"']],
  "the same name again": [["name", '"Other"']],
  "a category again": [["categoryId", "2"]],
  "a status twice": [
    ["status", '"sold"'],
    ["status", '"pending"']
  ],
  "a name again, escaped": [["n\\u0061me", '"Other"']],
  "a prototype": [["__proto__", '{"status":"sold"}']],
  "a constructor": [["constructor", '{"prototype":{"status":"sold"}}']],
  "an empty member name": [["", "1"]],
  "a member named with a dot": [["pet.name", '"Other"']],
  "20 levels": [["a", nested(20)]],
  "31 levels": [["a", nested(31)]],
  "32 levels": [["a", nested(32)]],
  "500 levels": [["a", nested(500)]],
  "900 bytes": [["a", `"${"x".repeat(900)}"`]],
  "9,000 bytes": [["a", `"${"x".repeat(9_000)}"`]],
  "70,000 bytes": [["a", `"${"x".repeat(70_000)}"`]],
  "a huge number": [["a", "1e999999999"]]
}

/** Names of members that replace those of the contract. */
export const otherCases: Readonly<Record<string, (name: string) => string>> = {
  capitalized: (name) => name.charAt(0).toUpperCase() + name.slice(1),
  "in capitals": (name) => name.toUpperCase(),
  "in small letters": (name) => name.toLowerCase(),
  "in snake case": (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  "with a space": (name) => `${name} `
}

/** The values of a field in JSON; `undefined` for an absent field. */
const of = (text: string): ReadonlyArray<string | undefined> => [undefined, ...text.trim().split(/\s+/)]

/** Invalid and unusual values of each field, one of which makes a body invalid or open. */
export const fieldValues = {
  name: of(`null "" 5 0 true false [] {} ["a"] {"a":1} 1.5 NaN`),
  categoryId: [
    ...of(
      `null "1" "" "abc" true false [] [1] {} {"id":1} 1.5 -0.1 5e-1 1e400 -1e400 1e19 1.0 1e0 10e-1 1e3 -0`
    ),
    ...["9223372036854775808", "-9223372036854775809", "18446744073709551617", "36893488147419103233"],
    ...["100000000000000000000000000005", `1e${"9".repeat(300)}`, `0.${"0".repeat(3_000)}1`],
    ...["01", "+1", "0x1", "1.", ".5", "1_0", "1n", "NaN", "Infinity", "-", "'1'"]
  ],
  status: of(
    `null "" "SOLD" "Sold" "lost" "unknown" "sold\u00a0" "sol" "solds" "sold,pending" 0 1 true false [] ["sold"] {} "\\u0073old" sold`
  ).map((json) => json?.replace("\u00a0", " "))
} as const

/** Categories that a double cannot represent. */
export const inexactCategories = ["9007199254740993", "-9007199254740993", "9223372036854775807"]

export const categories = [
  "0 -1 2147483647 2147483648 -2147483649 4294967296 9007199254740991 9007199254740992 9007199254740993",
  "-9007199254740993 9223372036854775807 -9223372036854775808 1234567890123456789"
].flatMap((text) => text.split(" "))

/** Values of Content-Type, several if it is sent twice. */
export const contentTypes: ReadonlyArray<ReadonlyArray<string>> = [
  ["application/json; charset=utf-8"],
  ["Application/JSON"],
  ['application/json;charset="UTF-8"'],
  ["application/json; charset=iso-8859-1"],
  ["application/json; charset=utf-16"],
  ["application/json; version=1"],
  ["application/json;"],
  [],
  [""],
  ["json"],
  ["text/plain"],
  ["text/json"],
  ["application/x-www-form-urlencoded"],
  ["multipart/form-data; boundary=x"],
  ["application/problem+json"],
  ["application/jsonp"],
  ["application/octet-stream"],
  ["application/json, text/plain"],
  ["application/json", "application/json"],
  ["application/json", "text/plain"]
]

const JSON_TYPE = ["application/json"]

/** Returns the creation with these members. */
export const creation = (
  members: Members,
  form: Form = plain,
  types: ReadonlyArray<string> = JSON_TYPE
): Sent => ({
  method: "POST",
  path: "/pets",
  headers: [...types.map((type): Header => ["Content-Type", type]), ...(form.headers ?? [])],
  body: form.write(members)
})
