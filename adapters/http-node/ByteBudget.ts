/**
 * Bounds the bytes of responses and request bodies that a server holds at the same time. Callers share the budget: each
 * may hold as much as is left for the others, so that a part always remains free. Those that wait take turns.
 */
import { getHeapStatistics } from "node:v8"
import { LinkedQueue } from "../storage/LinkedQueue.ts"

/** What bytes are reserved for: a response that is being created, or a body that has not arrived. */
export type Kind = "response" | "body"

/** Milliseconds after which a wait fails. */
const MAX_WAIT_MS: { readonly [kind in Kind]: number } = { response: 30_000, body: 2_000 }

/** The part of the budget that one reservation can take; a larger one counts as this part, so that it fits at all. */
const MAX_RESERVED_PART = 1 / 4

/**
 * The parts of the budget that bodies take in addition to it, because their first bytes have arrived: before their
 * caller is admitted, and while they wait.
 */
const MAX_WAITING_PART = 1 / 4

/**
 * Bytes of responses that are created at the same time: those of 12 full lists, fewer than the connections to a
 * database. More lists would queue there, and delay the calls of others.
 */
const MAX_CREATING_BYTES = 2 * 1024 * 1024

/** Bytes of large responses after which further ones wait for the next turn of the event loop. */
const MAX_BYTES_PER_TURN = 256 * 1024

/** The default budget: an eighth of V8's heap limit. */
export const defaultLimit = (): number => Math.floor(getHeapStatistics().heap_size_limit / 8)

interface Waiter {
  readonly kind: Kind
  readonly bytes: number
  readonly start: () => void
}

/** A budget of `limit` bytes. */
export class ByteBudget {
  readonly #limit: number
  readonly #maxCreating: number
  #used = 0
  #creating = 0
  /** Bytes that each caller holds; callers without any are absent. */
  readonly #held = new Map<string, number>()
  /** What each caller waits for, in order; the order of the map is that of the callers' next turns. */
  readonly #waiting = new Map<string, LinkedQueue<Waiter>>()
  #waitingBodyBytes = 0
  #arrivedBytes = 0
  #bytesInTurn = 0
  #isTurnScheduled = false

  constructor(limit: number, maxCreating = MAX_CREATING_BYTES) {
    this.#limit = limit
    this.#maxCreating = maxCreating
  }

  /** The sum of all reservations. */
  get used(): number {
    return this.#used
  }

  /** Whether a caller waits. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0
  }

  /**
   * Whether a caller should give up bytes that it holds, because others of its requests wait; false while bytes that
   * were just released are being reserved.
   */
  shouldYield(caller: string): boolean {
    return this.#waiting.has(caller) && !this.#isTurnScheduled
  }

  /** Returns for how many bytes a reservation counts. */
  sizeOf(bytes: number): number {
    return Math.min(bytes, Math.floor(this.#limit * MAX_RESERVED_PART))
  }

  /** Reserves bytes for a caller and returns true, or returns false if the caller must wait. */
  tryReserve(kind: Kind, caller: string, bytes: number): boolean {
    const isTurnFull = this.#bytesInTurn >= MAX_BYTES_PER_TURN
    if (isTurnFull || this.#waiting.has(caller) || !this.#fits(kind, caller, bytes)) return false
    this.#reserve(kind, caller, bytes)
    return true
  }

  /**
   * Calls `settle` with true once the bytes are reserved, or with false after the maximum wait, or if too many bodies
   * wait. The returned function cancels the wait.
   */
  wait(kind: Kind, caller: string, bytes: number, settle: (isReserved: boolean) => void): () => void {
    const bodyBytes = kind === "body" ? bytes : 0
    if (this.#waitingBodyBytes + bodyBytes > this.#limit * MAX_WAITING_PART) {
      settle(false)
      return () => {}
    }
    this.#waitingBodyBytes += bodyBytes
    const queue = this.#waiting.get(caller) ?? new LinkedQueue<Waiter>()
    this.#waiting.set(caller, queue)
    const end = (): void => {
      clearTimeout(timer)
      this.#waitingBodyBytes -= bodyBytes
    }
    const place = queue.add({
      kind,
      bytes,
      start: () => {
        end()
        settle(true)
      }
    })
    const cancel = (): void => {
      if (!queue.remove(place)) return
      if (queue.size === 0) this.#waiting.delete(caller)
      end()
    }
    const timer = setTimeout(() => {
      cancel()
      settle(false)
    }, MAX_WAIT_MS[kind])
    this.#scheduleTurn()
    return cancel
  }

  /** Counts bytes of a body whose caller is not admitted yet; returns false if there are too many of them. */
  tryHold(bytes: number): boolean {
    if (this.#arrivedBytes + bytes > this.#limit * MAX_WAITING_PART) return false
    this.#arrivedBytes += bytes
    return true
  }

  /** Ends what `tryHold` began. */
  drop(bytes: number): void {
    this.#arrivedBytes -= bytes
  }

  /** Reserves bytes that already exist, such as those of a response that is not flushed, even beyond the limit. */
  add(caller: string, bytes: number): void {
    this.#used += bytes
    this.#held.set(caller, (this.#held.get(caller) ?? 0) + bytes)
  }

  /** Releases bytes that were reserved for `kind`, or added. */
  release(kind: Kind | "added", caller: string, bytes: number): void {
    if (kind === "response") this.#creating -= bytes
    this.#used -= bytes
    const held = (this.#held.get(caller) ?? 0) - bytes
    if (held > 0) this.#held.set(caller, held)
    else this.#held.delete(caller)
    if (this.isWaiting) this.#scheduleTurn()
  }

  /** Counts the bytes of a large response that was created in this turn of the event loop. */
  spend(bytes: number): void {
    this.#bytesInTurn += bytes
    if (this.#bytesInTurn >= MAX_BYTES_PER_TURN) this.#scheduleTurn()
  }

  #reserve(kind: Kind, caller: string, bytes: number): void {
    if (kind === "response") this.#creating += bytes
    this.add(caller, bytes)
  }

  #fits(kind: Kind, caller: string, bytes: number): boolean {
    const isCreatable = kind === "body" || this.#creating === 0 || this.#creating + bytes <= this.#maxCreating
    return isCreatable && (this.#held.get(caller) ?? 0) + bytes <= this.#limit - this.#used
  }

  #scheduleTurn(): void {
    if (this.#isTurnScheduled) return
    this.#isTurnScheduled = true
    setImmediate(() => this.#startTurn())
  }

  /** Starts what waits, one reservation of each caller after the other, until nothing more fits or the turn is full. */
  #startTurn(): void {
    this.#isTurnScheduled = false
    this.#bytesInTurn = 0
    // A caller that is added again moves behind all others, and the loop visits it again.
    for (const [caller, queue] of this.#waiting) {
      const { first } = queue
      if (first === undefined || !this.#fits(first.kind, caller, first.bytes)) continue
      queue.shift()
      this.#waiting.delete(caller)
      if (queue.size > 0) this.#waiting.set(caller, queue)
      this.#reserve(first.kind, caller, first.bytes)
      first.start()
      // `spend` has scheduled the next turn.
      if (this.#bytesInTurn >= MAX_BYTES_PER_TURN) break
    }
  }
}
