/** A queue of future events, ordered by time; events of the same time keep the order in which they were added. */

/** An event; `order` is the number of events that were added before. */
export interface Event {
  /** Time of the event in virtual milliseconds. */
  readonly at: number
  readonly order: number
  /** The action; `undefined` if the event was cancelled. */
  run: (() => void) | undefined
}

/** A queue as a binary heap: `add` and `take` take logarithmic time in the number of events. */
export class EventQueue {
  readonly #heap: Array<Event> = []
  #added = 0

  /** Adds an event and returns it. */
  add(at: number, run: () => void): Event {
    const event: Event = { at, order: this.#added++, run }
    const heap = this.#heap
    let index = heap.length
    heap.push(event)
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = heap[parent]
      if (above === undefined || isBefore(above, event)) break
      heap[index] = above
      index = parent
    }
    heap[index] = event
    return event
  }

  /** Removes and returns the earliest event; `undefined` if there is none. */
  take(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let index = 0
    for (;;) {
      const left = 2 * index + 1
      const [one, other] = [heap[left], heap[left + 1]]
      if (one === undefined) break
      const isOther = other !== undefined && isBefore(other, one)
      const child = isOther ? other : one
      if (isBefore(last, child)) break
      heap[index] = child
      index = isOther ? left + 1 : left
    }
    heap[index] = last
    return first
  }
}

const isBefore = (one: Event, other: Event): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order)
