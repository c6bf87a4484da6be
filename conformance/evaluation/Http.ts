/** A subject over HTTP, for laws about requests and responses on the wire. */
import type * as Effect from "effect/Effect"
import type { Plan } from "../../core/limits/Plan.ts"
import type { Animal, Draft } from "../http/Animal.ts"
import type { Exchange, KeyName } from "../http/Exchange.ts"
import type { Header } from "../http/Wire.ts"
import type { Failure } from "./Outcome.ts"

/** A request below the base address. */
export interface Sent {
  /** `GET` when absent. */
  readonly method?: string
  /** Path and query after the base path, such as `/pets?limit=1`; sent unchanged. */
  readonly path: string
  /** Which key it carries; `main` when absent. */
  readonly key?: KeyName
  /** Values of `Authorization` instead of a declared key; an empty array sends none. */
  readonly authorization?: ReadonlyArray<string>
  /** What `authorization` is, in words, for reports: values that are made from a key must not be shown. */
  readonly credential?: string
  readonly headers?: ReadonlyArray<Header>
  readonly body?: string | Uint8Array
  /** A body that is sent as `application/json`. */
  readonly json?: string
}

/** What is known about the subject. */
export interface Facts {
  /** The declared keys, for laws that build other credentials from them. They must never be reported. */
  readonly mainKey: string
  readonly basePath: string
  /** Categories that the subject accepts: any int64, or these. */
  readonly categories: "any" | ReadonlyArray<bigint>
  /** The declared plan of the small key. */
  readonly tinyPlan: Plan | undefined
  /** Whether checks may move the subject's time. */
  readonly hasClock: boolean
}

export interface Http {
  readonly facts: Facts
  /**
   * Sends a request and records it. Requests with the main key are paced: it waits for the limits that the subject
   * announces, and repeats a request that was denied with 429. `Violation` without a response.
   */
  readonly send: (sent: Sent) => Effect.Effect<Exchange, Failure>
  /**
   * Sends a request now, whatever limits the subject announced. For laws about the admission of the main key: pacing would
   * wait until the denial is over that they look for.
   */
  readonly sendUnpaced: (sent: Sent) => Effect.Effect<Exchange, Failure>
  /** Sends all at once, without repeating any. */
  readonly sendAtOnce: (sent: ReadonlyArray<Sent>) => Effect.Effect<ReadonlyArray<Exchange>, Failure>
  /** Creates an animal; `Violation` unless 201 with it. */
  readonly create: (draft: Draft) => Effect.Effect<Animal, Failure>
  /** The animals that the run has created so far, as their creations returned them. */
  readonly created: () => ReadonlyArray<Animal>
  /** The subject's time, epoch ms: its clock's, or by its `Date` headers and ours. */
  readonly now: Effect.Effect<number, Failure>
  /** Lets at least so many ms of the subject's time pass. */
  readonly pass: (ms: number) => Effect.Effect<void, Failure>
}
