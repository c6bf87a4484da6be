/** The messages that the primary process and its workers exchange through the channel of `node:cluster`. */
import * as Schema from "effect/Schema"

/** The path of a page on the admin port, or of the sample of the metrics for the console. */
export const Path = Schema.Literals(["/metrics", "/sample", "/livez", "/readyz"])
export type Path = typeof Path.Type

/** A message from the primary to a worker. */
export const ToWorker = Schema.Union([
  /** Asks for a page. */
  Schema.TaggedStruct("PageWanted", { path: Path }),
  /** Stops the worker after a drain. */
  Schema.TaggedStruct("Stop", { drainMs: Schema.Int }),
  /** Ends the drain early. */
  Schema.TaggedStruct("StopNow", {})
])
export type ToWorker = typeof ToWorker.Type

/** A message from a worker to the primary. */
export const ToPrimary = Schema.Union([
  Schema.TaggedStruct("Listening", { port: Schema.Int }),
  /** Startup failed for a reason that an operator can fix. */
  Schema.TaggedStruct("StartFailed", { message: Schema.String }),
  Schema.TaggedStruct("PageMade", { path: Path, status: Schema.Int, body: Schema.String }),
  /** The final metrics of the worker, after its last request. */
  Schema.TaggedStruct("LastMetrics", { text: Schema.String })
])
export type ToPrimary = typeof ToPrimary.Type

/** The start parameters of a worker, passed in its environment. */
export const Start = Schema.Struct({
  /** The port to listen on; 0 for the port that the other workers share. */
  port: Schema.Int,
  /** Whether the primary's standard error is a terminal. */
  isTerminal: Schema.Boolean
})
export type Start = typeof Start.Type

export const decodeToWorker = Schema.decodeUnknownOption(ToWorker)
export const decodeToPrimary = Schema.decodeUnknownOption(ToPrimary)
export const decodeStart = Schema.decodeUnknownOption(Schema.fromJsonString(Start))
