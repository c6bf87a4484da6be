import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import type { Transport, WireRequest } from "../http/Wire.ts"
import * as Terminal from "../reports/Terminal.ts"
import * as Subjects from "../selftest/Subjects.ts"
import * as Edit from "../selftest/spoilers/Edit.ts"
import * as HttpSubject from "../subjects/HttpSubject.ts"
import * as Replay from "./Replay.ts"
import * as ReplayToken from "./ReplayToken.ts"
import type { Report } from "./Report.ts"
import * as Run from "./Run.ts"

type Spoil = (real: Transport) => Transport

const none: Spoil = (real) => real

/** Uses a plain server, by default a correct one; `lacking` is what its user does not declare. */
const withServer = <A>(
  use: (subject: HttpSubject.HttpSubject) => Effect.Effect<A, unknown>,
  spoil: Spoil = none,
  lacking: Partial<HttpSubject.HttpTarget> = {}
): Promise<A> =>
  Effect.runPromise(
    Subjects.withSubject(Subjects.ofFault("a server", { at: "plain", transport: spoil }), 1, (opened) =>
      HttpSubject.is(opened)
        ? use(HttpSubject.make({ ...opened.target, baseUrl: "http://127.0.0.1:3000/v1", ...lacking }))
        : Effect.die("it is not a server")
    )
  )

const reportOf = (options: Run.RunOptions, spoil?: Spoil, lacking?: Partial<HttpSubject.HttpTarget>) =>
  withServer((subject) => Run.run(subject, { seed: 1, ...options }), spoil, lacking)

const isCreation = ({ method, target }: WireRequest) => method === "POST" && target === "/v1/pets"

