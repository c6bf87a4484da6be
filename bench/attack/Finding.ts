/** One figure that a scenario measured, and whether its bound holds. */
export interface Finding {
  readonly what: string
  readonly figure: string
  readonly bound: string
  readonly holds: boolean
}

const shown = (value: number, unit: string): string => {
  const digits = value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 1 : 0 })
  return unit === "" ? digits : `${digits} ${unit}`
}

export const atMost = (what: string, value: number, bound: number, unit = ""): Finding => ({
  what,
  figure: shown(value, unit),
  bound: `≤ ${shown(bound, unit)}`,
  holds: value <= bound
})

export const atLeast = (what: string, value: number, bound: number, unit = ""): Finding => ({
  what,
  figure: shown(value, unit),
  bound: `≥ ${shown(bound, unit)}`,
  holds: value >= bound
})

export const equal = (what: string, value: number | string, expected: number | string): Finding => {
  const text = (given: number | string): string => (typeof given === "number" ? shown(given, "") : given)
  return { what, figure: text(value), bound: text(expected), holds: value === expected }
}

/** A figure without a bound, such as how much load there was. */
export const measured = (what: string, value: number, unit = ""): Finding => ({
  what,
  figure: shown(value, unit),
  bound: "",
  holds: true
})

/** A figure that cannot be measured on this machine, with the reason. */
export const unknown = (what: string, reason: string): Finding => ({
  what,
  figure: `not measured: ${reason}`,
  bound: "",
  holds: true
})
