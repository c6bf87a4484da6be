/** Defines requests as programs send them. */
import type { Header } from "../http/Wire.ts"

/** The declared key that a request is sent with; `none` without a key, `other` for a credential that is made up. */
export type KeyName = "main" | "tiny" | "victim" | "revoked" | "expired" | "none" | "other"

/** A request below the base address. */
export interface Sent {
  /** `GET` when absent. */
  readonly method?: string
  /** Path and query after the base path, such as `/pets?limit=1`; sent unchanged. */
  readonly path: string
  /** The declared key that the request is sent with; `main` when absent. */
  readonly key?: KeyName
  /** Values of `Authorization` instead of a declared key; an empty array sends none. */
  readonly authorization?: ReadonlyArray<string>
  /** Describes `authorization` in reports, which must not show values that are derived from a key. */
  readonly credential?: string
  readonly headers?: ReadonlyArray<Header>
  readonly body?: string | Uint8Array
  /** A body that is sent as `application/json`. */
  readonly json?: string
}
