/** Resolves the description of the implementation in reports: flags override members of the configuration file. */
import * as Result from "effect/Result"
import type { Implementation } from "../engine/Report.ts"
import { SetupError } from "../engine/SetupError.ts"

/** The flags that describe the implementation. */
export interface Flags {
  readonly implementation?: string | undefined
  readonly implementationVersion?: string | undefined
  readonly contact?: string | undefined
}

/** Maximum length of each text in UTF-16 code units, so that a badge and a table can show it. */
const MAX_LENGTH = 100

const fail = (reason: string): Result.Result<never, SetupError> => Result.fail(new SetupError({ reason }))

/** Whether the text is an email address or an `https` URL without credentials: pages show it as a link. */
const isContact = (text: string): boolean => {
  if (/^[^\s@<>"'`]+@[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(text) && !text.includes(":")) return true
  if (!/^https:\/\/[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return false
  const { password, username } = new URL(text)
  return username === "" && password === ""
}

/**
 * Merges the flags into the declarations of the file; returns `undefined` if nothing is declared. Fails if a text is
 * too long, the contact is invalid, or there is a version or a contact without a name.
 */
export const resolve = (
  file: Implementation | undefined,
  flags: Flags
): Result.Result<Implementation | undefined, SetupError> => {
  const name = flags.implementation ?? file?.name
  const version = flags.implementationVersion ?? file?.version
  const contact = flags.contact ?? file?.contact
  const all = { "--implementation": name, "--implementation-version": version, "--contact": contact }
  const long = Object.entries(all).find(([, text = ""]) => text.length > MAX_LENGTH)
  if (long !== undefined) return fail(`${long[0]}: must have at most ${MAX_LENGTH} characters`)
  if (contact !== undefined && !isContact(contact)) {
    return fail(
      "--contact: must be an email address, or a URL that begins with https:// and has no credentials"
    )
  }
  if (name === undefined && (version ?? contact) !== undefined) {
    return fail("--implementation: a version or a contact needs the name of the implementation")
  }
  return Result.succeed(
    name === undefined
      ? undefined
      : {
          name,
          ...(version === undefined ? {} : { version }),
          ...(contact === undefined ? {} : { contact })
        }
  )
}
