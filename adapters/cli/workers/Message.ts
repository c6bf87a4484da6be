/** What the primary process and its workers send each other through the channel of `node:cluster`. */
import * as Schema from "effect/Schema"

/** A page of the admin port. */
export const Path = Schema.Literals(["/metrics", "/livez", "/readyz"])
export type Path = typeof Path.Type

/** From the primary to a worker. */
export const ToWorker = Schema.Union([
  /** Asks for a page. */
  Schema.TaggedStruct("PageWanted", { path: Path }),
  /** Drains, then ends. */
  Schema.TaggedStruct("Stop", { drainMs: Schema.Int }),
  /** Ends the drain. */
  Schema.TaggedStruct("StopNow", {})
])
export type ToWorker = typeof ToWorker.Type

/** From a worker to the primary. */
export const ToPrimary = Schema.Union([
  Schema.TaggedStruct("Listening", { port: Schema.Int }),
  /** The start failed for a reason that an operator can fix. */
  Schema.TaggedStruct("StartFailed", { message: Schema.String }),
  Schema.TaggedStruct("PageMade", { path: Path, status: Schema.Int, body: Schema.String }),
  /** The metrics after the last request. */
  Schema.TaggedStruct("LastMetrics", { text: Schema.String })
])
export type ToPrimary = typeof ToPrimary.Type

/** How a worker starts; passed in its environment. */
export const Start = Schema.Struct({
  /** The port to listen on; 0 for the port that the other workers share. */
  port: Schema.Int,
  /** Whether standard error of the primary is a terminal. */
  isTerminal: Schema.Boolean
})
export type Start = typeof Start.Type

export const decodeToWorker = Schema.decodeUnknownOption(ToWorker)
export const decodeToPrimary = Schema.decodeUnknownOption(ToPrimary)
export const decodeStart = Schema.decodeUnknownOption(Schema.fromJsonString(Start))
