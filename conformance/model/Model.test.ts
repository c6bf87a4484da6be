import { describe, expect, it } from "vitest"
import * as Wire from "../http/Wire.ts"
import * as Edit from "../selftest/spoilers/Edit.ts"
import type { Exchange } from "./Exchange.ts"
import {
  creation,
  exchangesOf,
  type Fault,
  judge,
  judgeHistory,
  list,
  minutes,
  onRemaining,
  onResponses,
  posted,
  SECRET,
  type Sent,
  setupOf,
  small,
  smallDay,
  times,
  type World
} from "./History.fixture.ts"
import * as Model from "./Model.ts"

const earlier = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `Old ${index}`,
    categoryId: 1n,
    status: "sold" as const
  }))

/** Replaces text in the bodies of requests. */
const reads = (from: RegExp, to: string): Fault => ({
  request: (request) =>
    request.body === undefined
      ? request
      : { ...request, body: Wire.bytes(Wire.text(request.body).replace(from, to)) }
})

const withKey: Fault = {
  request: (request) => ({ ...request, headers: [["Authorization", `Bearer ${SECRET}`]] })
}

interface Kind {
  readonly kind: string
  readonly clause: string
  readonly world: World
  readonly history: ReadonlyArray<Sent>
}

const kinds: ReadonlyArray<Kind> = [
  {
    kind: "the maximum of limit is lost when a status is given",
    clause: "list.limit.ceiling",
    world: {
      choices: { earlier: earlier(130) },
      fault: onResponses(
        (_, target) => target.includes("limit=1000&status=sold"),
        () => listOf(130)
      )
    },
    history: [{ path: "/pets?limit=1000&status=sold" }]
  },
  {
    kind: "a limit out of range is accepted when a status is given, but not alone",
    clause: "list.limit.chosen",
    world: {
      fault: {
        request: (request) => ({ ...request, target: request.target.replace("limit=101&", "limit=100&") })
      }
    },
    history: [{ path: "/pets?limit=101" }, { path: "/pets?limit=101&status=sold" }]
  },
  {
    kind: "a limit beyond any integer type is accepted, but 101 is not",
    clause: "list.limit.chosen",
    world: {
      fault: {
        request: (request) => ({ ...request, target: request.target.replace(/limit=9{25}/, "limit=100") })
      }
    },
    history: [{ path: "/pets?limit=101" }, { path: `/pets?limit=${"9".repeat(25)}` }]
  },
  {
    kind: "lists escape the limit of a minute",
    clause: "limits.per-minute",
    world: {
      plan: small,
      fault: onResponses(
        (method, _, status) => method === "GET" && status === 429,
        (response) => Edit.header("X-RateLimit-Limit", "3")(Edit.replace(200, "[]")(response))
      )
    },
    history: times(4, list)
  },
  {
    kind: "lists escape the limit of a day",
    clause: "limits.per-day",
    world: {
      plan: smallDay,
      fault: onResponses((method, _, status) => method === "GET" && status === 429, Edit.replace(200, "[]"))
    },
    history: times(4, list)
  },
  {
    kind: "retrievals that get 404 do not count, although rejected creations do",
    clause: "limits.refused-count",
    world: { fault: { response: countsLess(/pets\/9/) } },
    history: [list, posted("{}"), list, { path: "/pets/9" }, list, list]
  },
  {
    kind: "comments before the JSON value are accepted",
    clause: "create.json-syntax",
    world: { fault: reads(/^\/\*.*\*\//, "") },
    history: [posted('/* new */{"name":"Rex","categoryId":1}')]
  },
  {
    kind: "members in another case are accepted",
    clause: "create.name-required",
    world: { fault: reads(/"Name"/, '"name"') },
    history: [posted('{"Name":"Rex","categoryId":1}')]
  },
  {
    kind: "OPTIONS lacks a header of every response",
    clause: "limits.headers-present",
    world: { fault: onResponses((method) => method === "OPTIONS", Edit.without("X-RateLimit-Reset")) },
    history: [{ method: "OPTIONS" }]
  },
  {
    kind: "a body is validated before the key",
    clause: "auth.every-operation",
    world: {
      fault: onResponses(
        (method, _, status) => method === "POST" && status === 401,
        Edit.error(400, "invalid")
      )
    },
    history: [{ ...posted("{}"), authorization: null }]
  },
  {
    kind: "a part of the key is accepted",
    clause: "auth.whole-key",
    world: { fault: withKey },
    history: [{ authorization: `Bearer ${SECRET.slice(0, -1)}` }]
  },
  ...[
    ["in another case", SECRET.toUpperCase(), "auth.key-case"],
    ["percent-encoded", `%53${SECRET.slice(1)}`, "auth.token-verbatim"],
    ["doubled", SECRET + SECRET, "auth.whole-key"]
  ].map(([how, token, clause = ""]) => ({
    kind: `a key ${how} is accepted`,
    clause,
    world: { fault: withKey },
    history: [{ authorization: `Bearer ${token}` }]
  })),
  {
    kind: "text after the JSON value is accepted",
    clause: "create.json-strict",
    world: { fault: reads(/\} .*$/, "}") },
    history: [posted('{"name":"Rex","categoryId":1} {}')]
  },
  {
    kind: "a member in another case sets the status",
    clause: "create.member-names",
    world: { fault: reads(/"Status"/, '"status"') },
    history: [
      posted('{"name":"Rex","categoryId":1}'),
      posted('{"name":"Rex","categoryId":1,"Status":"sold"}')
    ]
  },
  {
    kind: "a name is trimmed, and its last letter with it",
    clause: "create.returns-created",
    world: { fault: reads(/Rex *"/, 'Re"') },
    history: [creation("Rex ")]
  },
  {
    kind: "a name is cut at NUL",
    clause: "create.returns-created",
    world: { fault: reads(/\\u0000.*?"/, '"') },
    history: [creation("Rex\0Rex")]
  },
  {
    kind: "a name is escaped",
    clause: "create.returns-created",
    world: { fault: reads(/&/, "&amp;") },
    history: [creation("Tom & Jerry")]
  },
  {
    kind: "names are trimmed, but not all of them",
    clause: "create.returns-created",
    world: { fault: reads(/ Rex /, "Rex") },
    history: [creation(" Rex "), creation(" Tom ")]
  },
  {
    kind: "a newline is lost in lists only",
    clause: "list.faithful",
    world: {
      fault: onResponses(
        (method) => method === "GET",
        Edit.rewritten((body) => body.replace("\\n", " "))
      )
    },
    history: [creation("Rex\nRex"), list]
  },
  {
    kind: "a valid request in chunks gets 400",
    clause: "create.status-201",
    world: { fault: onResponses((method) => method === "POST", Edit.error(400, "invalid")) },
    history: [creation("Rex", [["Transfer-Encoding", "chunked"]])]
  },
  {
    kind: "an animal of a rejected creation is stored",
    clause: "create.refused-unstored",
    world: { fault: onResponses((method) => method === "POST", Edit.error(400, "invalid")) },
    history: [list, creation("Rexarexa1"), list]
  },
  {
    kind: "an animal is lost",
    clause: "list.sees-created",
    world: { fault: onResponses((method) => method === "GET", Edit.body("[]")) },
    history: [creation("Rex"), list]
  },
  {
    kind: "a denied caller is denied again after waiting as told",
    clause: "limits.retry-after-promise",
    world: {
      plan: small,
      fault: onResponses((_, __, status) => status === 429, Edit.header("Retry-After", "1"))
    },
    history: times(4, list)
  },
  {
    kind: "a key that was denied gets 401 days later, when no temporary ban lasts any more",
    clause: "auth.bearer",
    world: {
      plan: small,
      fault: onResponses((_, target) => target.endsWith("limit=7"), Edit.error(401, "invalid"))
    },
    history: [...times(5, list), { path: "/pets?limit=7", afterMs: 3 * 86_400_000 }]
  },
  {
    kind: "a caller without a key gets a Reset of years ago",
    clause: "limits.reset-unix-seconds",
    world: {
      fault: onResponses((_, __, status) => status === 401, Edit.header("X-RateLimit-Reset", "800000000"))
    },
    history: [{ authorization: null }]
  },
  {
    kind: "a retrieval shows every animal as available",
    clause: "resources.status-agreed",
    world: {
      fault: onResponses(
        (method, target) => method === "GET" && target.endsWith("/1"),
        Edit.members((members) => ({ ...members, status: "available" }))
      )
    },
    history: [posted('{"name":"Rex","categoryId":1,"status":"sold"}'), { path: "/pets/1" }, list]
  },
  {
    kind: "one request more than Remaining says is admitted",
    clause: "limits.remaining-bound",
    world: {
      plan: small,
      choices: { minute: "clock window", shown: "minute" },
      fault: { response: onRemaining((remaining) => Math.max(0, remaining - 1)) }
    },
    history: minutes
  },
  {
    kind: "an id that wraps around finds an animal",
    clause: "get.not-found",
    world: {
      fault: {
        request: (request) => ({ ...request, target: request.target.replace("18446744073709551617", "1") })
      }
    },
    history: [creation("Rex"), { path: "/pets/18446744073709551617" }]
  }
]

function listOf(count: number): Wire.WireResponse {
  const animals = Array.from(
    { length: count },
    (_, index) => `{"id":${index + 1},"name":"a","categoryId":1,"status":"sold"}`
  )
  return {
    status: 200,
    headers: [
      ["X-RateLimit-Limit", "1000"],
      ["X-RateLimit-Remaining", "999"],
      ["X-RateLimit-Reset", "1804150860"]
    ],
    body: Wire.bytes(`[${animals.join(",")}]`)
  }
}

/** Shows one request more after each request whose target matches, as a server that does not count it. */
function countsLess(pattern: RegExp): NonNullable<Fault["response"]> {
  let free = 0
  return (response, { target }) => {
    if (pattern.test(target)) free++
    const remaining = Number(Wire.header(response, "x-ratelimit-remaining")) + free
    return Edit.header("X-RateLimit-Remaining", String(remaining))(response)
  }
}

describe("Model.judge", () => {
  it.each(kinds)("rejects: $kind", ({ clause, history, world }) => {
    expect(judgeHistory(world, history).violations.map((violation) => violation.clause)).toContain(clause)
  })

  it.each(kinds)(
    "accepts the same history of a correct server: $kind",
    ({ history, world: { fault: _, ...world } }) => {
      expect(judgeHistory(world, history).violations).toEqual([])
    }
  )

  it("shows both exchanges of a contradiction", () => {
    const history = [creation(" Rex "), list, creation(" Tom ")]
    const { violations } = judgeHistory({ fault: reads(/ Rex /, "Rex") }, history)
    expect(violations.map(({ evidence }) => evidence.map(({ request }) => Wire.text(request.body)))).toEqual([
      ['{"name":" Rex ","categoryId":1}', '{"name":" Tom ","categoryId":1}']
    ])
  })

  it("decides the clauses that an exchange keeps or breaks, and no other", () => {
    const [exchange] = exchangesOf({}, [{ path: "/pets?limit=2" }])
    if (exchange === undefined) throw new Error("there is no exchange")
    const { decided } = Model.judge(Model.begin(setupOf()), [exchange])
    expect([...decided]).toEqual(expect.arrayContaining(["auth.bearer", "list.limit.accepted", "list.array"]))
    expect([...decided]).not.toContain("list.status.accepted")
    expect([...decided]).not.toContain("limits.per-minute")
  })

  it("rejects a request that gets no response", () => {
    const [exchange] = exchangesOf({}, [list])
    if (exchange === undefined) throw new Error("there is no exchange")
    const { violations } = judge(setupOf(), [
      { ...exchange, response: undefined, missing: "connection reset" }
    ])
    expect(violations).toMatchObject([{ clause: "http.responds", actual: "connection reset" }])
  })

  it("still knows a key after one odd response", () => {
    const odd = onResponses(
      (_, target) => target.endsWith("/nowhere"),
      (response) => Edit.header("X-RateLimit-Limit", "0")(Edit.header("X-RateLimit-Remaining", "0")(response))
    )
    const world: World = { plan: small, fault: odd }
    const history = [list, { path: "/nowhere" }, list, list, list]
    const exchanges = exchangesOf(world, history)
    const { violations } = judge(setupOf(world), exchanges)
    expect(violations.map(({ clause }) => clause)).toEqual(["limits.plan-in-force"])
    const [last] = exchanges.slice(-1)
    if (last?.response === undefined) throw new Error("there is no response")
    const admitted = { ...last, response: Edit.replace(200, "[]")(last.response) }
    expect(
      judge(setupOf(world), [...exchanges.slice(0, -1), admitted]).violations.map(({ clause }) => clause)
    ).toContain("limits.per-minute")
  })

  it.each(["/pets", "/pets?status=available"])(
    "rejects a list that lacked an animal, once its key has seen the animal: %s",
    (path) => {
      const setup = setupOf()
      const other = { name: "other", secret: "Other-0123456789", isValid: true }
      const [created, ...lists] = exchangesOf({}, [creation("Rex"), { path }, { path }])
      const [first, second] = lists.map((exchange) => ({
        ...exchange,
        request: { ...exchange.request, headers: [["Authorization", `Bearer ${other.secret}`] as const] }
      }))
      if (created === undefined || second === undefined || first?.response === undefined)
        throw new Error("there is no response")
      const clauses = (before: Exchange) =>
        judge({ ...setup, keys: [...setup.keys, other] }, [created, before, second]).violations.map(
          ({ clause }) => clause
        )
      expect(clauses(first)).toEqual([])
      expect(clauses({ ...first, response: Edit.body("[]")(first.response) })).toEqual(["list.complete"])
    }
  )

  it("tells the choices of a server and what they left undecided", () => {
    const { known } = judgeHistory({ choices: { contentTypes: 415, badLimit: "clamped" } }, [
      { path: "/pets?limit=0" },
      { ...creation("Rex"), headers: [["Content-Type", "text/plain"]] },
      posted('{"name":"Rex","categoryId":1}')
    ])
    expect(Model.tells(known)).toContain("a limit of 0: accepted")
    expect(Model.tells(known)).toContain(
      "1 of 2 creations undecided: the server rejects the content type text/plain (1)"
    )
    expect(Model.tells(known)).toContain("the status of an animal created without one: available")
  })
})
