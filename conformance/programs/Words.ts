/** Splits a text at white space, for tables of many short values. */
export const words = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/)
