/** A figure that a scenario measured, and whether it is within its bound. */
export interface Finding {
  readonly what: string
  readonly figure: string
  readonly bound: string
  readonly holds: boolean
  /** Whether a busy machine alone can break the bound; false for figures that must have an exact value. */
  readonly dependsOnLoad: boolean
}

const format = (value: number, unit: string): string => {
  const digits = value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 1 : 0 })
  return unit === "" ? digits : `${digits} ${unit}`
}

export const atMost = (what: string, value: number, bound: number, unit = ""): Finding => ({
  what,
  figure: format(value, unit),
  bound: `≤ ${format(bound, unit)}`,
  holds: value <= bound,
  dependsOnLoad: true
})

export const atLeast = (what: string, value: number, bound: number, unit = ""): Finding => ({
  what,
  figure: format(value, unit),
  bound: `≥ ${format(bound, unit)}`,
  holds: value >= bound,
  dependsOnLoad: true
})

export const equal = (what: string, value: number | string, expected: number | string): Finding => {
  const text = (given: number | string): string => (typeof given === "number" ? format(given, "") : given)
  return { what, figure: text(value), bound: text(expected), holds: value === expected, dependsOnLoad: false }
}

/** Creates a failing finding for a scenario that an error stopped: it has not shown that the bounds hold. */
export const notCompleted = (reason: string): Finding => ({
  what: "scenario",
  figure: reason,
  bound: "completed",
  holds: false,
  dependsOnLoad: true
})

/** Creates a failing finding for a scenario that did not start, because the time of the run was used up. */
export const notStarted = (seconds: number): Finding => ({
  what: "scenario",
  figure: `not started: the ${seconds} s of the run are used up`,
  bound: "carried out",
  holds: false,
  dependsOnLoad: true
})

/** Creates a finding without a bound, such as the number of requests sent. */
export const measured = (what: string, value: number, unit = ""): Finding => ({
  what,
  figure: format(value, unit),
  bound: "",
  holds: true,
  dependsOnLoad: true
})

/** Creates a passing finding for a figure that cannot be measured on this machine, with the reason. */
export const unknown = (what: string, reason: string): Finding => ({
  what,
  figure: `not measured: ${reason}`,
  bound: "",
  holds: true,
  dependsOnLoad: true
})
