/** A server that exits before it listens. */
throw new Error("there is no port left")
