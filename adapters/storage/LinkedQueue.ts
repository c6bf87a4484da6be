/**
 * A first-in, first-out queue whose elements can be removed from any place. Use it instead of a `Set` or a `Map` to
 * which each request adds an element that is later removed: when a `Set` or a `Map` replaces its table, the old table
 * keeps later elements from being freed (docs/decisions/speed.md#where-v8-allocates-objects).
 */

/** The place of an element in a queue. */
export type Place<A> = Readonly<Link<A>>

interface Link<A> {
  readonly element: A
  previous: Link<A> | undefined
  next: Link<A> | undefined
  isQueued: boolean
}

/** A queue of elements. */
export class LinkedQueue<A> {
  #first: Link<A> | undefined
  #last: Link<A> | undefined
  #size = 0

  /** Number of elements. */
  get size(): number {
    return this.#size
  }

  /** Returns the element that was added first, or `undefined` if there is none. */
  get first(): A | undefined {
    return this.#first?.element
  }

  /** Adds an element at the end, and returns its place. */
  add(element: A): Place<A> {
    const place: Link<A> = { element, previous: this.#last, next: undefined, isQueued: true }
    if (this.#last === undefined) this.#first = place
    else this.#last.next = place
    this.#last = place
    this.#size++
    return place
  }

  /** Removes the element at a place of this queue; returns whether it was still there. */
  remove(place: Place<A>): boolean {
    const link: Link<A> = place
    if (!link.isQueued) return false
    const { next, previous } = link
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    // A removed place must not refer to other places; otherwise it would keep all later places from being freed.
    link.previous = undefined
    link.next = undefined
    link.isQueued = false
    this.#size--
    return true
  }

  /** Removes the element that was added first and returns it, or `undefined` if there is none. */
  shift(): A | undefined {
    const place = this.#first
    if (place !== undefined) this.remove(place)
    return place?.element
  }
}
