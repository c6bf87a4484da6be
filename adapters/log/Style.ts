/** Styles text for terminals with the escape sequences of ECMA-48. */

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39]
} as const

/** A function for each style, which returns the text with the style, or the text itself. */
export type Style = { readonly [name in keyof typeof codes]: (text: string) => string }

const make = (hasColor: boolean): Style => {
  const style =
    ([start, end]: readonly [number, number]) =>
    (text: string) =>
      hasColor ? `\u001b[${start}m${text}\u001b[${end}m` : text
  return {
    bold: style(codes.bold),
    dim: style(codes.dim),
    red: style(codes.red),
    green: style(codes.green),
    yellow: style(codes.yellow)
  }
}

const styles = { with: make(true), without: make(false) }

/** Returns the styles; they change nothing without color. */
export const of = (hasColor: boolean): Style => styles[hasColor ? "with" : "without"]

/** Whether terminals may get color: `NO_COLOR` is not set (no-color.org), and the terminal is not "dumb". */
export const hasColor = (env: { readonly [name: string]: string | undefined }): boolean =>
  (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb"
