/**
 * The pipeline: one program from a request to its response (contract §4–§9). Its decisions are functions of the record
 * of the request (`Call`) and rejections are values; effects are only the calls of the ports and of the host.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { ApiKey } from "../access/ApiKey.ts"
import * as ApiKeySecret from "../access/ApiKeySecret.ts"
import * as Carryover from "../access/Carryover.ts"
import { LastSeen } from "../access/LastSeen.ts"
import { Realm } from "../access/Realm.ts"
import * as OwnErrors from "../errors/OwnErrors.ts"
import { BanPolicy } from "../limits/BanPolicy.ts"
import * as CountPer from "../limits/CountPer.ts"
import { OwnPlans } from "../limits/OwnPlans.ts"
import * as Plan from "../limits/Plan.ts"
import type { Verdict } from "../limits/RateLimit.ts"
import * as Operation from "../operations/Operation.ts"
import { ApiKeyStore } from "../ports/ApiKeyStore.ts"
import { RateLimitStore } from "../ports/RateLimitStore.ts"
import * as Admission from "./Admission.ts"
import { AdmissionTurns } from "./AdmissionTurns.ts"
import { Call } from "./Call.ts"
import * as CommonHeaders from "./CommonHeaders.ts"
import * as ContentType from "./ContentType.ts"
import * as Exchange from "./Exchange.ts"
import { callerOf, type HostRoute } from "./HostRoute.ts"
import * as NewBans from "./NewBans.ts"
import type * as Probes from "./Probes.ts"
import * as Reception from "./Reception.ts"
import * as Replies from "./Replies.ts"
import * as RequestId from "./RequestId.ts"
import type { ServiceRequest, TransportError } from "./ServiceRequest.ts"
import * as ServiceResponse from "./ServiceResponse.ts"

/** Number of characters of a body from which on the host must have room for it. */
const LARGE_BODY = 16_384

/** The key of an admitted request to a route of the host. */
interface Admitted {
  readonly key: ApiKey
  readonly hostRoute: HostRoute
}

