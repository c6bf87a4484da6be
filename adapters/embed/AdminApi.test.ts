/** Tests the admin API over HTTP, on every kind of database. */
import { renameSync } from "node:fs"
import { Validator } from "@seriousme/openapi-schema-validator"
import { describe, expect, it } from "vitest"
import * as Console from "./Console.fixture.ts"
import * as KeyRecord from "./KeyRecord.ts"
import * as Stores from "./Stores.fixture.ts"

describe.each(Stores.kinds)("the admin API $name", (kind) => {
  it.skipIf(kind.missing !== undefined)(
    `does what store.keys does, with events of the token's name ${Stores.titleEnd(kind)}`,
    async () => {
      const { send, store } = await Console.open({ database: await kind.address() })
      const issued = await send("POST", "/v1/keys", { plan: "Free", label: "<b>shop</b>", expires: "90d" })
      expect(issued).toMatchObject({ status: 201, body: { plan: "Free", label: "<b>shop</b>" } })
      const { id, key } = issued.body
      const shown = async () => {
        const status = await store.keys.show(id)
        const { body } = await send("GET", `/v1/keys/${id}`)
        // Both read the usage at their own time, at which a bucket of 60 may be some milliseconds fuller.
        expect({ ...body, minute: 0 }).toEqual({
          ...KeyRecord.withUsage(status),
          states: body.states,
          minute: 0
        })
        return body
      }
      expect((await shown()).states).toEqual(["active"])
      expect((await store.keys.verify(key))?.id).toBe(id)

      await send("PATCH", `/v1/keys/${id}`, {
        ...{ plan: "Pro", label: null, account: "acme", metadata: { crm: 7 }, expires: "never" }
      })
      expect(await shown()).toMatchObject({
        plan: "Pro",
        label: null,
        account: "acme",
        metadata: { crm: 7 },
        expiresAt: null,
        minute: { limit: 300 }
      })

      const rotated = await send("POST", `/v1/keys/${id}/rotate`, { overlap: "1h" })
      expect(rotated.body.key).not.toBe(key)
      expect((await shown()).states).toEqual(["rotating"])
      expect(await send("POST", `/v1/keys/${id}/rotate`, {})).toMatchObject({
        status: 409,
        body: { code: "rotation_unfinished" }
      })
      expect(await send("POST", `/v1/keys/${id}/unban`)).toMatchObject({ status: 200, body: { strikes: 0 } })
      expect(await send("POST", `/v1/keys/${id}/revoke`)).toMatchObject({
        status: 200,
        body: { states: ["revoked"] }
      })
      expect(await send("POST", `/v1/keys/${id}/unban`)).toMatchObject({
        status: 409,
        body: { code: "key_revoked" }
      })

      const events = (await store.keys.log(id)).map(({ action, actor }) => [action, actor])
      expect(events).toEqual(
        ["issued", "changed", "rotated", "unbanned", "revoked"].map((action) => [action, "ada"])
      )
      const first = await send("GET", `/v1/events?key=${id}&limit=3`)
      const second = await send("GET", `/v1/events?key=${id}&limit=3&cursor=${first.body.next}`)
      expect([...first.body.events, ...second.body.events].reverse()).toEqual(await store.keys.log(id))
      expect(second.body.next).toBe(null)
      const all = await send("GET", `/v1/events?key=${id}&cursor=999999999999999`)
      expect(all.body).toEqual({ events: [...first.body.events, ...second.body.events], next: null })
    }
  )

  it.skipIf(kind.missing !== undefined)(
    `finds no token among keys, and no key among tokens ${Stores.titleEnd(kind)}`,
    async () => {
      const { send, store, token } = await Console.open({ database: await kind.address() })
      const [admin] = await store.adminTokens.list()
      const tokenId = admin?.id ?? ""
      const first = await store.keys.issueFirst({ plan: "Free" })
      const { id = "", key = "" } = first ?? {}
      expect((await store.keys.list()).map((known) => known.id)).toEqual([id])
      expect((await store.adminTokens.list()).map((known) => known.id)).toEqual([tokenId])
      expect((await store.keys.log()).map(({ keyId }) => keyId)).toEqual([id])
      expect(await store.adminTokens.log()).toMatchObject([{ keyId: tokenId, action: "issued" }])
      expect([await store.keys.verify(token), (await store.keys.verify(key))?.id]).toEqual([undefined, id])
      for (const attempt of [
        () => store.keys.show(tokenId),
        () => store.keys.revoke(tokenId),
        () => store.keys.rotate(tokenId, { overlapMs: 0 }),
        () => store.keys.set(tokenId, { plan: "Free" }),
        () => store.keys.unban(tokenId),
        () => store.keys.log(tokenId)
      ]) {
        await expect(attempt()).rejects.toThrow(`the API key ${tokenId} does not exist`)
      }
      await expect(store.adminTokens.revoke(id)).rejects.toThrow(`the admin token ${id} does not exist`)
      const { body } = await send("GET", "/v1/keys")
      expect(body.keys.map((known: { id: string }) => known.id)).toEqual([id])
      expect((await send("GET", `/v1/keys/${tokenId}`)).status).toBe(404)
      expect((await send("GET", "/v1/events")).body.events).toHaveLength(1)
      await expect
        .poll(async () => (await store.adminTokens.list())[0]?.lastSeenDay, { timeout: 10_000 })
        .toBe(Math.floor(Date.now() / 86_400_000))
      expect((await store.keys.list())[0]?.lastSeenDay).toBeUndefined()
    }
  )

  it.skipIf(kind.missing !== undefined)(
    `finds no key with an id that a database cannot store ${Stores.titleEnd(kind)}`,
    async () => {
      const { send } = await Console.open({ database: await kind.address() })
      for (const [method, path, body] of [
        ["GET", "/v1/keys/%00"],
        ["PATCH", "/v1/keys/%00", { label: "x" }],
        ["POST", "/v1/keys/%00/rotate", {}],
        ["POST", "/v1/keys/%00/revoke"],
        ["POST", "/v1/keys/%00/unban"],
        ["GET", "/v1/events?key=%00"]
      ] as const) {
        expect(await send(method, path, body), path).toMatchObject({
          status: 404,
          body: { code: "not_found" }
        })
      }
    }
  )
})

