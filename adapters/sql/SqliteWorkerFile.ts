/** Locates the program of the worker thread, in the sources or in the built package. */

/** Returns the address of the program for `new Worker`. */
export const address = (): URL =>
  import.meta.url.endsWith(".ts")
    ? new URL("./SqliteWorker.ts", import.meta.url)
    : // The build merges modules into files with other names, so the program is not next to this module. A bundle also
      // finds the program if the package is installed where the bundle runs.
      new URL("./dist/adapters/sql/SqliteWorker.js", import.meta.resolve("animal-store/package.json"))
