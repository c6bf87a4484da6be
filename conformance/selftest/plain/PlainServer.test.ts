import { describe, expect, it } from "vitest"
import type { Header, WireResponse } from "../../http/Wire.ts"
import * as Wire from "../../http/Wire.ts"
import type { Choices } from "./Choices.ts"
import { created, digitsOf, json, names, rex, serverOf } from "./Server.fixture.ts"
import * as Variants from "./Variants.ts"

const variants = Variants.of(1)

describe("PlainServer", () => {
  it("assigns ids and orders lists according to the choices", () => {
    const idsAndNames = (choices: Partial<Choices>) => {
      const server = serverOf(choices)
      const ids = ["b", "c", "a"].map((name) =>
        digitsOf(server.create(`{"name":"${name}","categoryId":0}`), "id")
      )
      return [ids.join(" "), names(server.send("GET", "/v1/pets")).join("")]
    }
    expect(idsAndNames({})).toEqual(["1 2 3", "bca"])
    expect(idsAndNames({ ids: "in steps" })).toEqual(["1000 2000 3000", "bca"])
    expect(idsAndNames({ ids: "negative" })).toEqual(["-1 -2 -3", "acb"])
    expect(idsAndNames({ ids: "from 2^53 up" })[0]).toMatch(/^9007199254740993 /)
    expect(idsAndNames({ ids: "from 2^63-1 down" })[0]).toMatch(/^9223372036854775807 9223372036854775806 /)
    expect(idsAndNames({ ids: "random" })[0]).toMatch(/^\d+ \d+ \d+$/)
    expect(idsAndNames({ order: "newest first" })[1]).toBe("acb")
    expect(idsAndNames({ order: "by name" })[1]).toBe("abc")
    const orders = (order: Choices["order"]) => {
      const { send, create } = serverOf({ order })
      for (const name of "abcdefgh") create(`{"name":"${name}","categoryId":0}`)
      return new Set(Array.from({ length: 9 }, () => names(send("GET", "/v1/pets?limit=8")).join("")))
    }
    expect(orders("by hash").size).toBe(1)
    expect([...orders("by hash")]).not.toEqual(["abcdefgh"])
    expect(orders("shuffled").size).toBeGreaterThan(5)
    for (const order of orders("shuffled")) expect([...order].sort().join("")).toBe("abcdefgh")
  })

  it("sets the chosen default status, and rejects or accepts a null status as chosen", () => {
    const statusOf = (response: WireResponse) => [
      response.status,
      /"status":("?\w+"?)/.exec(Wire.text(response.body))?.[1]
    ]
    const withNull = '{"name":"Rex","categoryId":1,"status":null}'
    expect(statusOf(created({}, rex))).toEqual([201, '"available"'])
    expect(statusOf(created({ defaultStatus: "pending" }, rex))).toEqual([201, '"pending"'])
    expect(statusOf(created({ defaultStatus: "absent" }, rex))).toEqual([201, undefined])
    expect(statusOf(created({}, withNull))).toEqual([400, "400"])
    expect(statusOf(created({ nullStatus: "as absent" }, withNull))).toEqual([201, '"available"'])
    const { send, create } = serverOf({ defaultStatus: "absent" })
    create(rex)
    expect(names(send("GET", "/v1/pets?status=available"))).toEqual([])
    expect(names(send("GET", "/v1/pets"))).toEqual(["Rex"])
  })

  it("handles invalid and unknown query parameters of a list according to the choices", () => {
    const outcome = (choices: Partial<Choices>, query: string) => {
      const { send, create } = serverOf(choices)
      for (let n = 0; n < 120; n++) create(`{"name":"n${n}","categoryId":0,"status":"sold"}`)
      const response = send("GET", `/v1/pets?${query}`)
      return response.status === 200 ? names(response).length : response.status
    }
    expect(["", "limit=1", "limit=100"].map((query) => outcome({}, query))).toEqual([20, 1, 100])
    const invalidLimits = ["limit=0", "limit=101", "limit=-5", "limit=ten", "limit=", "limit=1.5"]
    expect(invalidLimits.map((query) => outcome({}, query))).toEqual([400, 400, 400, 400, 400, 400])
    expect(invalidLimits.map((query) => outcome({ badLimit: 422 }, query))).toEqual([
      422, 422, 422, 422, 422, 422
    ])
    expect(invalidLimits.map((query) => outcome({ badLimit: "clamped" }, query))).toEqual([
      1, 100, 1, 20, 20, 20
    ])
    expect(outcome({}, "status=lost")).toBe(400)
    expect(outcome({ unknownStatus: 422 }, "status=lost")).toBe(422)
    expect(outcome({ unknownStatus: "matches nothing" }, "status=lost")).toBe(0)
    expect(outcome({}, "colour=red&offset=99")).toBe(20)
    expect(outcome({ unknownParameters: 400 }, "colour=red")).toBe(400)
  })

  it("links each page except the last to the next page, if paging is chosen", () => {
    const { send, create } = serverOf({ paging: "link", unknownParameters: 400 })
    for (let n = 0; n < 5; n++) create(`{"name":"n${n}","categoryId":0,"status":"sold"}`)
    const seen: Array<string> = []
    let next: string | undefined = "/v1/pets?limit=2&status=sold"
    while (next !== undefined) {
      const page = send("GET", next)
      seen.push(names(page).join(" "))
      next = /^<(.*)>; rel="next"$/.exec(Wire.header(page, "link") ?? "")?.[1]
    }
    expect(seen).toEqual(["n0 n1", "n2 n3", "n4"])
    expect(Wire.header(send("GET", "/v1/pets?limit=5"), "link")).toBeUndefined()
    expect(Wire.header(serverOf().send("GET", "/v1/pets"), "link")).toBeUndefined()
  })

  it("returns the chosen status for an invalid petId and after the removal of getPet", () => {
    const { send } = serverOf()
    expect(send("GET", "/v1/pets/x").status).toBe(404)
    expect(serverOf({ badPetId: 400 }).send("GET", "/v1/pets/9223372036854775808").status).toBe(400)
    expect(serverOf({ badPetId: 400 }).send("GET", "/v1/pets/9223372036854775807").status).toBe(404)
    expect(serverOf({ badPetId: 400 }).send("GET", "/v1/pets/1/x").status).toBe(404)
    for (const { choices } of variants) {
      const { send, clock, create } = serverOf(choices)
      const id = digitsOf(create(rex, [["Content-Type", "application/json"]]), "id")
      const before = send("GET", `/v1/pets/${id}`)
      expect(Wire.header(before, "sunset") !== undefined).toBe(choices.deprecationHeaders === true)
      const removal = Date.parse(choices.removedAt ?? "2030-12-05T00:00:00Z")
      clock.now = removal - 1
      expect(send("GET", `/v1/pets/${id}`).status).toBe(200)
      clock.now = removal
      expect(send("GET", `/v1/pets/${id}`).status).toBe(choices.removed ?? 404)
      expect(send("GET", "/v1/pets").status).toBe(200)
    }
  })

  it("handles API keys, unknown paths and methods according to the choices", () => {
    const status = (choices: Partial<Choices>, method: string, target: string, authorization?: string) => {
      const headers: ReadonlyArray<Header> =
        authorization === undefined ? [] : [["authorization", authorization]]
      return serverOf(choices).send(method, target, { key: undefined, headers }).status
    }
    const wrong = [undefined, "", "Bearer", "Bearer ", "key", "Basic key", "Bearer wrong", "Bearer revoked"]
    for (const credential of wrong) {
      expect(status({}, "GET", "/v1/pets", credential)).toBe(401)
      expect(status({}, "GET", "/v1/nothing", credential)).toBe(401)
      expect(status({ unknownPathWithoutKey: 404 }, "GET", "/v1/nothing", credential)).toBe(404)
      expect(status({ unknownPathWithoutKey: 404 }, "GET", "/v1/pets/1", credential)).toBe(401)
    }
    expect(status({}, "GET", "/v1/pets", "bearer key")).toBe(200)
    expect(status({ scheme: "exact" }, "GET", "/v1/pets", "bearer key")).toBe(401)
    expect(status({ scheme: "exact" }, "GET", "/v1/pets", "Bearer key")).toBe(200)
    const twice: ReadonlyArray<Header> = [["Authorization", "Bearer key"]]
    expect(serverOf().send("GET", "/v1/pets", { headers: twice, key: "key" }).status).toBe(401)
    const server = serverOf()
    server.send("POST", "/v1/pets", { key: undefined, body: rex })
    expect(names(server.send("GET", "/v1/pets"))).toEqual([])

    const methods = ["HEAD", "OPTIONS", "DELETE"]
    const restrictive = { head: 405, options: 405, otherMethods: 404 } as const
    expect(methods.map((method) => status({}, method, "/v1/pets", "Bearer key"))).toEqual([200, 204, 405])
    expect(methods.map((method) => status(restrictive, method, "/v1/pets", "Bearer key"))).toEqual([
      405, 405, 404
    ])
    expect(Wire.header(server.send("PUT", "/v1/pets/1"), "allow")).toBe("GET, HEAD, OPTIONS")
    expect(status({}, "GET", "/v1/pets/", "Bearer key")).toBe(404)
    expect(status({ trailingSlash: "tolerated" }, "GET", "/v1/pets/", "Bearer key")).toBe(200)
    expect(status({ trailingSlash: "tolerated" }, "GET", "/v1/pets//", "Bearer key")).toBe(404)
    expect(Wire.header(server.send("GET", "/", { key: "no" }), "www-authenticate")).toMatch(/^Bearer/)
    const silent = serverOf({ challenge: false }).send("GET", "/", { key: "no" })
    expect(Wire.header(silent, "www-authenticate")).toBeUndefined()
  })

  it("encodes animals, errors and headers according to the choices", () => {
    const error = (choices: Partial<Choices>) => serverOf(choices).send("GET", "/v1/nothing")
    expect(json(error({}))).toEqual({
      code: "not_found",
      message: "There is no such resource.",
      status: 404
    })
    expect(json(error({ codes: "UPPER", language: "de", errorExtras: { more: 1 } }))).toEqual({
      code: "NOT_FOUND",
      message: "Diese Ressource gibt es nicht.",
      status: 404,
      more: 1
    })
    expect(json(error({ codes: "numbered" }))).toMatchObject({ code: "E404" })
    expect(Wire.header(error({ errorContentType: "a/b" }), "content-type")).toBe("a/b")
    expect(Wire.header(created({ contentType: "a/b" }, rex), "content-type")).toBe("a/b")
    expect(json(created({ petExtras: { weight: 4.5 } }, rex))).toMatchObject({ name: "Rex", weight: 4.5 })
    const odd = '{"name":"Ré\\ud800😀","categoryId":1}'
    const plain = Wire.text(created({}, odd).body)
    expect(plain).toBe('{"id":1,"name":"Ré\\ud800😀","categoryId":1,"status":"available"}')
    const encoded = Wire.text(created({ json: { space: " ", reversed: true, escaped: true } }, odd).body)
    expect(encoded).toBe(
      '{ "status": "available" , "categoryId": 1 , "name": "R\\u00e9\\ud800\\ud83d\\ude00" , "id": 1 }'
    )
    expect(JSON.parse(encoded)).toEqual(JSON.parse(plain))
    const headerNames = (choices: Partial<Choices>) => error(choices).headers.map(([name]) => name)
    expect(headerNames({})).toContain("X-RateLimit-Reset")
    expect(headerNames({ headerNames: "lower" })).toContain("x-ratelimit-reset")
    expect(headerNames({ headerNames: "UPPER" })).toContain("X-RATELIMIT-RESET")
    expect(Wire.header(error({}), "date")).toBe("Thu, 04 Mar 2027 05:06:07 GMT")
    expect(Wire.header(error({ date: false }), "date")).toBeUndefined()
  })
})
