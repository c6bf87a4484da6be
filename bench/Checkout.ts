/** Imports modules from a checkout of this project, so that two versions can be compared. */
import { pathToFileURL } from "node:url"

const thisCheckout = new URL("../", import.meta.url)

/**
 * Imports the module at a path in a checkout, by default in this one. `A` is its type in this checkout; only what is the
 * same in the other may be used.
 */
export const load = async <A>(path: string, checkout = ""): Promise<A> => {
  const root = checkout === "" ? thisCheckout : pathToFileURL(`${checkout}/`)
  // The caller passes the type of the module at this path.
  return (await import(new URL(path, root).href)) as A
}
