/** Opens stores on PostgreSQL through a faulty network. */
import { onTestFinished } from "vitest"
import * as Databases from "../sql/Databases.fixture.ts"
import * as FaultCaller from "./FaultCaller.fixture.ts"
import * as FaultyNetwork from "./FaultyNetwork.fixture.ts"
import type { AnimalStoreOptions } from "./index.ts"

/**
 * Creates a database that is reached through a faulty network, and returns its address in that network. `onResponse`
 * receives the data that the server sends.
 */
export const createDatabase = async (onResponse?: (chunk: Buffer) => void) => {
  const url = new URL((await Databases.createForTest(Databases.postgres)).address)
  const network = await FaultyNetwork.make(
    url.hostname,
    Number(url.port === "" ? 5432 : url.port),
    (_, chunk) => onResponse?.(chunk)
  )
  onTestFinished(network.close)
  url.hostname = "127.0.0.1"
  url.port = String(network.port)
  return { address: url.href, network }
}

/** Opens a store through the faulty network, and waits until its connection pool is full. */
export const openStore = async (options?: AnimalStoreOptions, onResponse?: (chunk: Buffer) => void) => {
  const { address, network } = await createDatabase(onResponse)
  const opened = await FaultCaller.open(address, options)
  // Runs before the store closes, which would otherwise wait for hanging connections.
  onTestFinished(network.pass)
  // These calls do not share statements, so they open all connections.
  while (network.connections() < FaultCaller.CONNECTIONS) {
    await Promise.all(Array.from({ length: FaultCaller.CONNECTIONS * 4 }, () => opened.store.keys.list()))
  }
  await opened.caller.recover()
  return { ...opened, network }
}
