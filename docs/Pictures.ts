/**
 * Takes the pictures of the console: `npm run pictures -- [MINUTES]`. A store serves real requests of several keys for
 * some minutes, 5 by default; nothing on the pictures is drawn by hand. Requires Chromium, as tests of pages do.
 */
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { launch } from "../adapters/embed/Chromium.fixture.ts"
import { openAnimalStore } from "../adapters/embed/index.ts"

const minutes = Number(process.argv[2] ?? 5)

/** The keys, with their requests per second: some stay within their limits, one is banned. */
const clients = [
  { plan: "Business", label: "Shop front", account: "acme", perSecond: 15 },
  { plan: "Pro", label: "Mobile app", account: "acme", perSecond: 4.4 },
  { plan: "Free", label: "Till 1", account: "globex", perSecond: 0.9 },
  { plan: "Free", label: "Price feed", account: "initech", perSecond: 12 },
  { plan: "Pro", label: "Warehouse", account: "globex", perSecond: 1 }
]

const directory = mkdtempSync(join(tmpdir(), "animal-store-"))
const store = await openAnimalStore({
  ...{ database: `sqlite:${join(directory, "animals.db")}`, metrics: true, log: () => undefined }
})
const server = createServer(await store.console()).listen(0, "127.0.0.1")
await once(server, "listening")
const { key: token } = await store.adminTokens.issue({ plan: "Admin", label: "ada" })
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a server on a port has an address

const timers = []
for (const { perSecond, ...options } of clients) {
  const { id, key } = await store.keys.issue(options)
  const authorization = { Authorization: `Bearer ${key}` }
  const send = () => store.fetch(new Request(`${origin}/v1/pets`, { headers: authorization }))
  timers.push(setInterval(send, 1_000 / perSecond))
  if (options.label === "Warehouse") await store.keys.rotate(id, { overlapMs: 86_400_000 })
}

const browser = await launch()
await new Promise((resolve) => setTimeout(resolve, minutes * 60_000))
for (const [colorScheme, hash, name] of [
  ["light", "", "console.png"],
  ["dark", "#history", "console-hour.png"]
] as const) {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1200, height: 620 } })
  await page.goto(`${origin}/${hash}`)
  await page.fill("#token", token)
  await page.keyboard.press("Enter")
  await page.waitForSelector("tbody tr")
  await page.waitForTimeout(1_000)
  await page.screenshot({ path: fileURLToPath(new URL(name, import.meta.url)) })
}
for (const timer of timers) clearInterval(timer)
await browser.close()
server.close()
server.closeAllConnections()
await store.close()
rmSync(directory, { recursive: true })
