/** Checks that each library repeats a creation with the same `Idempotency-Key`, so that only one animal is stored. */
import { randomUUID } from "node:crypto"
import * as fs from "node:fs"
import { afterAll, beforeAll, expect, it } from "vitest"
import * as OpenApi from "../../core/openapi/OpenApi.ts"
import * as Operations from "../../core/operations/Operations.ts"
import * as ServiceOptions from "../../core/service/ServiceOptions.ts"
import { describeInstalled } from "../Packages.fixture.ts"
import * as Clients from "./Clients.fixture.ts"
import * as LossyProxy from "./LossyProxy.fixture.ts"
import * as RetryingClients from "./RetryingClients.fixture.ts"

const isSupported = OpenApi.json(ServiceOptions.defaults, Operations.all).includes('"Idempotency-Key"')

const headerSuffix = Clients.skipSuffix(
  "The test of Idempotency-Key",
  isSupported ? undefined : "the service does not support the header"
)

describeInstalled("docs/clients", "libraries that repeat a creation", () => {
  let directory = ""
  let server: Clients.Server
  let proxy: LossyProxy.LossyProxy
  const libraries = RetryingClients.libraries(() => directory)

  beforeAll(async () => {
    directory = Clients.createDirectory()
    server = await Clients.serve(["pro"])
    proxy = await LossyProxy.start(server.url)
  })

  afterAll(async () => {
    proxy?.close()
    await server?.stop()
    fs.rmSync(directory, { recursive: true, force: true })
  })

  for (const { create, name, skipReason } of libraries) {
    const suffix = Clients.skipSuffix(name, skipReason)
    const title = (claim: string): string => `${name} ${claim}${suffix}`
    const key = `"${randomUUID()}"`

    it.skipIf(skipReason !== undefined)(
      title("retries with the same key after a lost connection and a 503, and receives 201"),
      async () => {
        expect(await create({ url: proxy.url, key: server.keys[0]?.key ?? "" }, key)).toEqual([201])
        expect(proxy.attempts.filter((attempt) => attempt === key)).toHaveLength(3)
      }
    )

    it.skipIf(skipReason !== undefined || !isSupported)(
      title(`creates only one animal${headerSuffix}`),
      async () => {
        const created = (await Clients.listAnimals(server)).filter(
          (pet) => Reflect.get(Object(pet), "name") === name
        )
        expect(created).toHaveLength(1)
      }
    )
  }
})
