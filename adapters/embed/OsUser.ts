/** Identifies the operating-system user who runs this process. */
import * as os from "node:os"

/** Returns the user's name. If there is none, as in many containers, returns `uid N`, or `unknown` on Windows. */
export const name = (): string => {
  try {
    return os.userInfo().username
  } catch {
    return process.getuid === undefined ? "unknown" : `uid ${process.getuid()}`
  }
}
