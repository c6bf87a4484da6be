/** Runs the scripts of failures that the suite finds against the faulty server and against a correct one. */
import { spawnSync } from "node:child_process"
import { afterAll, describe, expect, it } from "vitest"
import { checks } from "../../checks/Checks.ts"
import type { Fault } from "../../gallery/Fault.ts"
import { faults } from "../../gallery/Faults.ts"
import { REMOVAL_BEGINS } from "../HttpCatalogue.ts"
import { end, runScript, scriptOf, start } from "./CurlRuns.fixture.ts"

const hasTools = ["curl", "awk", "mktemp"].every((tool) => spawnSync(tool, ["--version"]).error === undefined)

afterAll(end)

const isOfTransport = ({ where }: Fault): boolean =>
  where.at === "http" &&
  where.transport !== undefined &&
  Object.keys(where).every((name) => name === "at" || name === "transport")

/** Only every third fault is tried. */
const INTERVAL = 3

/**
 * Faults whose scripts are wrong: they do not show the fault, or they show it on a correct server. A script does not repeat
 * ids that the server derives from other ids or assigns twice, and it does not compare the cost of a request to the main
 * key, the date of Reset, lists of a store with one animal, or what concurrent requests return.
 */
const beyondScripts: ReadonlyArray<string> = [
  "list.single-unwrapped",
  "catalogue.constant-id",
  "create.client-id",
  "get.leading-digits",
  "get.id-wraps",
  "limits.headers-of-latest",
  "concurrent.one-writer-http",
  "cell.head-costs-two",
  "cell.missing-costs-two",
  "cell.month-reset"
]

const specIds = new Set(checks.filter(({ level }) => level === "spec").map(({ id }) => id))

/** A sample of the faults that are only in the transport and that a check of level spec finds. */
const sample = faults
  .filter((fault) => isOfTransport(fault) && specIds.has(fault.killedBy))
  .filter(({ id }, index) => index % INTERVAL === 0 && !beyondScripts.includes(id))

describe.skipIf(!hasTools)(
  `a script of a failure${hasTools ? "" : " (skipped: curl, awk or mktemp is not installed)"}`,
  () => {
    const shown: Array<string> = []

    it.each(sample)(
      "exits with 1 for the faulty server and with 0 for a correct one: $id",
      async (fault) => {
        const faulty = await start(fault)
        const script = await scriptOf(fault, faulty).catch(() => undefined)
        // This correct server differs from ours, so the suite does not find each of our faults in it.
        if (script === undefined) return
        // A script omits parts of a key.
        if (script.includes("INSERTED=no")) {
          expect(await runScript(script, faulty)).toMatch(/^2 insert the omitted parts of a key first/)
          return
        }
        // The clock of the run is past the moment of such a case.
        const moment = Number(/\npass_until ([0-9]+)/.exec(script)?.[1] ?? REMOVAL_BEGINS)
        const again =
          moment < REMOVAL_BEGINS
            ? "2 the time of the case has passed: restart the server with an earlier clock"
            : "1 SHOWN"
        expect(await runScript(script, faulty)).toBe(again)
        // The fault is also shown on a new server.
        const fresh = await start(fault)
        expect(await runScript(script, fresh)).toBe("1 SHOWN")
        expect(await runScript(script, await start(undefined))).toBe("0 NOT SHOWN")
        shown.push(fault.id)
      },
      120_000
    )

    it("was tried with faults of many kinds", () => {
      expect(shown.length).toBeGreaterThanOrEqual(10)
    })
  }
)
