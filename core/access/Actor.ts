/** Who administers keys, for the record of key events. */
import * as Context from "effect/Context"

/** The name of the person or program that changes keys, such as the user of the operating system. */
export const Actor = Context.Reference<string>("animal-store/core/access/Actor", {
  defaultValue: () => "unknown"
})
