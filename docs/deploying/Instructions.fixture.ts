/** Parses Dockerfiles and Containerfiles, without a container engine. */

export interface Instruction {
  readonly keyword: string
  readonly text: string
}

/** Parses the instructions of a file; joins continuation lines and removes comments. */
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
