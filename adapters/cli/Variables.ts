/** Finds environment variables with the prefix of the settings that are not settings. */
import * as NearestNames from "../../core/options/NearestNames.ts"
import { printable } from "./Printable.ts"
import { PREFIX, variable } from "./Setting.ts"

export type Environment = Readonly<Record<string, string>>

/**
 * Whether Kubernetes set this variable for a Service, such as `ANIMAL_STORE_PORT=tcp://10.0.0.7:3000` for one named
 * `animal-store`. It has the name of a setting, but not its meaning.
 */
const isServiceLink = ([name, value]: readonly [name: string, value: string]): boolean =>
  name.startsWith(PREFIX) && name.endsWith("_PORT") && /^(?:tcp|udp|sctp):\/\//i.test(value)

/** Returns the variables except those that Kubernetes set for a Service. */
export const withoutServiceLinks = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter((entry) => !isServiceLink(entry)))

/** The variable of another command whose name is similar to one of `serve`. */
const ofOtherCommand = variable("out")

/** Returns a warning for each variable that has the name of a setting in `known`, or nearly so, but no effect. */
export const warnings = (environment: Environment, known: ReadonlyArray<string>): ReadonlyArray<string> =>
  Object.entries(environment).flatMap((entry) => {
    const [name, value] = entry
    if (known.includes(name)) {
      return isServiceLink(entry)
        ? [
            `${name}=${printable(value)} is ignored, because Kubernetes sets it for a Service; set enableServiceLinks: false in the pod`
          ]
        : []
    }
    const isOurs = name.startsWith(PREFIX) && name !== ofOtherCommand
    const [nearest] = isOurs ? NearestNames.nearestNames(name, known) : []
    return nearest === undefined ? [] : [`${printable(name)} is not a setting; did you mean ${nearest}?`]
  })
