/** Runs the programs in embedding.md, own-operations.md and effect.md that are not recipes; adds the missing code to incomplete programs. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import * as path from "node:path"
import * as readline from "node:readline"
import { describe, expect, it, onTestFinished } from "vitest"
import { read, root } from "./Pages.fixture.ts"
import { programOf, programsOf, save } from "./Programs.fixture.ts"

const effectPage = "docs/effect.md"
const operationsPage = "docs/own-operations.md"
const pages = ["docs/embedding.md", effectPage, operationsPage]

/** A program on one of the pages: a text that only it contains, code to add before and after it, and the expected output. */
interface ProgramCase {
  readonly page?: string
  readonly text: string
  readonly before?: string
  readonly after?: string
  readonly prints: RegExp
}

const openStore = 'import { openAnimalStore } from "animal-store"\n'
const nodeHttp = fs.readFileSync(path.join(root, "docs/recipes/node-http/main.mjs"), "utf8")

/** Code that sends two requests with a key that is limited to one request per minute. */
const exceedLimit = `
const { key } = await store.keys.issue({ plan: "Free", limits: { perMinute: 1, perDay: 9 } })
const request = () => new Request("http://store.test/v1/pets", { headers: { Authorization: "Bearer " + key } })
await store.fetch(request())
await store.fetch(request())
await store.close()
`

/** The wait in the documented finalizer, and one that ends when the test closes the program's standard input. */
const wait = 'Effect.sleep("5 seconds")'
const waitForEndOfInput =
  'Effect.promise(() => new Promise((resolve) => process.stdin.once("end", resolve).resume()))'

/** Code that sends `GET /orders/7` with `send`, with a key and without, and prints the responses. */
const sendOrders = `
const [admitted, rejected] = [await send({ Authorization: "Bearer " + key }), await send({})]
console.log(admitted.status, admitted.headers.get("X-RateLimit-Remaining"), await admitted.text())
console.log(rejected.status, rejected.headers.get("X-RateLimit-Remaining"))
process.exit()
`
const sendOrdersToServer = `
if (!server.listening) await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
const send = (headers) => fetch("http://127.0.0.1:" + server.address().port + "/orders/7", { headers })
${sendOrders}`
const openWithKey = `${openStore}
const store = await openAnimalStore({ log: () => undefined })
const { key } = await store.keys.issue({ plan: "Free", label: "shop front" })
`
const ordersOutput =
  /200 59 \{(?:"id":"7",)?"caller":\{"id":"key_\w+","plan":"Free","label":"shop front"\}\}\n401 59$/

