/** Checks the reference page in a real browser. */
import type { Browser } from "playwright-core"
import { afterAll, afterEach, beforeAll, expect, it } from "vitest"
import { describeInBrowser, launch } from "./Chromium.fixture.ts"
import { type AnimalStore, openAnimalStore } from "./index.ts"
import * as ReferencePage from "./ReferencePage.fixture.ts"

const { authorize, execute, operation, readResponse, scrollTo, tabTo, takeScreenshot, unfold, widthOf } =
  ReferencePage

/** The smallest positive integer that a double cannot represent. */
const NOT_A_DOUBLE = "9007199254740993"

describeInBrowser("the reference page in a browser", () => {
  let browser: Browser
  let store: AnimalStore
  let origin: string
  const opened: Array<ReferencePage.OpenPage> = []

  /** Opens a page; after the test, `afterEach` checks that it had no errors and loaded nothing from other hosts. */
  const open = async (path = "/docs", options = {}): Promise<ReferencePage.OpenPage> => {
    const page = await ReferencePage.open(browser, origin + path, options)
    opened.push(page)
    return page
  }

  const issue = async (perMinute: number): Promise<string> => {
    const { key } = await store.keys.issue({ plan: "Enterprise", limits: { perMinute, perDay: 100 } })
    return key
  }

  beforeAll(async () => {
    browser = await launch()
    store = await openAnimalStore({ docs: true, log: () => undefined })
    origin = `http://127.0.0.1:${(await store.listen({ port: 0 })).port}`
  }, 120_000)

  afterEach(async () => {
    for (const { close, errors, requested } of opened.splice(0)) {
      await close()
      expect(errors).toEqual([])
      expect(requested.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith("data:"))).toEqual([])
    }
  })

  afterAll(async () => {
    await browser?.close()
    await store?.close()
  })

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
    expect(requested).toContain(`${origin}/v1/pets/${NOT_A_DOUBLE}`)
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

  it("can be used with the keyboard alone", async () => {
    const { page } = await open()
    await page.waitForSelector(".authorize")
    await tabTo(page, ".authorize")
    await page.keyboard.press("Enter")
    await tabTo(page, ".auth-container input")
    await page.keyboard.type(await issue(60))
    await page.keyboard.press("Enter")
    await tabTo(page, ".btn-done")
    await page.keyboard.press("Enter")
    await tabTo(page, `${operation("createPet")} .opblock-summary-control`)
    const outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    expect(outline).not.toBe("none")
    await page.keyboard.press("Enter")
    await page.waitForSelector(`${operation("createPet")} .execute`)
    await tabTo(page, `${operation("createPet")} textarea`)
    await page.keyboard.press("Control+A")
    await page.keyboard.type(`{"name":"Mia","categoryId":${NOT_A_DOUBLE}}`)
    await tabTo(page, `${operation("createPet")} .execute`)
    await page.keyboard.press("Enter")
    expect(await readResponse(page, "createPet", 201)).toContain(NOT_A_DOUBLE)
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

  it.each(["light", "dark"] as const)(
    "fits a window with a width of 360 pixels in the %s color scheme",
    async (colorScheme) => {
      const { page } = await open("/docs", { colorScheme, viewport: { width: 360, height: 780 } })
      await page.waitForSelector(".opblock")
      await takeScreenshot(page, `narrow-${colorScheme}`)
      await authorize(page, await issue(60))
      for (const id of ["listPets", "createPet", "getPet"]) await unfold(page, id)
      await page.fill(`${operation("createPet")} textarea`, `{"name":"Rex","categoryId":${NOT_A_DOUBLE}}`)
      await execute(page, "createPet", 201)
      await scrollTo(page, "createPet")
      await takeScreenshot(page, `narrow-create-${colorScheme}`)
      expect(await widthOf(page)).toBe(360)
    }
  )

  it("follows the color scheme of the system, even when the scheme changes", async () => {
    const { page } = await open("/docs", { colorScheme: "dark" })
    await page.waitForSelector(".opblock")
    const background = String(
      await page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    )
    const channels = (background.match(/[0-9]+/g) ?? []).slice(0, 3).map(Number)
    expect(Math.max(...channels)).toBeLessThan(64)
    await unfold(page, "createPet")
    await page.locator(operation("createPet")).scrollIntoViewIfNeeded()
    await takeScreenshot(page, "dark")
    await page.emulateMedia({ colorScheme: "light" })
    await page.waitForSelector("html:not(.dark-mode)")
  })

  it.each(["light", "dark"] as const)(
    "is linked from the start page in the %s color scheme",
    async (colorScheme) => {
      const { page } = await open("/", { colorScheme, viewport: { width: 360, height: 640 } })
      expect(await widthOf(page)).toBe(360)
      await takeScreenshot(page, `start-${colorScheme}`)
      await tabTo(page, "a[href=docs]")
      await page.keyboard.press("Enter")
      await page.waitForSelector(operation("listPets"))
      await page.goBack()
      await page.click("text=OpenAPI document")
      expect(await page.innerText("body")).toContain('"openapi":"3.1.0"')
    }
  )
})
