import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as InputForm from "./InputForm.ts"

const utf8 = (text: string) => new TextEncoder().encode(text)

const utf16 = (text: string, isLittle: boolean) =>
  Uint8Array.from([...text].flatMap((char) => (isLittle ? [char.charCodeAt(0), 0] : [0, char.charCodeAt(0)])))

const line = '{"name":"Rex","categoryId":1}\n'

describe("InputForm.find", () => {
  it.each([
    ["UTF-16", "iconv -f UTF-16 -t UTF-8", utf16(`\ufeff${line}`.slice(1), true), [0xff, 0xfe]],
    ["UTF-16", "iconv -f UTF-16 -t UTF-8", utf16(line, false), [0xfe, 0xff]],
    ["UTF-16", "iconv -f UTF-16LE -t UTF-8", utf16(line, true), []],
    ["UTF-16", "iconv -f UTF-16BE -t UTF-8", utf16(line, false), []],
    ["UTF-32", "iconv -f UTF-32 -t UTF-8", utf8(""), [0xff, 0xfe, 0, 0]],
    ["compressed with gzip", "gunzip -c", utf8("x"), [0x1f, 0x8b, 8]],
    ["a zip archive", "unzip -p", utf8("x"), [0x50, 0x4b, 3, 4]],
    ["compressed with zstd", "zstd -dc", utf8("x"), [0x28, 0xb5, 0x2f, 0xfd]],
    ["compressed with xz", "xz -dc", utf8("x"), [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]],
    ["compressed with bzip2", "bzip2 -dc", utf8("9"), [0x42, 0x5a, 0x68]],
    ["one JSON array", "jq -c '.[]'", utf8(`[${line}]`), []],
    ["one JSON array", "jq -c '.[]'", utf8(` \r\n[\n  ${line}]`), [0xef, 0xbb, 0xbf]],
    ["one JSON object with arrays", "jq -c '.pets[]'", utf8(`{\n  "pets": [\n${line}]}`), []],
    ["one JSON object with arrays", "jq -c '.[][]'", utf8(`{"my pets":[${line}]}`), []],
    ["JSON with several lines for each animal", "jq -c .", utf8('{\r\n  "name": "Rex"\n}'), []],
    ["CSV", "mlr --icsv --ojsonl cat", utf8("id,name,categoryId\n1,Rex,1\n"), []],
    ["CSV", "mlr --icsv --ifs ';' --ojsonl cat", utf8('"Name";"categoryId"\r\n'), [0xef, 0xbb, 0xbf]],
    ["CSV", "mlr --itsv --ojsonl cat", utf8("categoryId\tname"), []]
  ])("recognizes %s and names %s", (name, command, text, prefix) => {
    expect(InputForm.find(Uint8Array.from([...prefix, ...text]))).toEqual({ name, command })
  })

  it("does not take an animal for another form", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer(), fc.boolean(), (name, categoryId, spaced) => {
        const text = JSON.stringify({ name, categoryId })
        expect(InputForm.find(utf8(`${spaced ? `  ${text.replace(":", " : ")}` : text}\n`))).toBeUndefined()
      })
    )
    for (const text of [
      "",
      "\n",
      "x\n",
      "[]\n",
      "name\n",
      "a,b\n",
      "{}\n",
      `{"tags":[1],${line.slice(1)}${line}`
    ]) {
      expect(InputForm.find(utf8(text)), text).toBeUndefined()
    }
  })
})