const programs: ReadonlyArray<ProgramCase> = [
  {
    text: 'app.get("/orders/:id", store.guard(), (',
    after: `await new Promise((resolve) => server.once("listening", resolve))\n${sendOrdersToServer}`,
    prints: ordersOutput
  },
  {
    text: "store.guard({ cost: 5 })",
    before: `import express from "express"\n${openWithKey}const app = express()`,
    after: `
const server = app.listen(0, "127.0.0.1")
await new Promise((resolve) => server.once("listening", resolve))
const send = async (path, init) => {
  const headers = { Authorization: "Bearer " + key, "Content-Type": "application/json" }
  const response = await fetch("http://127.0.0.1:" + server.address().port + path, { headers, ...init })
  console.log(response.status, response.headers.get("X-RateLimit-Remaining"), await response.text())
}
await send("/orders", { method: "POST", body: '{"item":7}' })
await send("/reports?format=pdf")
await send("/reports?format=x")
process.exit()
`,
    prints: /201 55 \{"item":7\}\n200 45 \[\]\n200 44 \[\]$/
  },
  {
    text: "onRequest: store.guard()",
    before: `import Fastify from "fastify"\n${openWithKey}const app = Fastify()`,
    after: `await app.listen({ port: 0, host: "127.0.0.1" })\nconst { server } = app\n${sendOrdersToServer}`,
    prints: ordersOutput
  },
  {
    text: 'store.guard({ route: "/orders/{id}" })',
    before: `import * as http from "node:http"\n${openWithKey}`,
    after: sendOrdersToServer,
    prints: ordersOutput
  },
  {
    text: "await store.admit(c.req.raw)",
    before: `import { Hono } from "hono"\n${openWithKey}const app = new Hono()`,
    after: `const send = (headers) => app.request("/orders/7", { headers })\n${sendOrders}`,
    prints: ordersOutput
  },
  { text: 'label: "shop front" })\n// …', after: "console.log(plan, key)\n", prints: /^Pro ast_/ },
  { text: "keys.show(id)", after: "console.log(usage.minute.remaining)\n", prints: /^300$/ },
  {
    text: "changePlan",
    after: `
await new Promise((resolve) => server.once("listening", resolve))
const headers = { Authorization: "Bearer " + key }
const send = async (path, sent = headers) => {
  const response = await fetch("http://127.0.0.1:" + server.address().port + path, { headers: sent })
  console.log(response.headers.get("X-RateLimit-Limit"), response.status, await response.text())
}
await send("/v1/pets")
await send("/usage")
const other = await store.keys.issue({ plan: "Free" })
await send("/usage", { Authorization: "Bearer " + other.key })
const [first] = await store.keys.list({ account: "acme" })
const second = await store.keys.issue({ ...customer, label: "new shop" })
await store.keys.revoke(first.id)
await changePlan("acme", "Starter")
await send("/usage", { Authorization: "Bearer " + second.key })
store.keys.list = () => Promise.reject(new Error("the database is gone"))
await send("/usage", { Authorization: "Bearer " + second.key })
process.exit()
`,
    prints: new RegExp(
      [
        '^600 200 \\[\\]\n600 200 {"account":"acme","metadata":{"crm":7},"plan":"Growth",',
        '"keys":\\["shop","back office"\\],"day":{"limit":50000,"used":2,.*\n60 404 .*"not_found".*\n',
        '120 200 {"account":"acme","metadata":{"crm":7},"plan":"Starter",',
        '"keys":\\["back office","new shop"\\],"day":{"limit":5000,"used":3,.*\n120 503 .*"service_unavailable"'
      ].join(""),
      "m"
    )
  },
  { text: "store.pets.all()", prints: /^Rex$/ },
  {
    text: 'process.once("SIGTERM"',
    before: nodeHttp,
    after:
      'process.once("exit", () => console.log("closed"))\nsetTimeout(() => process.kill(process.pid, "SIGTERM"), 500)\n',
    prints: /^closed$/m
  },
  {
    text: "onResponse:",
    before: openStore,
    after: exceedLimit,
    prints: /^key key_\w+ on plan Free is limited/
  },
  {
    text: "store.metrics()",
    before: `import * as http from "node:http"\n${openStore}`,
    after: `
await new Promise((resolve) => admin.once("listening", resolve))
const { port } = admin.address()
const page = await fetch("http://127.0.0.1:" + port)
console.log(page.headers.get("Content-Type"))
console.log(await page.text())
admin.close()
await store.close()
`,
    prints:
      /^text\/plain; version=0\.0\.4; charset=utf-8\n[\s\S]*^# TYPE process_resident_memory_bytes gauge$/m
  },
  {
    page: operationsPage,
    text: 'id: "createOrder"',
    after: `
const send = (path, body) =>
  fetch("http://127.0.0.1:" + port + "/v1" + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { Authorization: "Bearer " + key, "Content-Type": "application/json" },
    body
  })
const created = await send("/orders", '{"petId":1,"note":"a gift"}')
const location = new URL(created.headers.get("Location"), created.url).pathname.replace("/v1", "")
for (const [path, body] of [[location], ["/orders/7"], ["/orders", '{"petId":2}'], ["/orders", "{}"]]) {
  const response = await send(path, body)
  console.log(response.status, await response.text())
}
console.log(created.status, created.headers.get("X-RateLimit-Remaining"), await (await send("/orders?limit=1")).text())
await store.close()
`,
    prints: new RegExp(
      [
        /^curl .*/,
        /200 {"id":"[\w-]+","petId":1,"note":"a gift"}/,
        /404 {"code":"order_unknown","message":"There is no order 7[.]","status":404}/,
        /409 {"code":"pet_not_available",.*}/,
        /400 {"code":"invalid_body","message":"The body is invalid: petId: is required[.]","status":400}/,
        /201 59 \[{.*"a gift"}\]$/
      ]
        .map(({ source }) => source)
        .join("\n")
    )
  },
  {
    page: operationsPage,
    text: "app.post",
    after: `
await new Promise((resolve) => server.once("listening", resolve))
const send = async (path, body) => {
  const response = await fetch("http://127.0.0.1:" + server.address().port + "/v1/orders" + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { Authorization: "Bearer " + key, "Content-Type": "application/json" },
    body
  })
  console.log(response.status, response.headers.get("X-RateLimit-Remaining"), await response.text())
  return response.headers.get("Location")
}
const location = await send("", '{"petId":1}')
await send(location.slice("/v1/orders".length))
await send("/7")
await send("", '{"petId":2}')
server.close()
await store.close()
`,
    prints: new RegExp(
      [
        /^curl .*/,
        /201 59 {"id":"[\w-]+","petId":1,"soldTo":"shop front"}/,
        /200 58 {"id":"[\w-]+","petId":1,"soldTo":"shop front"}/,
        /404 57 {"code":"order_unknown","message":"There is no such order[.]","status":404}/,
        /409 56 {"code":"pet_not_available",.*}$/
      ]
        .map(({ source }) => source)
        .join("\n")
    )
  },
  {
    page: operationsPage,
    text: "z.object",
    after: `
const { key } = await store.keys.issue({ plan: "Free" })
const headers = { Authorization: "Bearer " + key }
console.log(await (await store.fetch(new Request("http://x/v1/orders?isPaid=true", { headers }))).text())
await store.close()
`,
    prints: /^{"limit":20,"isPaid":true}$/
  },
  {
    page: effectPage,
    text: 'id: "countPets"',
    after: `
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { KeyLifecycle } from "animal-store/core"
import { FetchHandler } from "animal-store/http-fetch"
import { Memory } from "animal-store/memory"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

const layers = ServiceLive.pipe(Layer.provideMerge(Memory.layer), Layer.provideMerge(NodeCrypto.layer))
await Effect.runPromise(Effect.scoped(Effect.provide(Effect.gen(function* () {
  const handle = yield* FetchHandler.make()
  const { secret } = yield* KeyLifecycle.issue({ plan: "Free" })
  const headers = { Authorization: "Bearer " + Redacted.value(secret) }
  const response = yield* Effect.promise(() => handle(new Request("http://store.test/v1/pets/count", { headers })))
  console.log(response.status, yield* Effect.promise(() => response.text()))
}), layers)))
`,
    prints: /^200 0$/m
  }
]

