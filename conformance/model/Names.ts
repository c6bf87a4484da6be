/**
 * Names that come back different. A service may reject a name; one that accepts it returns it. It may remove white space
 * at the ends or store a Unicode normalization form, if it does so with every name and if doing it again changes nothing;
 * it may change nothing else (§2, §4.2).
 */
import * as Difference from "../http/Difference.ts"
import { broken, type Exchange, kept, type Ruling } from "./Exchange.ts"

/** A way to store names that loses nothing but white space at the ends or the normalization form. */
interface NameForm {
  readonly says: string
  readonly store: (name: string) => string
}

export interface Names {
  /** The forms that explain every name so far. */
  readonly forms: ReadonlyArray<NameForm>
  /** The last creation that excluded a form. */
  readonly evidence: ReadonlyArray<Exchange>
}

/** The characters that platforms take for white space. */
const spaces = ["\\s", "\\p{White_Space}", "[\\t-\\r ]", "[\\t\\n\\r ]", " "]

/** What may be removed at the ends: nothing, or white space at both of them, the first or the last one. */
const trims: ReadonlyArray<RegExp | undefined> = [
  undefined,
  ...spaces.flatMap((space) =>
    ["^S+|S+$", "^S+", "S+$"].map((ends) => new RegExp(ends.replaceAll("S", space), "gu"))
  )
]

const forms: ReadonlyArray<NameForm> = [undefined, "NFC", "NFD", "NFKC", "NFKD"].flatMap((form) =>
  trims.map((trim) => {
    const parts = [form && `normalizes names: ${form}`, trim && "trims names"].filter(
      (part) => part !== undefined
    )
    const normal = (name: string) => (form === undefined ? name : name.normalize(form))
    return {
      says: parts.join(", and ") || "keeps names as sent",
      store: (name: string) => (trim === undefined ? normal(name) : normal(name).replace(trim, ""))
    }
  })
)

const [asSent = { says: "", store: (name: string) => name }] = forms

export const unknown: Names = { forms, evidence: [] }

/** Judges a name that came back, and excludes the forms that do not explain it. */
export const judge = (
  names: Names,
  sent: string,
  returned: string,
  exchange: Exchange
): readonly [Ruling, Names] => {
  // No form changes letters.
  if (returned === sent && /^[A-Za-z]+$/.test(sent)) return [kept("create.returns-created"), names]
  const explain = (candidates: ReadonlyArray<NameForm>) =>
    candidates.filter(({ store }) => store(sent) === returned && store(returned) === returned)
  const left = explain(names.forms)
  if (left.length > 0) {
    const next = left.length === names.forms.length ? names : { forms: left, evidence: [exchange] }
    return [kept("create.returns-created"), next]
  }
  const [form = asSent] = names.forms
  const isOdd = explain(forms).length === 0
  const stored = (isOdd ? asSent : form).store(sent)
  const [wanted, actual] = Difference.texts(stored, returned)
  const expected = isOdd
    ? `the name ${wanted}, as sent`
    : `the name ${wanted}: the service ${form.says}, as before`
  const earlier = isOdd ? [] : names.evidence
  return [broken("create.returns-created", expected, actual, ...earlier), names]
}

/** Returns what the service does with all names; `undefined` if it keeps them, or if that is not known. */
export const tells = ({ forms }: Names): string | undefined => {
  const [form, ...others] = forms
  return form !== undefined && form !== asSent && others.every(({ says }) => says === form.says)
    ? form.says
    : undefined
}
