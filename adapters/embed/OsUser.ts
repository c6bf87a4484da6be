/** Identifies the user of the operating system who runs this process. */
import * as os from "node:os"

/** Returns the name of the user; without a name, as in many containers, `uid N`, or `unknown` on Windows. */
export const name = (): string => {
  try {
    return os.userInfo().username
  } catch {
    return process.getuid === undefined ? "unknown" : `uid ${process.getuid()}`
  }
}
