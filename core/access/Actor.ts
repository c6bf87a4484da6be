/** Defines the name under which key events record who changed an API key. */
import * as Context from "effect/Context"

/** The name of the person or program that changes keys, such as the operating-system user; "unknown" by default. */
export const Actor = Context.Reference<string>("animal-store/core/access/Actor", {
  defaultValue: () => "unknown"
})
