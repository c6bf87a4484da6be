/** Implements `RateLimitStore` in Redis. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { BanPolicy } from "../../core/limits/BanPolicy.ts"
import * as RateLimit from "../../core/limits/RateLimit.ts"
import { RateLimitStore, type Step } from "../../core/ports/RateLimitStore.ts"
import * as Batch from "../storage/Batch.ts"
import * as BoundedCall from "../storage/BoundedCall.ts"
import * as KeyedQueues from "../storage/KeyedQueues.ts"
import * as RateLimitFields from "../storage/RateLimitFields.ts"
import type { CallOptions } from "../storage/StorageOptions.ts"
import type { Script } from "./RateLimitScript.ts"
import type { Command, GiveUp, OnReply, RedisCommands } from "./RedisCommands.ts"
import * as RedisFailure from "./RedisFailure.ts"
import * as StateKey from "./StateKey.ts"

/** Creates the store over `commands`. */
export const layer = (commands: RedisCommands, options: CallOptions): Layer.Layer<RateLimitStore> =>
  Layer.effect(
    RateLimitStore,
    Effect.map(BanPolicy, (ban) => make(commands, options, ban))
  )

/** Milliseconds for which a spent state remains stored, because clocks may be set back slightly. */
const GRACE_MS = 60_000

/** Like `GRACE_MS`, for requests that use the service's clock, which may stand still in tests. */
const SERVICE_GRACE_MS = 86_400_000

interface CountRequest {
  readonly caller: string
  readonly now: number
  readonly policy: RateLimit.Policy
  readonly cost: number
}

interface StepRequest {
  readonly caller: string
  readonly step: Step<unknown>
}

/** Maximum number of requests in one call, because Redis runs nothing else during a script. */
const MAX_BATCH = 100

/** Sends requests from one caller in one call; `done` receives the results in the order of the requests. */
type Send<Request, Result> = (
  caller: string,
  requests: ReadonlyArray<Request>,
  done: (results: ReadonlyArray<Exit.Exit<Result, RedisFailure.CommandFailed>>) => void
) => GiveUp

/** Creates a submit function: while a call for a caller is in flight, its further requests wait for the next call. */
const callerQueues = <Request extends { readonly caller: string }, Result>(send: Send<Request, Result>) => {
  const options: Batch.CallbackOptions<Request, Result, RedisFailure.CommandFailed> = {
    maxSize: MAX_BATCH,
    concurrency: 1,
    run: ({ take }, end) => {
      const requests = take()
      const giveUp = send(requests[0]?.caller ?? "", requests, (results) => end(Exit.succeed(results)))
      return () => {
        giveUp()
        end(Exit.succeed([]))
      }
    }
  }
  return KeyedQueues.make<Request, Result, RedisFailure.CommandFailed>({
    keyOf: ({ caller }) => caller,
    create: (onIdle) => Batch.makeWithCallbacks(options, onIdle)
  }).submit
}

