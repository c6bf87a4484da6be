/** A figure that a scenario measured, and whether it is within its bound. */
export interface Finding {
  readonly name: string
  readonly figure: string
  readonly bound: string
  readonly isWithinBound: boolean
  /** Whether a busy machine alone can break the bound; false for figures that must have an exact value. */
  readonly dependsOnLoad: boolean
}

const format = (value: number, unit: string): string => {
  const digits = value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 1 : 0 })
  return unit === "" ? digits : `${digits} ${unit}`
}

export const atMost = (name: string, value: number, bound: number, unit = ""): Finding => ({
  name,
  figure: format(value, unit),
  bound: `≤ ${format(bound, unit)}`,
  isWithinBound: value <= bound,
  dependsOnLoad: true
})

export const atLeast = (name: string, value: number, bound: number, unit = ""): Finding => ({
  name,
  figure: format(value, unit),
  bound: `≥ ${format(bound, unit)}`,
  isWithinBound: value >= bound,
  dependsOnLoad: true
})

export const equal = (name: string, value: number | string, expected: number | string): Finding => {
  const text = (given: number | string): string => (typeof given === "number" ? format(given, "") : given)
  return {
    name,
    figure: text(value),
    bound: text(expected),
    isWithinBound: value === expected,
    dependsOnLoad: false
  }
}

/** Creates a failing finding for a scenario that an error stopped, because its bounds were not verified. */
export const notCompleted = (reason: string): Finding => ({
  name: "scenario",
  figure: reason,
  bound: "completed",
  isWithinBound: false,
  dependsOnLoad: true
})

/** Creates a failing finding for a scenario that did not start, because the time of the run was used up. */
export const notStarted = (seconds: number): Finding => ({
  name: "scenario",
  figure: `not started: the ${seconds} s of the run are used up`,
  bound: "started",
  isWithinBound: false,
  dependsOnLoad: true
})

/** Creates a finding without a bound, such as the number of requests sent. */
export const measured = (name: string, value: number, unit = ""): Finding => ({
  name,
  figure: format(value, unit),
  bound: "",
  isWithinBound: true,
  dependsOnLoad: true
})

/** Creates a passing finding for a figure that cannot be measured on this machine, with the reason. */
export const unknown = (name: string, reason: string): Finding => ({
  name,
  figure: `not measured: ${reason}`,
  bound: "",
  isWithinBound: true,
  dependsOnLoad: true
})
