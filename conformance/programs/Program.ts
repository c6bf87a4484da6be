/**
 * Defines programs: each sends requests that reach some situations, and asserts nothing. The model judges what comes
 * back, whatever sent it and why.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Profile } from "../clauses/Profile.ts"
import type { Animal } from "../http/Animal.ts"
import type { Exchange } from "../model/Exchange.ts"
import type { HttpTarget } from "../subjects/HttpSubject.ts"
import type { Sent } from "../subjects/SentRequest.ts"
import type { Capability } from "../subjects/Subject.ts"

export type { Sent }

/** A program cannot go on: the budget is spent, the server does not respond, or a wait is too long. */
export class Stopped extends Data.TaggedError("Stopped")<{
  /** The reason, and what would help. */
  readonly reason: string
}> {
  override get message(): string {
    return this.reason
  }
}

/** What a program knows and can do. Random choices come from the service `Random` of effect, which has a seed. */
export interface Tools extends Pick<HttpTarget, "basePath" | "keys"> {
  /** Categories that the server accepts: any int64, or only the listed ones. */
  readonly categories: "any" | ReadonlyArray<bigint>
  /** Whether the server's time can be moved; otherwise waits take real time, and none may be long. */
  readonly hasClock: boolean
  /**
   * Sends a request. One with the main key or without a valid key waits for the limits that the server announces, and is
   * repeated after a 429.
   */
  readonly send: (sent: Sent) => Effect.Effect<Exchange, Stopped>
  /** Sends a request once, without waiting. */
  readonly sendOnce: (sent: Sent) => Effect.Effect<Exchange, Stopped>
  /** Waits until the main key has enough requests left, then sends all requests at the same time, each once. */
  readonly sendTogether: (sent: ReadonlyArray<Sent>) => Effect.Effect<ReadonlyArray<Exchange>, Stopped>
  /** Returns a new name for an animal: letters that no other name of the run begins with, and `tail`. */
  readonly name: (tail?: string) => string
  /** Returns the animals that the main key has created so far, as their creations returned them. */
  readonly created: () => ReadonlyArray<Animal>
  /** The server's time in epoch ms. */
  readonly now: Effect.Effect<number, Stopped>
  /** Lets `ms` milliseconds of the server's time pass: moves its clock, or waits. */
  readonly advance: (ms: number) => Effect.Effect<void, Stopped>
}

export interface Program {
  /** Unique; the random choices of a program depend on the seed of the run and on its name. */
  readonly name: string
  readonly profile: Profile
  /** What the server must have for the program to be of any use. */
  readonly needs?: ReadonlyArray<Capability>
  /** Whether the program is only of use at level `design`. */
  readonly isDesign?: boolean
  /** Approximate number of requests. */
  readonly requests: number
  /** Approximate number of requests without a valid key; 0 if absent. */
  readonly anonymous?: number
  /** Approximate time in milliseconds that it waits for the limits of a key without a clock; 0 if absent. */
  readonly waitsMs?: number
  readonly run: (tools: Tools) => Effect.Effect<void, Stopped>
}

/** Defines a program by a generator of what it does in turn. */
export const program = (
  name: string,
  fields: Omit<Program, "name" | "run">,
  run: (tools: Tools) => Effect.fn.Return<void, Stopped>
): Program => ({ name, ...fields, run: Effect.fnUntraced(run) })
