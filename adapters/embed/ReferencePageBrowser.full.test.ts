/** Checks the keyboard control, the color schemes and the widths of the reference page in a real browser. */
import { expect, it } from "vitest"
import { describeInBrowser } from "./Chromium.fixture.ts"
import {
  authorize,
  execute,
  operation,
  readResponse,
  scrollTo,
  setUp,
  tabTo,
  takeScreenshot,
  unfold,
  widthOf
} from "./ReferencePage.fixture.ts"

/** The smallest positive integer that a double cannot represent. */
const NOT_A_DOUBLE = "9007199254740993"

describeInBrowser("the reference page in a browser", () => {
  const { issue, open } = setUp()

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
