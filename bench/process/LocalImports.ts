/** The files of the package that a built module imports. */

/** The relative paths that built code imports statically, in the order in which it names them. */
export const localImports = (code: string): ReadonlyArray<string> =>
  [...code.matchAll(/^(?:import|export)\b[^"'();=]*["'](\.[^"']*)["']/gm)].map(([, path]) => path ?? "")
