/** The user of the operating system who runs this process. */
import * as os from "node:os"

/** Returns the name of the user, or `uid N` for a user without a name, as in many containers. */
export const name = (): string => {
  try {
    return os.userInfo().username
  } catch {
    return process.getuid === undefined ? "unknown" : `uid ${process.getuid()}`
  }
}
