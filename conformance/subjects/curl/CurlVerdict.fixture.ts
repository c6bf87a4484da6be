/** Runs the scripts of failures that the suite finds against the faulty server and against a correct one. */
import { spawnSync } from "node:child_process"
import { afterAll, describe, expect, it } from "vitest"
import { checks } from "../../checks/Checks.ts"
import { REMOVAL_BEGINS } from "../../http/Removal.ts"
import type { Fault } from "../../selftest/Fault.ts"
import { faults } from "../../selftest/Faults.ts"
import * as CurlRuns from "./CurlRuns.fixture.ts"

const hasTools = ["curl", "awk", "mktemp"].every((tool) => spawnSync(tool, ["--version"]).error === undefined)

/** Timeout of the scripts of one fault, even on a slow machine, in milliseconds. */
const TIMEOUT_MS = 600_000

const isOfTransport = ({ where }: Fault): boolean =>
  where.at === "http" &&
  where.transport !== undefined &&
  Object.keys(where).every((name) => name === "at" || name === "transport")

/**
 * Faults whose scripts are wrong: they exit with 0 for the faulty server, or with 1 for a correct one. A script does
 * not repeat ids that the server derives from other ids or assigns twice. It does not compare the cost of a request to
 * the main key, the date of Reset, lists of a store with one animal, the animals of a full list, whether a request is
 * the first with its key, or what concurrent requests return.
 */
const faultsWithWrongScripts: ReadonlyArray<string> = [
  "list.single-unwrapped",
  "catalogue.constant-id",
  "create.client-id",
  "get.leading-digits",
  "get.id-wraps",
  "limits.headers-of-latest",
  "concurrent.one-writer-http",
  "cell.head-costs-two",
  "cell.missing-costs-two",
  "cell.month-reset",
  "list.first-escaped",
  "list.first-cut",
  "cell.late-reset",
  "get.first-lost"
]

const specIds = new Set(checks.filter(({ level }) => level === "spec").map(({ id }) => id))

/**
 * Faults of the sample that the suite does not find in this correct server, which differs from ours: they need a
 * behavior that the contract leaves open.
 */
const undetectedFaults: ReadonlyArray<string> = ["list.partial-206", "ban.bans-all-until-its-end"]

/** The faults that are only in the transport and that a check of level spec finds. */
const candidates = faults.filter((fault) => isOfTransport(fault) && specIds.has(fault.killedBy))

/** Returns every third, twelfth, … of the faults. */
const sampleOf = (interval: number): ReadonlyArray<Fault> =>
  candidates
    .filter((_fault, index) => index % interval === 0)
    .filter(({ id }) => !faultsWithWrongScripts.includes(id) && !undetectedFaults.includes(id))

const TIME_PASSED = "2 the time of the case has passed: restart the server with an earlier clock"

type Runs = ReturnType<typeof CurlRuns.open>

/** The results of a script for the faulty server of the run, for a new faulty server, and for a correct one. */
interface Results {
  readonly sameServer: string
  readonly newServer: string
  readonly correctServer: string
}

/**
 * Runs the script of a fault, and returns its results together with the expected ones; `undefined` if the suite does
 * not find the fault.
 */
const verdictsOf = async (
  { runScript, start }: Runs,
  fault: Fault
): Promise<{ readonly actual: Results; readonly expected: Results } | undefined> => {
  const faulty = await start(fault)
  const script = await CurlRuns.scriptOf(fault, faulty)
  if (script === undefined) return undefined
  const actual = {
    sameServer: await runScript(script, faulty),
    newServer: await runScript(script, await start(fault)),
    correctServer: await runScript(script, await start(undefined))
  }
  // A script omits parts of a key.
  if (script.includes("INSERTED=no")) {
    const stopped = expect.stringMatching(/^2 insert the omitted parts of a key first/)
    return { actual, expected: { sameServer: stopped, newServer: stopped, correctServer: stopped } }
  }
  // The clock of the run may be past the moment of the case.
  const moment = Number(/\npass_until ([0-9]+)/.exec(script)?.[1] ?? REMOVAL_BEGINS)
  const sameServer = moment < REMOVAL_BEGINS ? TIME_PASSED : "1 SHOWN"
  return { actual, expected: { sameServer, newServer: "1 SHOWN", correctServer: "0 NOT SHOWN" } }
}

const describeScripts = (title: string, tests: (runs: Runs) => void): void => {
  const reason = hasTools ? "" : " (skipped: curl, awk or mktemp is not installed)"
  describe.skipIf(!hasTools)(`${title}${reason}`, () => {
    const runs = CurlRuns.open()
    afterAll(runs.close)
    tests(runs)
  })
}

/** Tests the scripts of a sample of the faults. */
export const testScripts = (interval: number): void =>
  describeScripts("a script of a failure", (runs) => {
    it.each(sampleOf(interval))(
      "exits with 1 for the faulty server and with 0 for a correct one: $id",
      async (fault) => {
        const verdicts = await verdictsOf(runs, fault)
        expect(verdicts, "the suite does not find the fault: add it to `undetectedFaults`").toBeDefined()
        expect(verdicts?.actual).toEqual(verdicts?.expected)
      },
      TIMEOUT_MS
    )
  })

/** Tests that the lists of exceptions name only faults that need to be in them. */
export const testExceptions = (): void =>
  describeScripts("a script of a failure", (runs) => {
    it.each(undetectedFaults)(
      "does not exist, because the suite does not find the fault: %s",
      async (wanted) => {
        const fault = candidates.find(({ id }) => id === wanted)
        expect(fault && (await verdictsOf(runs, fault))).toBeUndefined()
        expect(fault).toBeDefined()
      },
      TIMEOUT_MS
    )

    it.each(faultsWithWrongScripts)(
      "is still wrong for a fault that scripts cannot repeat: %s",
      async (wanted) => {
        const fault = candidates.find(({ id }) => id === wanted)
        const verdicts = fault && (await verdictsOf(runs, fault))
        expect(verdicts).toBeDefined()
        expect(verdicts?.actual, "remove it from `faultsWithWrongScripts`").not.toEqual(verdicts?.expected)
      },
      TIMEOUT_MS
    )
  })
