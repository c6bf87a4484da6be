/** A server that ends before it listens. */
throw new Error("there is no port left")
