/** Lets servers with different stores share code without a promise where a store returns its result at once. */

export type MaybePromise<A> = A | Promise<A>

/** Calls `use` with the value, at once unless it is a promise. */
export const map = <A, B>(value: MaybePromise<A>, use: (value: A) => B): MaybePromise<B> =>
  value instanceof Promise ? value.then(use) : use(value)