/** Changes the name in the response to each creation. */
const renames: Spoil = (real) => (request) =>
  Effect.map(real(request), (response) =>
    isCreation(request) && response.status === 201
      ? Edit.rewritten((body) => body.replace(/"name":"./, '"name":"*'))(response)
      : response
  )

const failed = ({ checks }: Report) => checks.filter(({ status }) => status === "fail")

const TIMEOUT_MS = 60_000

describe("Run.run", () => {
  it(
    "reports the smallest history of a violation first, with what was sent, one command a step and a token",
    async () => {
      const report = await reportOf({ only: ["create.*", "resources.*", "list.*", "get.*"] }, renames)
      expect(report).toMatchObject({ verdict: "not-conformant", exitCode: 1 })
      const [cause] = report.causes
      const check = report.checks.find(({ id }) => id === cause?.check)
      expect(check?.counterexample?.steps).toHaveLength(1)
      const [step] = check?.counterexample?.steps ?? []
      expect(step?.did).toMatch(/^POST \/pets \{.*"name":/)
      expect(step?.got).toMatch(/^201 .*"name":"\*/)
      expect(step?.curl).toMatch(/^curl -i -H "Authorization: Bearer \$KEY"/)
      expect(JSON.stringify(report)).not.toContain("0123456789Abcdef")
      expect(Terminal.render(report).split("\n").length).toBeLessThanOrEqual(40)
    },
    TIMEOUT_MS
  )

  it(
    "returns a token that fails on the same server, is fixed on a correct one, and cannot be replayed without the key",
    async () => {
      const report = await reportOf({ only: ["create.*"] }, renames)
      const { token = "" } = failed(report)[0]?.counterexample ?? {}
      const content = Effect.fromResult(ReplayToken.decode(token))
      const replayed = (spoil?: Spoil) =>
        withServer((subject) => Effect.flatMap(content, (decoded) => Replay.replay(subject, decoded)), spoil)
      expect(await replayed(renames)).toMatchObject({ outcome: "failed" })
      expect(await replayed()).toMatchObject({ outcome: "fixed" })
      const { check } = await Effect.runPromise(content)
      const noCase = withServer((subject) => Replay.replay(subject, { check, case: "[]" }))
      expect(await noCase).toEqual({
        outcome: "not-replayable",
        reason: "the token contains no case",
        steps: []
      })
    },
    TIMEOUT_MS
  )

  it(
    "retrieves the animal that the replay created, also if ids are negative",
    async () => {
      const isGet = ({ method, target }: WireRequest) => method === "GET" && /^\/v1\/pets\/-/.test(target)
      /** Shows the animal `n` with the id `-first - n`, and as another one if it is retrieved. */
      const negative =
        (first: number): Spoil =>
        (real) =>
        (request) =>
          Effect.map(
            real({
              ...request,
              target: request.target.replace(/(?<=^\/v1\/pets\/)-\d{1,9}$/, (id) => String(-id - first))
            }),
            Edit.rewritten((body) => {
              const shown = body.replaceAll(/"id":(\d+)/g, (_, id: string) => `"id":${-id - first}`)
              return isGet(request) ? shown.replace(/"name":"/, '"name":"x') : shown
            })
          )
      const report = await reportOf({ only: ["get.faithful"] }, negative(1))
      const token = ReplayToken.decode(failed(report)[0]?.counterexample?.token ?? "")
      const replayed = await withServer(
        (subject) => Effect.flatMap(Effect.fromResult(token), (decoded) => Replay.replay(subject, decoded)),
        negative(1_000)
      )
      expect(replayed).toMatchObject({ outcome: "failed" })
    },
    TIMEOUT_MS
  )

  it(
    "does not call a fault fixed in a store that lacks the animals of the run",
    async () => {
      const shows100: Spoil = (real) => (request) =>
        real(
          request.target.endsWith("/pets") ? { ...request, target: `${request.target}?limit=100` } : request
        )
      const report = await reportOf({ only: ["list.limit.default"] }, shows100)
      const token = ReplayToken.decode(failed(report)[0]?.counterexample?.token ?? "")
      const replayed = await withServer(
        (subject) => Effect.flatMap(Effect.fromResult(token), (decoded) => Replay.replay(subject, decoded)),
        shows100
      )
      expect(replayed.outcome).toBe("not-replayable")
      expect(replayed.reason).toMatch(/^GET \/pets listed \d+ animals in the run, but lists \d+ now$/)
    },
    TIMEOUT_MS
  )

  it(
    "shows a violation of limits with every request of the key, and reproduces it after refilling the limits",
    async () => {
      /** Admits everyone to a list of sold animals, however many requests they sent. */
      const escapes: Spoil = (real) => (request) =>
        request.target.includes("status=sold")
          ? Effect.map(real(request), (response) =>
              response.status === 429
                ? { ...Edit.status(200)(response), body: new TextEncoder().encode("[]") }
                : response
            )
          : real(request)
      const report = await reportOf({ seed: 2, only: ["limits"] }, escapes)
      const [first] = failed(report)
      expect(first?.id).toMatch(/^limits\./)
      const token = ReplayToken.decode(first?.counterexample?.token ?? "")
      const replayed = await withServer(
        (subject) => Effect.flatMap(Effect.fromResult(token), (decoded) => Replay.replay(subject, decoded)),
        escapes
      )
      expect(replayed).toMatchObject({ outcome: "failed" })
    },
    TIMEOUT_MS
  )

  it(
    "reports what was found so far if a signal ends it, and shows its progress",
    async () => {
      const controller = new AbortController()
      const seen: Array<Run.Progress> = []
      const onProgress = (progress: Run.Progress): void => {
        seen.push(progress)
        if (progress.index === 4) controller.abort()
      }
      const report = await reportOf({ onProgress, signal: controller.signal }, renames)
      expect(report).toMatchObject({ verdict: "not-conformant", exitCode: 1 })
      expect(report.stopped.join()).toMatch(/^the run was interrupted: /)
      expect(report.requests).toBeLessThan(1_500)
      expect(seen.at(-1)?.id).toBe("searching the smallest histories")
    },
    TIMEOUT_MS
  )
})
