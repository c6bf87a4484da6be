/** Where the program of the worker thread is: beside the sources, or in the built package. */

/** The address of the program for `new Worker`. */
export const address = (): URL =>
  import.meta.url.endsWith(".ts")
    ? new URL("./SqliteWorker.ts", import.meta.url)
    : // Built modules share files with other names, so the place of this one says nothing. A bundle finds the package too,
      // if it is installed where the bundle runs.
      new URL("./dist/adapters/sql/SqliteWorker.js", import.meta.resolve("animal-store/package.json"))
