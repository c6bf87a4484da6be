/** Checks pages with axe-core, the rules of WCAG that a program can check. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { Page } from "playwright-core"

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** Returns the violations within `selector`, each as its rule and the elements that break it. */
export const violations = async (page: Page, selector = "html"): Promise<ReadonlyArray<string>> => {
  // Not a script of the page: its content security policy permits none of another origin.
  await page.evaluate(source)
  const found =
    await page.evaluate(`axe.run(${JSON.stringify(selector)}, { resultTypes: ["violations"] }).then(
    ({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ target }) => target.join(" ")).join(", ")))`)
  return found as ReadonlyArray<string> // the result of `axe.run`
}
