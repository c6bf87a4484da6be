/** Operates the reference page in Chromium as a user does. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, expect } from "vitest"
import { launch } from "./Chromium.fixture.ts"
import { type AnimalStore, openAnimalStore } from "./index.ts"

/** An open page, with its recorded errors and requests. */
export interface OpenPage {
  readonly page: Page
  /** Violations of the content security policy, and errors of scripts. */
  readonly errors: ReadonlyArray<string>
  /** The URLs of all requests. */
  readonly requested: ReadonlyArray<string>
  /** The bodies of all requests as sent; empty strings for requests without a body. */
  readonly sentBodies: ReadonlyArray<string>
  readonly close: () => Promise<void>
}

// Code for the page is a string, because browser globals do not type-check here.
const REPORT_VIOLATIONS = `document.addEventListener("securitypolicyviolation", (event) =>
  console.log("violation of " + event.violatedDirective + " by " + event.blockedURI))`

/** Maximum time for any step in milliseconds, because the browser is slow on a busy machine. */
const STEP_MS = 60_000

/** Opens a URL in a new browser profile. */
export const openIn = async (
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {}
): Promise<OpenPage> => {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options })
  context.setDefaultTimeout(STEP_MS)
  const page = await context.newPage()
  const errors: Array<string> = []
  const requested: Array<string> = []
  const sentBodies: Array<string> = []
  page.on("request", (request) => {
    requested.push(request.url())
    sentBodies.push(request.postData() ?? "")
  })
  page.on("pageerror", (error) => errors.push(String(error)))
  page.on("console", (message) => {
    if (message.text().startsWith("violation ")) errors.push(message.text())
  })
  await page.addInitScript({ content: REPORT_VIOLATIONS })
  await page.goto(address)
  return { page, errors, requested, sentBodies, close: () => context.close() }
}

/** Starts a browser and a store for the tests of a file; the clock of the store stands still. */
export const setUp = () => {
  let browser: Browser
  let store: AnimalStore
  let origin: string
  const opened: Array<OpenPage> = []

  beforeAll(async () => {
    browser = await launch()
    store = await openAnimalStore({ docs: true, log: () => undefined, now: () => Date.UTC(2026, 11, 1) })
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

  return {
    origin: () => origin,
    /** Opens a page; after the test, `afterEach` checks that it had no errors and loaded nothing from other hosts. */
    open: async (path = "/docs", options: BrowserContextOptions = {}): Promise<OpenPage> => {
      const page = await openIn(browser, origin + path, options)
      opened.push(page)
      return page
    },
    issue: async (perMinute: number): Promise<string> => {
      const { key } = await store.keys.issue({ plan: "Enterprise", limits: { perMinute, perDay: 100 } })
      return key
    }
  }
}

/** Enters the API key in the dialog of the page. */
export const authorize = async (page: Page, key: string): Promise<void> => {
  await page.click(".authorize")
  await page.fill(".auth-container input", key)
  await page.press(".auth-container input", "Enter")
  await page.click(".btn-done")
}

/** Returns the selector of the page section for an operation. */
export const operation = (id: string): string => `#operations-animals-${id}`

/** Unfolds an operation, and waits for the button that sends its request. */
export const unfold = async (page: Page, id: string): Promise<void> => {
  await page.click(`${operation(id)} .opblock-summary-control`)
  await page.waitForSelector(`${operation(id)} .execute`)
}

/** Sends the request of an unfolded operation and returns the response as the page shows it. */
export const execute = async (page: Page, id: string, status: number): Promise<string> => {
  await page.click(`${operation(id)} .execute`)
  return readResponse(page, id, status)
}

/** Waits until the page shows this status, and returns the response as the page shows it. */
export const readResponse = async (page: Page, id: string, status: number): Promise<string> => {
  const table = page.locator(`${operation(id)} .live-responses-table`)
  await table.locator(".response-col_status", { hasText: String(status) }).waitFor()
  return table.innerText()
}

/** Maximum number of Tab presses: more than twice the elements that Tab can reach, so that it reaches each. */
const MAX_TABS = 250

/** Waits for an element that matches, and presses Tab until it has the focus; throws after `MAX_TABS` presses. */
export const tabTo = async (page: Page, selector: string): Promise<void> => {
  // The page renders an unfolded operation in steps: without waiting, Tab can pass before the element exists.
  await page.waitForSelector(selector)
  for (let count = 0; count < MAX_TABS; count++) {
    await page.keyboard.press("Tab")
    if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)}) === true`)) return
  }
  throw new Error(`${selector} cannot be reached with the Tab key`)
}

/** Scrolls the button that sends the request of an operation to the top of the window. */
export const scrollTo = (page: Page, id: string): Promise<unknown> =>
  page.evaluate(`document.querySelector("${operation(id)} .execute").scrollIntoView()`)

/** Returns the width that the page needs, in pixels. */
export const widthOf = (page: Page): Promise<unknown> => page.evaluate("document.documentElement.scrollWidth")

/** Takes a screenshot if `ANIMAL_STORE_TEST_SCREENSHOTS` names a directory. */
export const takeScreenshot = async (page: Page, name: string): Promise<void> => {
  const directory = process.env.ANIMAL_STORE_TEST_SCREENSHOTS
  if (directory === undefined || directory === "") return
  mkdirSync(directory, { recursive: true })
  await page.screenshot({ path: join(directory, `${name}.png`) })
}