/** The programs in embedding.md that are tests: a text that only one contains, the file, the arguments of Node, the output. */
const tests = [
  {
    text: "vi.useFakeTimers",
    name: "store.test.js",
    runner: (file: string) => [
      path.join(root, "node_modules/vitest/vitest.mjs"),
      ...["run", "--dir", path.dirname(file)]
    ],
    prints: /Tests +1 passed/
  },
  {
    text: "mock.timers.enable",
    name: "store.test.mjs",
    runner: (file: string) => ["--test", "--test-reporter=tap", file],
    prints: /# pass 1/
  }
]

const recipes = fs
  .readdirSync(path.join(root, "docs/recipes"), { recursive: true, encoding: "utf8" })
  .filter((name) => /\.m?js$/.test(name) && !name.includes("node_modules"))
  .map((name) => fs.readFileSync(path.join(root, "docs/recipes", name), "utf8"))

describe("the pages about embedding", { timeout: 180_000 }, () => {
  it.each(pages)("have in %s only programs that a recipe or this file tests", (page) => {
    const untested = programsOf(page).filter(
      (code) => !recipes.includes(code) && ![...programs, ...tests].some(({ text }) => code.includes(text))
    )
    expect(untested).toEqual([])
  })

  it.each(programs)(
    "have a program with $text that prints the expected output",
    ({ after = "", before = "", page = "docs/embedding.md", prints, text }) => {
      const program = programOf(page, text).replace(/listen\(\d+/, "listen(0")
      const file = save("program.mjs", `${before}\n${program}\n${after}`)
      const { status, stderr, stdout } = spawnSync(process.execPath, [file], {
        cwd: path.dirname(file),
        encoding: "utf8",
        env: { ...process.env, PORT: "0" },
        timeout: 120_000
      })
      expect({ status, stderr, stdout: stdout.trimEnd() }).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(prints)
      })
    }
  )

  it.each(tests)("have a test with $text that passes", ({ name, prints, runner, text }) => {
    const file = save(name, programOf("docs/embedding.md", text))
    const { status, stderr, stdout } = spawnSync(process.execPath, runner(file), {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, NODE_TEST_CONTEXT: undefined, NO_COLOR: "1" },
      timeout: 120_000
    })
    expect({ status, stderr, stdout }).toMatchObject({ status: 0, stdout: expect.stringMatching(prints) })
  })

  it("state correctly that `export default app` replaces the call to `serve` on other hosts of Hono", async () => {
    expect(read("docs/embedding.md")).toContain("`export default app` replaces the call to `serve`")
    const recipe = read("docs/recipes/hono/main.mjs")
    const program = recipe
      .replace(/^import \{ serve \}.*\n/m, "")
      .replace(/^serve\([\s\S]*/m, "export default app\n")
    expect(program).not.toMatch(/serve\b/)
    const file = save("program.mjs", `${program}\nexport { key, store }\n`)
    const host = path.join(path.dirname(file), "host.mjs")
    fs.writeFileSync(
      host,
      `import app, { key, store } from "./program.mjs"
const headers = { Authorization: "Bearer " + key }
const response = await app.fetch(new Request("http://host.test/v1/pets", { headers }))
console.log(response.status, await response.text())
await store.close()
`
    )
    const { status, stdout } = spawnSync(process.execPath, [host], {
      encoding: "utf8",
      env: process.env,
      timeout: 120_000
    })
    expect({ status, stdout }).toEqual({ status: 0, stdout: "200 []\n" })
  })

  it("have a finalizer with `service.drain` that lets a server built from layers drain before it stops", async () => {
    const [, finalizer = ""] = /`(Effect\.addFinalizer\([^`]*\))`/.exec(read(effectPage)) ?? []
    const [, service = ""] = /`(yield\* Service\.Service)`/.exec(read(effectPage)) ?? []
    const makeLine = /^ *const \{ port \} = yield\* NodeServer\.make.*$/m
    const program = read("docs/recipes/effect/main.mjs")
    expect(program).toMatch(makeLine)
    expect(finalizer).toContain(wait)
    const file = save(
      "program.mjs",
      program.replace(
        makeLine,
        (line) =>
          `${line}\n  const service = ${service}\n  yield* ${finalizer.replace(wait, waitForEndOfInput)}`
      )
    )
    const server = spawn(process.execPath, [file], {
      env: { ...process.env, PORT: "0" },
      stdio: ["pipe", "pipe", "inherit"]
    })
    const exit = once(server, "exit")
    onTestFinished(() => void server.kill("SIGKILL"))
    const { value: line }: { readonly value?: unknown } = await readline
      .createInterface({ input: server.stdout })
      [Symbol.asyncIterator]()
      .next()
    const [origin = ""] = /http:[^/]*\/\/[^/]+/.exec(String(line)) ?? []
    const readyStatus = async (): Promise<number> => (await fetch(`${origin}/readyz`)).status
    expect(await readyStatus()).toBe(200)
    server.kill("SIGTERM")
    await expect.poll(readyStatus, { timeout: 60_000 }).toBe(503)
    expect((await fetch(`${origin}/livez`)).status).toBe(200)
    server.stdin.end()
    await exit
    await expect(readyStatus()).rejects.toThrow()
  })
})
