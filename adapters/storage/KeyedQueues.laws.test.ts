import * as Exit from "effect/Exit"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import * as Batch from "./Batch.ts"
import * as KeyedQueues from "./KeyedQueues.ts"

interface Request {
  readonly caller: string
  readonly nth: number
}

interface Call {
  readonly caller: string
  readonly requests: ReadonlyArray<Request>
  readonly end: (exit: Exit.Exit<ReadonlyArray<Exit.Exit<number>>>) => void
  isGivenUp: boolean
}

type Event =
  | { readonly kind: "submit"; readonly caller: string }
  | { readonly kind: "reply" | "cancel"; readonly nth: number }

const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("submit" as const), caller: fc.constantFrom("a", "b") })
  },
  fc.record({ kind: fc.constantFrom("reply" as const, "cancel" as const), nth: fc.nat(30) })
)

it("KeyedQueues of batches send each caller's requests in order, one call at a time; returns one result unless a request is canceled", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 120, size: "max" }), (events) => {
      const inFlight: Array<Call> = []
      const sent = new Map<string, Array<number>>()
      const results = new Map<number, Array<unknown>>()
      const canceled = new Set<number>()
      const cancels: Array<{ readonly request: number; readonly cancel: () => void }> = []
      const { submit } = KeyedQueues.make<Request, number, never>({
        keyOf: ({ caller }) => caller,
        create: (onIdle) =>
          Batch.makeWithCallbacks(
            {
              maxSize: 3,
              concurrency: 1,
              run: ({ take }, end) => {
                const requests = take()
                const caller = requests[0]?.caller ?? ""
                expect(requests.length).toBeLessThanOrEqual(3)
                expect(inFlight.some((call) => call.caller === caller && !call.isGivenUp)).toBe(false)
                for (const { nth } of requests) expect(canceled.has(nth)).toBe(false)
                sent.set(caller, [...(sent.get(caller) ?? []), ...requests.map(({ nth }) => nth)])
                const call: Call = { caller, requests, end, isGivenUp: false }
                inFlight.push(call)
                return () => {
                  call.isGivenUp = true
                  end(Exit.succeed([]))
                }
              }
            },
            onIdle
          )
      })
      const reply = (call: Call | undefined): void => {
        if (call === undefined) return
        inFlight.splice(inFlight.indexOf(call), 1)
        call.end(Exit.succeed(call.requests.map(({ nth }) => Exit.succeed(nth * 2))))
      }
      let count = 0
      for (const event of events) {
        if (event.kind === "submit") {
          const request = count++
          const isIdle = !inFlight.some(({ caller, isGivenUp }) => caller === event.caller && !isGivenUp)
          const cancel = submit({ caller: event.caller, nth: request }, (exit) =>
            results.set(request, [...(results.get(request) ?? []), exit])
          )
          cancels.push({ request, cancel })
          if (isIdle) expect(sent.get(event.caller)?.at(-1)).toBe(request)
        } else if (event.kind === "reply") {
          reply(inFlight[event.nth % Math.max(inFlight.length, 1)])
        } else {
          const chosen = cancels[event.nth % Math.max(cancels.length, 1)]
          if (chosen === undefined || results.has(chosen.request)) continue
          canceled.add(chosen.request)
          chosen.cancel()
          chosen.cancel()
        }
      }
      while (inFlight.length > 0) reply(inFlight[0])
      for (let request = 0; request < count; request++) {
        expect(results.get(request)).toEqual(canceled.has(request) ? undefined : [Exit.succeed(request * 2)])
      }
      for (const requests of sent.values()) expect(requests).toEqual(requests.toSorted((a, b) => a - b))
    }),
    { numRuns: 500 }
  )
})
