/** A server that exits before it listens. */
throw new Error("no port is available")
