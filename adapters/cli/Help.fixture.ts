/** Reads the help of a command. */

/** Returns the name and the description of each flag of a command, without the flags that all commands have. */
export const flagsOf = (help: string): ReadonlyArray<readonly [flag: string, description: string]> => {
  const section = help.slice(help.indexOf("\nFLAGS"), help.indexOf("\nGLOBAL FLAGS"))
  return section
    .split("\n  --")
    .slice(1)
    .map((entry) => {
      const [name = "", ...description] = entry.split("\n")
      return [name.replace(/[, ].*/, ""), description.map((line) => line.trim()).join(" ")]
    })
}

/** Returns the environment variable that a description of a flag names. */
export const variableIn = (description: string): string | undefined =>
  /\[(ANIMAL_STORE_[A-Z_]+)/.exec(description)?.[1]
