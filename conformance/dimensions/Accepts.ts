/** Lists values of `Accept` for the requests of a law. A request has no `Accept` if the value is `undefined`. */

export interface Accept {
  readonly value: string | undefined
  /** Whether the value excludes JSON, so that 406 is a correct response (RFC 9110 §15.5.7). */
  readonly excludesJson: boolean
}

export const accepts = {
  "no Accept": { value: undefined, excludesJson: false },
  "application/json": { value: "application/json", excludesJson: false },
  anything: { value: "*/*", excludesJson: false },
  "text/html": { value: "text/html", excludesJson: true },
  "a browser's": {
    value: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    excludesJson: false
  },
  "JSON last": { value: "text/csv, application/json;q=0.1", excludesJson: false }
} as const satisfies { readonly [name: string]: Accept }

export type AcceptName = keyof typeof accepts

/** Returns the value with this name. */
export const of = (name: AcceptName): Accept => accepts[name]
