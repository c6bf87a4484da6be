import { spawnSync } from "node:child_process"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { WireRequest } from "../http/Wire.ts"
import * as Curl from "./Curl.ts"

const secrets = { main: "main-secret-0123", tiny: "tiny-secret-4567" }
const origin = "http://127.0.0.1:3000"

const request: fc.Arbitrary<WireRequest> = fc.record({
  method: fc.constantFrom("GET", "POST", "HEAD", "DELETE"),
  target: fc.webPath({ size: "small" }).map((path) => `/v1${path}?a=${path}'"$x`),
  headers: fc.array(
    fc.tuple(
      fc.constantFrom("X-A", "Content-Type", "Authorization"),
      fc.oneof(
        fc.string({ unit: fc.constantFrom(..." abz$`'\"\\!%@&|;*~é") }).map((value) => `x${value}x`),
        fc.constantFrom(
          "Bearer main-secret-0123",
          "Bearer TINY-SECRET-4567",
          "Basic main-secre$x",
          "Bearer main-secret-01230"
        )
      )
    ),
    { maxLength: 3 }
  ),
  body: fc.option(
    fc.oneof(
      fc.json().map((text) => new Uint8Array(Buffer.from(text))),
      fc.constant(new Uint8Array(Buffer.from('{"name":"a\u0000b\nc\'d%s\\\\n"}'))),
      fc.constant(new Uint8Array(Buffer.from('{"key":"main-secret-0123"}'))),
      fc.uint8Array({ maxLength: 20 })
    ),
    { nil: undefined }
  )
})

/** Defines `curl` as a function that prints its arguments, each with NUL at its end, and its input, both in base64. */
const preamble = `
KEY=main-secret-0123 TINY=tiny-secret-4567
curl() {
  printf '%s\\0' "$@" | base64 -w 0
  printf ' '
  case "$*" in *"--data-binary @-"*) base64 -w 0 ;; esac
  printf '\\n'
}
`

interface Sent {
  readonly target: string
  readonly headers: ReadonlyArray<string>
  readonly body: Buffer | undefined
}

/** Reads the arguments and the input of one command. */
const sentBy = (line: string): Sent => {
  const [words = "", input = ""] = line
    .split(" ")
    .map((part) => Buffer.from(part, "base64").toString("latin1"))
  const all = words
    .split("\0")
    .slice(0, -1)
    .map((word) => Buffer.from(word, "latin1"))
  const after = (flag: string) =>
    all.flatMap((word, index) => (all[index - 1]?.toString() === flag ? [word] : []))
  const [data] = after("--data-binary")
  const address = all.map(String).find((word) => word.startsWith(origin)) ?? ""
  return {
    target: address.slice(origin.length),
    headers: after("-H").map(String),
    body: data?.toString() === "@-" ? Buffer.from(input, "latin1") : data
  }
}

describe("Curl.command", () => {
  it("sends, in bash, the same target, headers and body, without any key in the command", () => {
    const requests = fc.sample(request, 150)
    const commands = requests.map((each) => Curl.command(each, origin, secrets) ?? "")
    for (const command of commands) expect(command).not.toMatch(/main-secret-0123|tiny-secret-4567/)
    const { status, stderr, stdout } = spawnSync("bash", ["-c", preamble + commands.join("\n")], {
      encoding: "utf8"
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    const lines = stdout.split("\n")
    for (const [index, { body, headers, method, target }] of requests.entries()) {
      const sent = sentBy(lines[index] ?? "")
      expect(sent.target).toBe(target)
      const expected = headers.map(([name, value]) => `${name}: ${value}`)
      expect(sent.headers.filter((header) => header !== "Content-Type:")).toEqual(expected)
      const content = body ?? (method === "POST" ? new Uint8Array() : undefined)
      expect(sent.body === undefined ? undefined : new Uint8Array(sent.body)).toEqual(content)
    }
  })

  it("is short for an ordinary request", () => {
    const creation: WireRequest = {
      method: "POST",
      target: "/v1/pets",
      headers: [
        ["Authorization", "Bearer main-secret-0123"],
        ["Content-Type", "application/json"]
      ],
      body: new Uint8Array(Buffer.from('{"name":"Rex"}'))
    }
    expect(Curl.command(creation, origin, secrets)).toBe(
      `curl -i -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' --data-binary '{"name":"Rex"}' http://127.0.0.1:3000/v1/pets`
    )
  })
})
