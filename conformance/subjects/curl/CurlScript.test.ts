import { describe, expect, it } from "vitest"
import type { Step } from "../../evaluation/Trial.ts"
import type { Exchange } from "../../http/Exchange.ts"
import { bytes } from "../../http/Wire.ts"
import * as CurlScript from "./CurlScript.ts"

const key = "ast_main0f3kQ9zLw2mB7vXc4nRt8yHj"

const source = {
  check: "create.id.unique",
  law: "Each animal has an id of its own.",
  expected: "the animal that was created",
  actual: "404",
  baseUrl: "http://127.0.0.1:3000/v1",
  basePath: "/v1",
  secrets: { main: key }
}

const exchange: Exchange = {
  index: 0,
  key: "main",
  request: {
    method: "POST",
    target: "/v1/pets",
    headers: [
      ["Authorization", `Bearer ${key}`],
      ["Content-Type", "application/json"]
    ],
    body: bytes(`{"name":"it's Rex","categoryId":7}`)
  },
  response: {
    status: 201,
    headers: [["x-ratelimit-remaining", "59"]],
    body: bytes(`{"name":"it's Rex","categoryId":7,"id":3}`)
  },
  sentAt: 0,
  receivedAt: 1,
  isAlone: true
}

const retrieval: Exchange = {
  ...exchange,
  index: 1,
  request: {
    method: "GET",
    target: "/v1/pets/3",
    headers: [["Authorization", `Bearer ${key}`]],
    body: undefined
  },
  response: { status: 404, headers: [["Retry-After", "3"]], body: bytes("") },
  sentAt: 2,
  receivedAt: 3
}

const steps: ReadonlyArray<Step> = [
  { did: "create it's Rex", got: "201", exchange },
  { did: "let 60 s pass", got: "" },
  { did: "find 3", got: "404", exchange: retrieval }
]

describe("CurlScript.make", () => {
  it("writes the requests, the waits and the responses of the case", () => {
    const script = CurlScript.make({ ...source, steps }) ?? ""
    expect(script.slice(0, script.indexOf("DIR="))).toBe(`#!/bin/sh
# create.id.unique: Each animal has an id of its own.
# expected: the animal that was created
# actual:   404
# usage: sh SCRIPT [BASE-URL]
set -eu
LC_ALL=C; export LC_ALL
BASE=\${1:-http://127.0.0.1:3000/v1}
BASE=\${BASE%/}
[ -n "\${ANIMAL_KEY:-}" ] || { echo 'set ANIMAL_KEY to the main key' >&2; exit 2; }
`)
    expect(script.slice(script.indexOf("# 1. "))).toBe(`# 1. create it's Rex
# 201, X-RateLimit-Remaining: 59 {"name":"it's Rex","categoryId":7,"id":3}
curl -sS -i -g --path-as-is -X POST -A '' -H Accept: \\
  -H 'Authorization: Bearer '"$ANIMAL_KEY" \\
  -H 'Content-Type: application/json' \\
  --data-binary '{"name":"it'\\''s Rex","categoryId":7}' \\
  "$BASE"/pets >"$DIR/1"
cat "$DIR/1"; echo
printf 'HTTP/1.1 201\\012X-RateLimit-Remaining: 59\\012\\012{"name":"it\\047s Rex","categoryId":7,"id":3}' >"$DIR/was.1"
MODES="$MODES 1:body"
ID1=$(sed -n 's/.*"id"[[:space:]]*:[[:space:]]*\\(-\\{0,1\\}[0-9]\\{1,\\}\\).*/\\1/p' "$DIR/1" | head -n 1)
[ -n "$ID1" ] || { echo "response 1 has no id" >&2; exit 2; }

# 2. let 60 s pass

# 3. find 3
# 404, Retry-After: 3
curl -sS -i -g --path-as-is -X GET -A '' -H Accept: \\
  -H 'Authorization: Bearer '"$ANIMAL_KEY" \\
  "$BASE"/pets/"$ID1" >"$DIR/3"
cat "$DIR/3"; echo
printf 'HTTP/1.1 404\\012Retry-After: 3\\012\\012' >"$DIR/was.3"
MODES="$MODES 3:body"

signature was. '' >"$DIR/expected"; signature '' '' >"$DIR/actual"
if grep -q '^!$' "$DIR/actual"; then echo "CANNOT TELL: a list is full of other animals"; exit 2; fi
if ! cmp -s "$DIR/expected" "$DIR/actual"; then
  echo "NOT SHOWN: the responses differ from those of the run:"
  diff "$DIR/expected" "$DIR/actual" || :
  EXIT_CODE=0; exit
fi
if grep -q '^?$' "$DIR/expected"; then echo "CANNOT TELL: a response is too long to be compared"; exit 2; fi
echo "SHOWN: every response is as it was in the run"
EXIT_CODE=1; exit
`)
  })

  it("returns undefined if the case has no requests", () => {
    expect(CurlScript.make({ ...source, steps: [] })).toBeUndefined()
    expect(CurlScript.make({ ...source, steps: [{ did: "insert", got: "1" }] })).toBeUndefined()
  })

  it("omits parts of a key, and notes the omission in a comment", () => {
    const cut: Exchange = {
      ...retrieval,
      key: "other",
      request: { ...retrieval.request, headers: [["Authorization", `Bearer ${key.slice(0, -1)}`]] }
    }
    const script = CurlScript.make({ ...source, steps: [{ did: "find", got: "", exchange: cut }] })
    expect(script).toContain("-H 'Authorization: Bearer ‹part of key:main›'")
    expect(script).toContain("# Parts of a key were sent in this case")
  })

  it("writes a script that reads declared keys from the environment, even if their secrets are unknown", () => {
    for (const [name, variable] of [
      ["main", "ANIMAL_KEY"],
      ["tiny", "ANIMAL_TINY_KEY"],
      ["victim", "ANIMAL_VICTIM_KEY"],
      ["revoked", "ANIMAL_REVOKED_KEY"],
      ["expired", "ANIMAL_EXPIRED_KEY"]
    ] as const) {
      const steps = [{ did: "find", got: "", exchange: { ...retrieval, key: name } }]
      const script = CurlScript.make({ ...source, secrets: {}, steps })
      expect(script).toContain(`-H 'Authorization: Bearer '"$${variable}"`)
      expect(script).toContain(`[ -n "\${${variable}:-}" ] || `)
      expect(script).not.toContain(key)
    }
    const none = CurlScript.make({
      ...source,
      steps: [{ did: "", got: "", exchange: { ...retrieval, key: "none" } }]
    })
    expect(none).not.toMatch(/Authorization|ANIMAL_\w*KEY/)
  })

  it("adds the base path to a base URL without path", () => {
    const script = CurlScript.make({ ...source, baseUrl: "http://[::1]:80/", steps })
    expect(script).toContain(`\nBASE=\${1:-http://[::1]:80/v1}\n`)
  })
})
