/**
 * Names that come back different. A service may reject a name; one that accepts it returns it. It may trim it or store
 * it in a Unicode normalization form, if it does so with every name; it may change nothing else (§2, §4.2).
 */

/** A way to store names that loses nothing but white space at the ends or the normalization form. */
export interface NameForm {
  readonly says: string
  readonly store: (name: string) => string
}

const trim = (name: string): string => name.trim()

export const forms: ReadonlyArray<NameForm> = [
  { says: "keeps names as sent", store: (name) => name },
  { says: "trims names", store: trim },
  ...(["NFC", "NFD", "NFKC", "NFKD"] as const).flatMap((form) => [
    { says: `normalizes names: ${form}`, store: (name: string) => name.normalize(form) },
    { says: `normalizes names: ${form}, and trims them`, store: (name: string) => trim(name.normalize(form)) }
  ])
]

/** Returns the forms that explain the name that came back. */
export const explain = (
  candidates: ReadonlyArray<NameForm>,
  sent: string,
  returned: string
): ReadonlyArray<NameForm> => candidates.filter(({ store }) => store(sent) === returned)