/** Creates the program for requests and for transport errors. */
export const make = Effect.fnUntraced(function* (
  runtime: Operation.Runtime,
  operations: ReadonlyArray<Operation.Operation>,
  probes: Probes.Probes
) {
  const { options } = runtime
  const toFailure = Replies.failures(OwnErrors.ofOperations(options.errors), options.maxBodyBytes)
  const digest = yield* Digest.Digest
  const keys = yield* ApiKeyStore
  const noteSeen = yield* LastSeen
  const plans = yield* OwnPlans
  const realm = yield* Realm
  const rejectionOf = Admission.rejections(realm)
  const nextRequestId = yield* RequestId.make
  const observer = Exchange.combine([yield* Exchange.ResponseObserver])
  const receive = yield* Reception.make(options, operations, probes)
  const countPer = yield* CountPer.CountPer
  const limits = yield* RateLimitStore
  const budgetsOf = Admission.budgets(options, yield* BanPolicy, countPer)
  const count = Admission.counter(limits, Carryover.make(limits, countPer), options)
  const addHeaders = CommonHeaders.make(options, operations)
  const turns = new AdmissionTurns()
  const isNewBan = NewBans.make()

  const respond = Effect.fnUntraced(function* (call: Call) {
    const unlimited = receive(call)
    if (unlimited !== undefined) return yield* finishInRoom(call, yield* unlimited)

    const secret = Admission.secretOf(call, call.request.header("authorization"), realm)
    const hash = secret && (yield* ApiKeySecret.hashWith(digest, secret))
    call.turn = turns.enter(() => hash ?? Admission.siteOf(call, options))
    if (!call.turn.hasCome) yield* turns.wait(call.turn)
    if (hash !== undefined) {
      Admission.identify(call, hash, yield* keys.findByHash(hash), plans)
      if (call.key !== undefined) noteSeen(call.key, call.now)
    }
    let verdict: Verdict | undefined
    for (const budget of budgetsOf(call)) {
      const next = yield* count(call, budget)
      verdict = Admission.tighter(verdict, next)
      if (next.outcome !== "admitted" || next === call.standIn) break
    }
    call.verdict = verdict
    leaveTurn(call, !call.isCounted)
    const { key } = call
    if (key && verdict?.beganBan && isNewBan(CountPer.callerOf(key, countPer), verdict.resetAt)) {
      call.bannedUntil = verdict.resetAt * 1000
      const until = new Date(call.bannedUntil).toISOString()
      const ban = { key: key.id, plan: key.plan, until, request: call.id }
      yield* Effect.annotateLogs(Effect.logWarning("key banned"), ban)
    }

    const decision = decide(call)
    if ("hostRoute" in decision && call.costDefect !== undefined) return yield* Effect.die(call.costDefect)
    if ("hostRoute" in decision) return yield* passOn(call, decision)
    if (!("execute" in decision)) return finish(call, decision)
    return yield* finishInRoom(call, yield* execute(call, decision))
  })

  const leaveTurn = (call: Call, isOutage = false): void => {
    if (call.turn !== undefined) turns.leave(call.turn, isOutage)
    call.turn = undefined
  }

  /** Returns the operation or the route of the host for an admitted request, or the reply to a rejected one. */
  const decide = (call: Call): ServiceResponse.Reply | Operation.Operation | Admitted => {
    const { hostRoute, key, request, route, transportError } = call
    if (transportError !== undefined) return Replies.toTransportError(transportError)
    const rejection = rejectionOf(call)
    if (rejection !== undefined) return rejection
    if (hostRoute !== undefined && key !== undefined) return { key, hostRoute }
    if (route === undefined) return Replies.notFound
    const { operation, resource } = route
    if (operation === undefined) return Replies.unsupportedMethod(resource, request.method)
    call.admittedOperation = operation.id
    return (operation.body && ContentType.rejectionOf(request)) ?? operation
  }

  /** Reads the body of the request, and runs the operation. */
  const execute = (call: Call, operation: Operation.Operation) => {
    const { caller, request } = call
    if (Operation.isIdempotentOn(operation, options)) call.idempotencyKey = request.header("idempotency-key")
    // A generator would refer to the body until the operation ends.
    return operation.body === undefined
      ? perform(call, operation, undefined)
      : Effect.flatMap(request.body(options.maxBodyBytes, caller), (body) => perform(call, operation, body))
  }

  const perform = (call: Call, operation: Operation.Operation, body: Uint8Array | undefined) => {
    const reply = Effect.map(operation.execute(call, body, runtime), (output) =>
      Replies.toOutput(operation.success, output)
    )
    // Its failure is logged here, because an interruption that waits for its end replaces the failure.
    return operation.isUninterruptible
      ? Effect.uninterruptible(Effect.catchCause(reply, (cause) => toFailure(call, cause)))
      : reply
  }

  /** Passes an admitted request to the host; the result only describes the response that the host has sent. */
  const passOn = (call: Call, { hostRoute, key }: Admitted) => {
    const { headers } = finish(call, Replies.admitted)
    return Effect.map(hostRoute.respond(callerOf(key), headers), (response) => {
      call.hostResponse = response
      return ServiceResponse.make(response.status, "")
    })
  }

  /** Finishes a reply, a large one when the host has room for it. */
  const finishInRoom = (call: Call, reply: ServiceResponse.Reply) => {
    const room = reply.body.length > LARGE_BODY ? call.room(reply.body.length) : undefined
    if (room !== undefined) return Effect.map(room, () => finish(call, reply))
    return Effect.succeed(finish(call, reply))
  }

  const finish = (call: Call, reply: ServiceResponse.Reply): ServiceResponse.ServiceResponse => {
    call.reply = reply
    return addHeaders(call, reply)
  }

  /** Responds to a request that failed. Re-raises an interruption, because the client has disconnected. */
  const recover = (call: Call, cause: Cause.Cause<Replies.Failure>) => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
    const isOutage = Replies.failureIn(cause)?._tag === "StoreUnavailable"
    leaveTurn(call, isOutage)
    if (call.verdict === undefined && !call.isProbe) {
      call.standIn = Admission.uncounted("limited", isOutage ? call.plan : Plan.standard.Free, call.now)
      call.verdict = call.standIn
    }
    return Effect.map(toFailure(call, cause), (reply) => finish(call, reply))
  }

  const run = (request: ServiceRequest, transportError?: TransportError, hostRoute?: HostRoute) =>
    Effect.withFiber<ServiceResponse.ServiceResponse>((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const call = new Call(request, transportError, hostRoute, nextRequestId(), clock)
      const report = observer && Exchange.measure(observer, call, fiber.context, options)
      const response = Effect.catchCause(respond(call), (cause) => recover(call, cause))
      return Effect.onExitPrimitive(response, (exit) => {
        leaveTurn(call)
        const logged = Exit.isSuccess(exit) ? probes.observe(call) : undefined
        if (report === undefined) return logged
        if (hostRoute !== undefined && !call.isProbe) call.template = hostRoute.template()
        return Effect.map(logged ?? Effect.void, () => report(exit))
      })
    })

  return run
})
