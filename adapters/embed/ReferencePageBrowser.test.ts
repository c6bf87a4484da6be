/** Checks the reference page in a real browser. */
import { expect, it } from "vitest"
import * as Axe from "./Axe.fixture.ts"
import { describeInBrowser } from "./Chromium.fixture.ts"
import {
  authorize,
  execute,
  operation,
  scrollTo,
  setUp,
  takeScreenshot,
  unfold
} from "./ReferencePage.fixture.ts"

/** The smallest positive integer that a double cannot represent. */
const NOT_A_DOUBLE = "9007199254740993"

describeInBrowser("the reference page in a browser", () => {
  const { issue, open, origin } = setUp()

  it("creates, lists and gets an animal without rounding an int64", async () => {
    const { page, requested, sentBodies } = await open()
    await authorize(page, await issue(60))
    await unfold(page, "createPet")
    const body = `{"name":"Rex","categoryId":${NOT_A_DOUBLE}}`
    await page.fill(`${operation("createPet")} textarea`, body)
    const created = await execute(page, "createPet", 201)
    expect(sentBodies).toContain(body)
    expect(created).toContain(`"categoryId": ${NOT_A_DOUBLE}`)
    expect(created).toMatch(/x-ratelimit-limit: 60/)
    await scrollTo(page, "createPet")
    await takeScreenshot(page, "create-light")

    await unfold(page, "listPets")
    expect(await execute(page, "listPets", 200)).toContain(`"categoryId": ${NOT_A_DOUBLE}`)

    const id = /"id": ([0-9]+)/.exec(created)?.[1] ?? ""
    await unfold(page, "getPet")
    await page.fill(`${operation("getPet")} input[type=text]`, id)
    expect(await execute(page, "getPet", 200)).toContain(`"categoryId": ${NOT_A_DOUBLE}`)

    await page.fill(`${operation("getPet")} input[type=text]`, NOT_A_DOUBLE)
    expect(await execute(page, "getPet", 404)).toContain("not_found")
    expect(requested).toContain(`${origin()}/v1/pets/${NOT_A_DOUBLE}`)
  })

  it("creates another animal each time a request is sent, as it is or with another body", async () => {
    const { page, sentBodies } = await open()
    await authorize(page, await issue(60))
    await unfold(page, "createPet")
    const create = async (): Promise<string | undefined> => {
      const created = await execute(page, "createPet", 201)
      await page.click(`${operation("createPet")} .btn-clear`)
      return /"id": ([0-9]+)/.exec(created)?.[1]
    }
    const ids = [await create(), await create()]
    await page.fill(`${operation("createPet")} textarea`, '{"name":"Tom","categoryId":7}')
    ids.push(await create())
    expect(sentBodies.filter((body) => body !== "")).toHaveLength(3)
    expect(new Set(ids).size).toBe(3)
    expect(ids).not.toContain(undefined)
  })

  it("shows the headers of a response as they came", async () => {
    const { page } = await open()
    const key = await issue(60)
    await authorize(page, key)
    await unfold(page, "createPet")
    for (let count = 0; count < 2; count++) await execute(page, "createPet", 201)
    await unfold(page, "listPets")
    await page.fill(`${operation("listPets")} input[type=text] >> nth=0`, "1")
    const shown = await execute(page, "listPets", 200)
    const response = await fetch(`${origin()}/v1/pets?limit=1`, {
      headers: { Authorization: `Bearer ${key}` }
    })
    for (const name of ["link", "ratelimit-policy", "content-type", "vary"]) {
      const value = response.headers.get(name)
      if (value !== null) expect(shown).toContain(`${name}: ${value}`)
    }
    expect(response.headers.get("ratelimit-policy")).toContain(", ")
    expect(shown).toMatch(/date: \w+, \d\d \w+/)
  })

  it("shows the 401 for a request without a key, and the headers of a 429", async () => {
    const { page } = await open()
    await unfold(page, "listPets")
    const unauthorized = await execute(page, "listPets", 401)
    expect(unauthorized).toContain("missing_api_key")
    expect(unauthorized).toContain('www-authenticate: Bearer realm="animals"')
    await authorize(page, await issue(1))
    await execute(page, "listPets", 200)
    const denied = await execute(page, "listPets", 429)
    expect(denied).toContain("rate_limit_exceeded")
    for (const header of ["retry-after: 60", "x-ratelimit-remaining: 0", "x-ratelimit-reset: "]) {
      expect(denied).toContain(header)
    }
    await takeScreenshot(page, "denied-light")
  })

  it("keeps the key only in memory and discards it on reload", async () => {
    const { page } = await open()
    const key = await issue(60)
    await authorize(page, key)
    await unfold(page, "listPets")
    await execute(page, "listPets", 200)
    const stored = await page.evaluate(
      "indexedDB.databases().then((all) => [{ ...localStorage }, { ...sessionStorage }, document.cookie, all, location.href])"
    )
    expect(stored).toEqual([{}, {}, "", [], expect.not.stringContaining(key)])
    await page.reload()
    await page.waitForSelector(".authorize.unlocked")
    expect(await page.content()).not.toContain(key)
  })

  it("shows no rounded bounds in the schema of an int64", async () => {
    const { page } = await open()
    await unfold(page, "getPet")
    for (const schema of await page
      .locator("section.models button.json-schema-2020-12-expand-deep-button")
      .all()) {
      await schema.click()
    }
    const text = await page.innerText("body")
    expect(text).toContain("int64")
    expect(text).not.toMatch(/9007199254740992|922337203685477[0-9]{3,}/)
  })
})

describeInBrowser("the accessibility of the reference page", () => {
  const { issue, open } = setUp()

  /** What only Swagger UI itself can mend: docs/decisions/browsers-hosts-and-clients.md lists it. */
  const ofSwaggerUi = /^(?:heading-order|nested-interactive): /

  it.each(["light", "dark"] as const)(
    "has no violation but two of Swagger UI's own rules, %s",
    async (colorScheme) => {
      const start = await open("/", { colorScheme })
      expect(await Axe.violations(start.page)).toEqual([])
      const { page } = await open("/docs", { colorScheme })
      await authorize(page, await issue(60))
      await unfold(page, "listPets")
      await unfold(page, "createPet")
      await execute(page, "createPet", 201)
      const found = await Axe.violations(page)
      expect(found.filter((violation) => !ofSwaggerUi.test(violation))).toEqual([])
      expect(found).toHaveLength(2)
    }
  )
})
