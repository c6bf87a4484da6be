/** A queue of future events, ordered by time; events at the same time keep the order in which they were added. */

/** An event; `order` is the number of events that were added before it. */
export interface Event {
  /** Time of the event in virtual milliseconds. */
  readonly at: number
  readonly order: number
  /** The action; `undefined` if the event was canceled. */
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

  /** Removes and returns the earliest event; returns `undefined` if the queue is empty. */
  take(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let index = 0
    for (;;) {
      const leftIndex = 2 * index + 1
      const [left, right] = [heap[leftIndex], heap[leftIndex + 1]]
      if (left === undefined) break
      const isRight = right !== undefined && isBefore(right, left)
      const child = isRight ? right : left
      if (isBefore(last, child)) break
      heap[index] = child
      index = isRight ? leftIndex + 1 : leftIndex
    }
    heap[index] = last
    return first
  }
}

const isBefore = (first: Event, second: Event): boolean =>
  first.at < second.at || (first.at === second.at && first.order < second.order)