describe("the admin API", () => {
  it("names the field and the reason of an invalid value, and changes nothing", async () => {
    const { send, store } = await Console.open({ now: () => Date.UTC(2026, 11, 1) })
    const { id } = await store.keys.issue({ plan: "Free" })
    const before = await store.keys.list()
    for (const [method, path, body, reason] of [
      ["POST", "/v1/keys", {}, "plan: is required"],
      ["POST", "/v1/keys", { plan: "Fre" }, 'plan: Expected "Free" | "Pro" | "Business" | "Enterprise"'],
      ["POST", "/v1/keys", { plan: "Free", name: "x" }, "name: is not a known field"],
      ["POST", "/v1/keys", { plan: "Enterprise" }, "Enterprise needs both perMinute and perDay"],
      ["POST", "/v1/keys", { plan: "Free", perMinute: 0 }, "perMinute: "],
      ["POST", "/v1/keys", { plan: "Free", label: " " }, "label must"],
      ["POST", "/v1/keys", { plan: "Free", metadata: { x: "x".repeat(5_000) } }, "metadata must"],
      ["POST", "/v1/keys", { plan: "Free", expires: "soon" }, "expires: must be a duration"],
      ["PATCH", `/v1/keys/${id}`, { label: 5 }, "label: "],
      ["POST", `/v1/keys/${id}/rotate`, { overlap: "-1h" }, "overlap: must be a duration"]
    ] as const) {
      const response = await send(method, path, body)
      expect(response, reason).toMatchObject({
        status: 400,
        body: { code: "invalid_body", message: expect.stringContaining(reason) }
      })
    }
    expect(await send("GET", "/v1/keys?limit=1000")).toMatchObject({
      status: 400,
      body: { code: "invalid_parameter" }
    })
    expect(await send("GET", "/v1/keys/key_unknown")).toMatchObject({
      status: 404,
      body: { code: "not_found" }
    })
    expect((await send("DELETE", "/v1/keys")).headers.get("Allow")).toBe("GET, HEAD, POST, OPTIONS")
    expect(await store.keys.list()).toEqual(before)
  })

  it("lists keys by plan, account, label and state in pages", async () => {
    const { send, store } = await Console.open()
    const issue = async (plan: string, label: string) => (await store.keys.issue({ plan, label })).id
    const ids = [await issue("Free", "Shop 1"), await issue("Pro", "shop 2"), await issue("Free", "till")]
    await store.keys.revoke(ids[2] ?? "")
    const list = async (query: string) => {
      const { body } = await send("GET", `/v1/keys?${query}`)
      return [body.keys.map(({ id }: { id: string }) => ids.indexOf(id)), body.next !== null]
    }
    expect(await list("")).toEqual([[2, 1, 0], false])
    expect(await list("label=SHOP")).toEqual([[1, 0], false])
    expect(await list("plan=Free&limit=1")).toEqual([[2], true])
    expect(await list(`plan=Free&limit=1&cursor=${ids[2]}`)).toEqual([[0], false])
    await store.keys.set(ids[1] ?? "", { account: "acme" })
    expect(await list("account=acme")).toEqual([[1], false])
    expect(await list("state=revoked")).toEqual([[2], false])
  })

  it("has a valid OpenAPI document with its operations, and none of the animals", async () => {
    const { send } = await Console.open()
    const { body, status } = await send("GET", "/openapi.json", undefined, {})
    expect(status).toBe(200)
    expect(await new Validator().validate(body)).toMatchObject({ valid: true })
    const ids = Object.values<Record<string, { operationId?: string }>>(body.paths).flatMap((item) =>
      Object.values(item).flatMap(({ operationId }) => operationId ?? [])
    )
    expect(ids.sort()).toEqual([
      ...[
        "getHistory",
        "issueKey",
        "listEvents",
        "listKeys",
        "listPlans",
        "revokeKey",
        "rotateKey",
        "setKey"
      ],
      ...["showKey", "unbanKey"]
    ])
    expect(JSON.stringify(body)).not.toMatch(/Pet|animals"|An API key is/)
  })

  it("has the counts of the metrics, and rows whose sum is what happened in between", async () => {
    const { send, store } = await Console.open()
    const { key } = await store.keys.issue({ plan: "Enterprise", limits: { perMinute: 2, perDay: 9 } })
    for (let count = 0; count < 5; count++) {
      await store.fetch(new Request("http://x/v1/pets", { headers: { Authorization: `Bearer ${key}` } }))
    }
    const { body } = await send("GET", "/v1/history")
    expect(body.total).toMatchObject({ requests: { 200: 2, 429: 3 }, limited: { Enterprise: 3 } })
    expect(body.workers).toEqual([{ worker: 1, ...body.total, memoryBytes: expect.any(Number) }])
    expect(store.metrics()).toContain('animal_store_admissions_total{outcome="limited",plan="Enterprise"} 3')
  })
})

describe("a hostile client of the admin API", () => {
  it("cannot use an API key, and an admin token opens no operation of the service", async () => {
    const { send, store, token } = await Console.open()
    const { key } = await store.keys.issue({ plan: "Enterprise", limits: { perMinute: 9, perDay: 9 } })
    const bearer = (secret: string) => ({ Authorization: `Bearer ${secret}` })
    expect(await send("GET", "/v1/plans", undefined, bearer(key))).toMatchObject({ status: 401 })
    const response = await store.fetch(new Request("http://x/v1/pets", { headers: bearer(token) }))
    expect(response.status).toBe(401)
    expect(await store.keys.verify(token)).toBeUndefined()
  })

  it("gets 429 after 30 attempts a minute, while a valid token still works", async () => {
    const { send, token } = await Console.open({ now: () => Date.UTC(2026, 11, 1) })
    const wrong = `${token.slice(0, -1)}${token.endsWith("a") ? "b" : "a"}`
    const statuses = new Map<number, number>()
    for (let attempt = 0; attempt < 1_000; attempt++) {
      const { status } = await send("GET", "/v1/plans", undefined, { Authorization: `Bearer ${wrong}` })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    // The bucket may have refilled by one or two during the attempts.
    expect(statuses.get(401)).toBeGreaterThanOrEqual(30)
    expect(statuses.get(401)).toBeLessThan(60)
    expect([...statuses.keys()].sort()).toEqual([401, 429])
    expect((await send("GET", "/v1/plans")).status).toBe(200)
  })

  it("cannot send requests from a page of another origin, and nothing is cached", async () => {
    const { origin, send, token } = await Console.open()
    const from = (page: string) =>
      send("POST", "/v1/keys", { plan: "Free" }, { Authorization: `Bearer ${token}`, Origin: page })
    for (const page of [
      "https://evil.example",
      "null",
      "http://127.0.0.1:1",
      origin.replace("127.0.0.1", "localhost")
    ]) {
      const response = await from(page)
      expect(response, page).toMatchObject({ status: 403, body: { code: "forbidden_origin" } })
      expect(response.headers.get("Access-Control-Allow-Origin")).toBe(null)
    }
    const allowed = await from(origin)
    expect([allowed.status, allowed.headers.get("Cache-Control")]).toEqual([201, "no-store"])
  })

  it("gets 503 in bounded time while the database does not respond", async () => {
    const kind = Stores.kinds.find(({ system }) => system === "sqlite")
    const address = (await kind?.address()) ?? ""
    const { send } = await Console.open({ database: address })
    renameSync(address.replace("sqlite:", ""), `${address.replace("sqlite:", "")}.gone`)
    for (const [method, path, body] of [
      ["POST", "/v1/keys", { plan: "Free" }],
      // Reads notice the loss of the file within 0.1 s.
      ["GET", "/v1/keys", undefined]
    ] as const) {
      await expect
        .poll(() => send(method, path, body), { timeout: 30_000 })
        .toMatchObject({ status: 503, body: { code: "service_unavailable" } })
    }
  })

  it("gets 413 for a large body, before it is read", async () => {
    const { send } = await Console.open()
    const response = await send("POST", "/v1/keys", { plan: "Free", label: "x".repeat(70_000) })
    expect(response).toMatchObject({ status: 413, body: { code: "payload_too_large" } })
  })

  it("loses access when its token is revoked or expires", async () => {
    let now = Date.UTC(2026, 11, 1)
    const { send, store } = await Console.open({ now: () => now })
    const expiring = { plan: "Admin", label: "bob", expires: { inMs: 60_000 } }
    const { id, key } = await store.adminTokens.issue(expiring)
    const other = await store.adminTokens.issue({ plan: "Admin" })
    const statusOf = async (secret: string) =>
      (await send("GET", "/v1/plans", undefined, { Authorization: `Bearer ${secret}` })).status
    expect([await statusOf(key), await statusOf(other.key)]).toEqual([200, 200])
    await store.adminTokens.revoke(other.id)
    expect(await statusOf(other.key)).toBe(401)
    now += 60_000
    expect(await statusOf(key)).toBe(401)
    expect((await store.adminTokens.list()).map((known) => known.id)).toContain(id)
    await expect(store.adminTokens.revoke("adm_unknown")).rejects.toThrow(
      "the admin token adm_unknown does not exist"
    )
  })
})