const make = (
  commands: RedisCommands,
  { clock, maxAnonymousStates, timeoutMs }: CallOptions,
  ban: BanPolicy
): RateLimitStore["Service"] => {
  const call = BoundedCall.make(timeoutMs, RedisFailure.toEffect)
  const stateKeys = StateKey.make(maxAnonymousStates)
  const maxFields = String(stateKeys.maxFields)
  const isServerTime = clock === "database"
  const expiryBan = textOf(ban)
  const banText = (policy: BanPolicy | undefined): string => (policy === undefined ? "" : textOf(policy))

  const evaluate = (
    { field, key }: StateKey.StateKey,
    script: Script,
    args: ReadonlyArray<string>,
    onReply: OnReply
  ): GiveUp => {
    const scriptArgs = ["1", key, field, maxFields, ...args]
    let giveUp = commands.send(key, ["EVALSHA", script.sha1, ...scriptArgs], (exit) => {
      // After a restart or a failover, the server no longer has the script.
      if (!RedisFailure.errorReplyIn(exit).startsWith("NOSCRIPT")) return onReply(exit)
      giveUp = commands.send(key, ["EVAL", script.text, ...scriptArgs], onReply)
    })
    return () => giveUp()
  }

  const count = callerQueues<CountRequest, RateLimit.Verdict>((caller, requests, done) => {
    const stateKey = stateKeys.of(caller)
    const args = [expiryBan]
    for (const { cost, now, policy } of requests) {
      const { perDay, perMinute } = policy.plan
      args.push(isServerTime ? "" : String(now), String(perMinute), String(perDay), String(cost))
      args.push(banText(policy.ban))
    }
    return evaluate(stateKey, stateKey.scripts.count, args, (exit) =>
      done(
        Exit.isFailure(exit)
          ? requests.map(() => Exit.failCause(exit.cause))
          : verdictsOf(exit.value, requests)
      )
    )
  })

  const readCommand = ({ field, key }: StateKey.StateKey): Command =>
    field === "" ? ["GET", key] : ["HGET", key, field]

  const expiryOf = (state: RateLimit.State): readonly [string, string] => {
    const spentAt = RateLimit.spentAt(state, ban)
    return isServerTime
      ? ["PXAT", String(spentAt + GRACE_MS)]
      : ["PX", String(Math.max(spentAt - state.at, 0) + SERVICE_GRACE_MS)]
  }

  // Reads the state, computes all steps, and replaces the state unless another process has changed it in the meantime.
  const modify = callerQueues<StepRequest, unknown>((caller, requests, done) => {
    const steps = requests.map(({ step }) => step)
    const stateKey = stateKeys.of(caller)
    let giveUp: GiveUp = () => {}
    const replaceState = (stored: unknown): void => {
      const before = typeof stored === "string" && stored !== "" ? stateOf(stored) : undefined
      const { results, state } = applySteps(steps, before)
      if (state === undefined || state === before) {
        done(results)
        return
      }
      const args = [before === undefined ? "" : String(stored), stateText(state), ...expiryOf(state)]
      giveUp = evaluate(stateKey, stateKey.scripts.replace, args, (exit) => {
        if (Exit.isFailure(exit)) done(steps.map(() => exit))
        else if (exit.value === null) done(results)
        else replaceState(exit.value)
      })
    }
    giveUp = commands.send(stateKey.key, readCommand(stateKey), (exit) =>
      Exit.isFailure(exit) ? done(steps.map(() => exit)) : replaceState(exit.value)
    )
    return () => giveUp()
  })

  // A script with a first line of this form may write unless it says otherwise: a replica or a full server rejects it.
  const rehearsal: Command = ["EVAL", "#!lua\nreturn 1", "0"]

  const send = (key: string, command: Command): Effect.Effect<unknown, RedisFailure.CommandFailed> =>
    Effect.callback((resume) => {
      const giveUp = commands.send(key, command, resume)
      return Effect.sync(giveUp)
    })

  return {
    modify: <A>(key: string, step: Step<A>) =>
      // The exit that `done` receives contains the result of this step, so its type is `A`.
      call.submit((done) =>
        modify({ caller: key, step }, done as (exit: Exit.Exit<unknown, RedisFailure.CommandFailed>) => void)
      ),
    consume: (caller, now, policy) => call.submit((done) => count({ caller, now, policy, cost: 1 }, done)),
    consumeMany: (caller, now, policy, cost) =>
      call.submit((done) => count({ caller, now, policy, cost }, done)),
    rehearse: call.run(Effect.asVoid(send("", rehearsal))),
    read: (callers, now) => {
      const states = Effect.forEach(
        callers,
        (caller) => {
          const stateKey = stateKeys.of(caller)
          return Effect.map(send(stateKey.key, readCommand(stateKey)), (stored) =>
            typeof stored === "string" ? [[caller, stateOf(stored)] as const] : []
          )
        },
        { concurrency: "unbounded" }
      )
      const time = isServerTime ? Effect.map(send("", ["TIME"]), timeOf) : Effect.succeed(now)
      return Effect.map(
        call.run(Effect.all([states, time], { concurrency: "unbounded" })),
        ([found, at]) => ({
          at,
          states: new Map(found.flat())
        })
      )
    }
  }
}

/** Runs the steps in order; a step that throws fails alone and changes nothing. */
const applySteps = (
  steps: ReadonlyArray<Step<unknown>>,
  before: RateLimit.State | undefined
): { readonly results: ReadonlyArray<Exit.Exit<unknown>>; readonly state: RateLimit.State | undefined } => {
  let state = before
  const results = steps.map((step) => {
    try {
      const [result, after] = step(state)
      state = after
      return Exit.succeed(result)
    } catch (defect) {
      return Exit.die(defect)
    }
  })
  return { results, state }
}

/** Decodes the verdicts in the script's reply: a line with admitted, time and state for each request. */
const verdictsOf = (
  reply: unknown,
  requests: ReadonlyArray<CountRequest>
): ReadonlyArray<Exit.Exit<RateLimit.Verdict, RedisFailure.CommandFailed>> => {
  const lines = String(reply).split("\n")
  return requests.map(({ cost, policy }, index) => {
    const [admitted, at, ...fields] = (lines[index] ?? "").split(" ")
    return Exit.succeed(
      RateLimit.verdictOf(admitted === "1", RateLimitFields.stateOf(fields), Number(at), policy, cost)
    )
  })
}

const stateOf = (text: string): RateLimit.State => RateLimitFields.stateOf(text.split(" "))

const stateText = (state: RateLimit.State): string => RateLimitFields.valuesOf(state).join(" ")

/** Encodes a ban policy for the script. */
const textOf = ({ cleanMs, durationsMs, strikeIntervalMs, strikes, withinMs }: BanPolicy): string =>
  [strikes, withinMs, strikeIntervalMs, cleanMs, ...durationsMs].join(" ")

/** Converts the reply of `TIME`, seconds and microseconds, to epoch milliseconds. */
const timeOf = (reply: unknown): number => {
  const [seconds, micros] = Array.isArray(reply) ? reply : []
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)
}
