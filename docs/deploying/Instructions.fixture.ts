/** Files that describe images, parsed: no engine runs. */

export interface Instruction {
  readonly keyword: string
  readonly text: string
}

/** Parses instructions: continuation lines are joined, comments removed. */
export const instructionsOf = (containerfile: string): ReadonlyArray<Instruction> =>
  containerfile
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, keyword = "", text = ""] = /^([A-Z]+) (.*)$/.exec(line) ?? []
      return { keyword, text }
    })
