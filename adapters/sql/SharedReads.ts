/**
 * Reads that those share who waited in one group. They are answered one right after the other and go on at once, often
 * with the same question: the first page, which many ask for. All of them had asked before the first was answered, so
 * what one of them finds is new enough for all.
 */

/** What a group shares while it is answered; `undefined` while none is. */
let group: object | undefined

/** Answers a group: reads that are the same share what they find, as long as nothing else is done on their connection. */
export const together = (answerAll: () => void): void => {
  group = {}
  try {
    answerAll()
  } finally {
    group = undefined
  }
}

/** What the group that is being answered has found on one connection. */
export interface SharedReads<A> {
  readonly get: (sql: string, params: ReadonlyArray<unknown>) => A | undefined
  readonly set: (sql: string, params: ReadonlyArray<unknown>, found: A) => void
  /** To be called before anything is done that may change what a read finds. */
  readonly clear: () => void
}

/** Those of a connection: of each statement what it found last. */
export const make = <A>(): SharedReads<A> => {
  const reads = new Map<string, { readonly params: ReadonlyArray<unknown>; readonly found: A }>()
  let readers: object | undefined
  return {
    get: (sql, params) => {
      if (group !== readers) return undefined
      const read = reads.get(sql)
      return read?.params.every((param, index) => param === params[index]) ? read.found : undefined
    },
    set: (sql, params, found) => {
      if (group === undefined) return
      if (group !== readers) {
        reads.clear()
        readers = group
      }
      reads.set(sql, { params, found })
    },
    clear: () => {
      if (reads.size > 0) reads.clear()
    }
  }
}
