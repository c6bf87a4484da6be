/** Finds the files of the package that a built module imports. */

/** Returns the relative paths that built code imports statically, in the order of the imports. */
export const localImports = (code: string): ReadonlyArray<string> =>
  [...code.matchAll(/^(?:import|export)\b[^"'();=]*["'](\.[^"']*)["']/gm)].map(([, path]) => path ?? "")
