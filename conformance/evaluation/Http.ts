/** Defines the interface of a subject over HTTP, for laws about requests and responses. */
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
  /** The declared key that the request is sent with; `main` when absent. */
  readonly key?: KeyName
  /** Values of `Authorization` instead of a declared key; an empty array sends none. */
  readonly authorization?: ReadonlyArray<string>
  /** Describes `authorization` in reports, which must not show values that are derived from a key. */
  readonly credential?: string
  readonly headers?: ReadonlyArray<Header>
  readonly body?: string | Uint8Array
  /** A body that is sent as `application/json`. */
  readonly json?: string
}

/** Facts about the subject that its user declares. */
export interface Facts {
  /** The declared main key, for laws that derive other credentials from it. It must never be reported. */
  readonly mainKey: string
  readonly basePath: string
  /** Categories that the subject accepts: any int64, or only the listed ones. */
  readonly categories: "any" | ReadonlyArray<bigint>
  /** The declared plan of the small key. */
  readonly tinyPlan: Plan | undefined
  /** Whether checks may move the subject's time. */
  readonly hasClock: boolean
}

export interface Http {
  readonly facts: Facts
  /**
   * Sends a request and records it. Requests with the main key are paced: `send` waits for the limits that the subject
   * announces, and repeats a request that was denied with 429. Fails with a `Violation` if there is no response.
   */
  readonly send: (sent: Sent) => Effect.Effect<Exchange, Failure>
  /**
   * Sends a request without pacing, for laws about the admission of the main key: pacing would wait until the denial
   * that they test for is over.
   */
  readonly sendUnpaced: (sent: Sent) => Effect.Effect<Exchange, Failure>
  /**
   * Waits until the main key has enough requests left, then sends all requests concurrently and repeats none. Fails
   * with `Undecided` if there are more requests than the key's limit.
   */
  readonly sendConcurrently: (sent: ReadonlyArray<Sent>) => Effect.Effect<ReadonlyArray<Exchange>, Failure>
  /** Creates an animal; fails with a `Violation` unless the response is 201 with the animal. */
  readonly create: (draft: Draft) => Effect.Effect<Animal, Failure>
  /** Returns the animals that the run has created so far, as their creations returned them. */
  readonly created: () => ReadonlyArray<Animal>
  /** The subject's time in epoch ms: by its clock, or derived from its `Date` headers and our clock. */
  readonly now: Effect.Effect<number, Failure>
  /** Advances the subject's time by at least `ms` milliseconds: moves its clock, or waits. */
  readonly advance: (ms: number) => Effect.Effect<void, Failure>
  /** Advances the subject's time to a moment (epoch ms) that the law is about; does nothing if it has passed. */
  readonly advanceUntil: (moment: number) => Effect.Effect<void, Failure>
}
