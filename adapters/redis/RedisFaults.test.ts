/** Tests calls while Redis is down, hanging, read-only, full or loading, and the recovery afterwards. */
import { once } from "node:events"
import * as Net from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { inspect } from "node:util"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect, it, onTestFinished } from "vitest"
import { StoreUnavailable } from "../../core/errors/StoreUnavailable.ts"
import type { Verdict } from "../../core/limits/RateLimit.ts"
import { RateLimitStore } from "../../core/ports/RateLimitStore.ts"
import * as FaultyNetwork from "../embed/FaultyNetwork.fixture.ts"
import type { CallOptions } from "../storage/StorageOptions.ts"
import * as Nodes from "./Nodes.fixture.ts"
import * as Redis from "./Redis.ts"
import * as RedisConnection from "./RedisConnection.ts"
import * as RedisServers from "./RedisServers.fixture.ts"

/** The timeout of stores whose calls must not time out. Tests that must not wait for it have the same timeout. */
const NEVER_MS = 60_000

/** A short timeout for calls that time out. */
const SOON_MS = 400

const plan = { perMinute: 1_000_000, perDay: 1_000_000 }

/** Opens a store, which is closed after the test; its calls do not time out unless `options` say so. */
const open = async (address: string, options: Partial<CallOptions> = {}) => {
  const scope = Scope.makeUnsafe()
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  onTestFinished(close)
  const services = await Effect.runPromise(
    Scope.provide(
      Layer.build(Redis.layer({ url: Redacted.make(address), timeoutMs: NEVER_MS, ...options })),
      scope
    )
  )
  const store = Context.get(services, RateLimitStore)
  const count = (key: string): Promise<Exit.Exit<Verdict, StoreUnavailable>> =>
    Effect.runPromise(Effect.exit(Nodes.consume(store, key, Date.now(), { plan, ban: undefined })))
  const rehearse = () => Effect.runPromise(Effect.exit(store.rehearse ?? Effect.void))
  return { close, count, rehearse, store }
}

type Store = Awaited<ReturnType<typeof open>>

/** Opens a store whose calls soon time out; retries if the opening itself times out on a slow machine. */
const openWithShortTimeout = async (address: string): Promise<Store> => {
  const opened: Array<Store> = []
  await RedisServers.until(async () => {
    opened.push(
      ...(await open(address, { timeoutMs: SOON_MS }).then(
        (store) => [store],
        () => []
      ))
    )
    return opened.length > 0
  })
  const [store] = opened
  if (store === undefined) throw new Error("the store is not open")
  return store
}

/** Counts two requests for each of 50 callers. */
const countMany = ({ count }: Store) =>
  Promise.all(Array.from({ length: 100 }, (_, index) => count(`key:${index % 50}`)))

const failureOf = (exit: Exit.Exit<unknown, StoreUnavailable>): StoreUnavailable => {
  if (Exit.isSuccess(exit)) throw new Error("the call succeeded")
  const [reason, ...others] = exit.cause.reasons
  expect(others).toEqual([])
  if (reason === undefined || !Cause.isFailReason(reason)) throw new Error(Cause.pretty(exit.cause))
  expect(reason.error).toBeInstanceOf(StoreUnavailable)
  return reason.error
}

/** Expects that all calls fail, and returns their errors. */
const expectUnavailable = async (store: Store): Promise<ReadonlyArray<StoreUnavailable>> =>
  (await countMany(store)).map(failureOf)

/** Waits until many requests are counted at once; returns the number of attempts. */
const expectRecovery = async (store: Store): Promise<number> => {
  let attempts = 0
  await RedisServers.until(async () => {
    if (Exit.isFailure(await store.count("key:recovery"))) return false
    attempts++
    return (await countMany(store)).every(Exit.isSuccess)
  })
  return attempts
}

/** Returns the number of requests of the day that are counted for a key. */
const readUsed = async (store: Store, key: string): Promise<number> => {
  return Effect.runPromise(
    store.store.modify(key, (state) => {
      if (state === undefined) throw new Error("the key has no state")
      return [state.used, state]
    })
  )
}

/** Starts a server that accepts the login and sends `reply` to any other command. */
const startFake = async (reply: string): Promise<string> => {
  const hello = "%2\r\n$7\r\nversion\r\n$5\r\n7.2.0\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n"
  const sockets = new Set<Net.Socket>()
  const listener = Net.createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("data", (data) => {
      // Each command starts with a line that starts with "*"; no argument starts with "*".
      for (const command of String(data).split(/^(?=\*\d)/m)) {
        socket.write(/^\*\d+\r\n\$5\r\nHELLO/.test(command) ? hello : reply)
      }
    })
  }).listen(0, "127.0.0.1")
  await once(listener, "listening")
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    listener.close()
  })
  const address = listener.address()
  if (typeof address !== "object" || address === null) throw new Error("not a TCP listener")
  return `redis://127.0.0.1:${address.port}`
}

const openOverNetwork = async (kind: RedisServers.Kind) => {
  const server = await RedisServers.startForTest(kind)
  const network = await FaultyNetwork.make("127.0.0.1", server.port)
  onTestFinished(network.close)
  return { network, store: await openWithShortTimeout(`redis://127.0.0.1:${network.port}`) }
}

for (const kind of RedisServers.kinds) {
  RedisServers.describeOn(kind, "the store", () => {
    it("fails without waiting for the timeout while the server is down, and recovers after a restart, which deletes the script", {
      timeout: NEVER_MS
    }, async () => {
      const server = await RedisServers.startForTest(kind)
      const store = await open(server.address)
      await expectRecovery(store)
      await server.kill()
      for (let round = 0; round < 3; round++) await expectUnavailable(store)
      await server.restart()
      await expectRecovery(store)
    })

    it("fails within the timeout and queues no commands while the server hangs, and then recovers", async () => {
      const server = await RedisServers.startForTest(kind)
      const store = await openWithShortTimeout(server.address)
      const before = await expectRecovery(store)
      server.pause()
      for (let round = 0; round < 4; round++) await expectUnavailable(store)
      server.resume()
      const after = await expectRecovery(store)
      // For each caller: two requests in each attempt to recover, and at most the first two that were sent while the
      // server hung, which it runs later.
      expect(await readUsed(store, "key:1")).toBeLessThanOrEqual(2 * (before + after) + 2)
    })

    it("reconnects when the network drops all packets of a connection", async () => {
      const { network, store } = await openOverNetwork(kind)
      await expectRecovery(store)
      network.blackhole()
      await expectUnavailable(store)
      await expectRecovery(store)
    })

    it("ends all calls in flight when the connection is reset, and then recovers", async () => {
      const { network, store } = await openOverNetwork(kind)
      for (let round = 0; round < 6; round++) {
        const pending = countMany(store)
        await sleep(round % 3)
        network.cut()
        for (const exit of await pending) if (Exit.isFailure(exit)) failureOf(exit)
        await expectRecovery(store)
      }
    })

    it("fails and reconnects while the server is a replica, because the address may move to a new primary", async () => {
      const server = await RedisServers.startForTest(kind)
      const store = await open(server.address)
      await expectRecovery(store)
      // A store reconnects at most once per second.
      await sleep(1_100)
      const readConnectionId = async () =>
        /id=(\d+) [^\n]*name=animal-store/.exec(String(await server.send("CLIENT", "LIST")))?.[1]
      const id = await readConnectionId()
      await server.send("REPLICAOF", "127.0.0.1", "1")
      for (const { cause, retryable } of await expectUnavailable(store)) {
        expect(String(cause)).toMatch(/READONLY|Disconnect|no connection/)
        expect(retryable).toBe(true)
      }
      expect(Exit.isFailure(await store.rehearse())).toBe(true)
      await RedisServers.until(async () => ![undefined, id].includes(await readConnectionId()))
      await server.send("REPLICAOF", "NO", "ONE")
      await expectRecovery(store)
    })

    it("fails and counts nothing while the memory of the server is full", async () => {
      const server = await RedisServers.startForTest(kind)
      const store = await open(server.address)
      await expectRecovery(store)
      const used = await readUsed(store, "key:1")
      await server.send("CONFIG", "SET", "maxmemory", "1")
      for (const { cause, retryable } of await expectUnavailable(store)) {
        expect(String(cause)).toContain("OOM")
        expect(retryable).toBe(true)
      }
      expect(String(await store.rehearse())).toContain("OOM")
      await server.send("CONFIG", "SET", "maxmemory", "0")
      expect(await readUsed(store, "key:1")).toBe(used)
      await expectRecovery(store)
      expect(Exit.isSuccess(await store.rehearse())).toBe(true)
    })

    it("sends the script again when the server has deleted it, and counts each request once", async () => {
      const server = await RedisServers.startForTest(kind)
      const store = await open(server.address)
      for (let round = 0; round < 20; round++) {
        const pending = Array.from({ length: 10 }, () => store.count("key:a"))
        await server.send("SCRIPT", "FLUSH")
        for (const exit of await Promise.all(pending)) expect(Exit.isSuccess(exit)).toBe(true)
      }
      expect(await readUsed(store, "key:a")).toBe(200)
    })

    it("closes its connection without waiting and fails the calls in flight when it is closed", {
      timeout: NEVER_MS
    }, async () => {
      const server = await RedisServers.startForTest(kind)
      const store = await open(server.address)
      await expectRecovery(store)
      server.pause()
      const pending = countMany(store)
      await sleep(20)
      await store.close()
      for (const exit of await pending) failureOf(exit)
      server.resume()
      expect(String(await server.send("CLIENT", "LIST"))).not.toContain("name=animal-store")
    })

    it("fails to open with a wrong password, and the message does not contain the password", async () => {
      const server = await RedisServers.startForTest(kind, ["--requirepass", "right"], {
        url: (port) => `redis://:right@127.0.0.1:${port}`
      })
      await expectRecovery(await open(server.address))
      for (const login of [":s3cret@", "user:s3cret@", ""]) {
        const opening = open(`redis://${login}127.0.0.1:${server.port}`)
        await expect(opening).rejects.toMatchObject({
          _tag: "RedisUnusable",
          message: expect.stringMatching(/^limits: the Redis server at 127\.0\.0\.1:\d+ rejects the login: /)
        })
        await expect(opening).rejects.not.toThrow("s3cret")
      }
    })
  })
}

describe("the store on a simulated server", () => {
  // RedisFailure.laws.test.ts has the other replies.
  it.each([
    ["LOADING Redis is loading the dataset in memory", true],
    ["CLUSTERDOWN The cluster is down", true],
    ["NOSCRIPT No matching script. Please use EVAL.", true],
    ["NOPERM this user has no permissions", false]
  ])("fails with a StoreUnavailable for the reply '%s', retryable: %s", async (reply, isRetryable) => {
    const store = await open(await startFake(`-${reply}\r\n`))
    for (const { cause, retryable } of await expectUnavailable(store)) {
      expect(cause).toMatchObject({ message: reply })
      expect(retryable).toBe(isRetryable)
    }
  })

  it("fails when the replies do not follow the Redis protocol", async () => {
    const store = await openWithShortTimeout(await startFake("HTTP/1.1 400 Bad Request\r\n\r\n"))
    await expectUnavailable(store)
  })
})

describe("a connection", () => {
  it("is replaced without a pause if it was stable, because requests fail until then", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const { port } = new URL(yield* Effect.promise(() => startFake("+OK\r\n")))
        const replies = new Set<Net.Socket>()
        const network = yield* Effect.promise(() =>
          FaultyNetwork.make("127.0.0.1", Number(port), (socket) => replies.add(socket))
        )
        onTestFinished(network.close)
        const options = { isTls: false, username: undefined, password: undefined, database: 0 }
        const connection = RedisConnection.start(
          { host: "127.0.0.1", port: network.port },
          { ...options, timeoutMs: NEVER_MS },
          yield* Effect.context<never>()
        )
        onTestFinished(connection.close)
        yield* connection.firstAttempt
        yield* TestClock.adjust("2 seconds")
        network.cut()
        // The test clock stands still, so that a pause would never end.
        yield* Effect.promise(() =>
          RedisServers.until(async () => replies.size === 2 && connection.isReady())
        )
      }).pipe(Effect.provide(TestClock.layer()))
    ))
})

describe("opening a store", () => {
  it("removes the password from the error if the server does not support HELLO and quotes the login", async () => {
    const echo = Net.createServer((socket) => {
      socket.on("error", () => {})
      socket.on("data", (sent) => {
        const [, ...args] = String(sent)
          .split("\r\n")
          .filter((line) => line !== "" && !/^[*$]/.test(line))
        const quoted = args.map((text) => `'${text}'`).join(" ")
        socket.write(`-ERR unknown command 'HELLO', with args beginning with: ${quoted} \r\n`.repeat(3))
      })
    }).listen(0, "127.0.0.1")
    await once(echo, "listening")
    onTestFinished(() => void echo.close())
    const address = echo.address()
    if (typeof address !== "object" || address === null) throw new Error("not a TCP listener")
    const failure: unknown = await open(`redis://:s3cret@127.0.0.1:${address.port}`).catch(
      (error: unknown) => error
    )
    expect(failure).toMatchObject({
      _tag: "RedisUnusable",
      message: expect.stringContaining("unknown command")
    })
    expect(inspect(failure, { depth: 10 })).not.toContain("s3cret")
  })

  it("fails within the timeout when the port is closed or the server does not reply", async () => {
    const listener = Net.createServer(() => {}).listen(0, "127.0.0.1")
    await once(listener, "listening")
    onTestFinished(() => void listener.close())
    const address = listener.address()
    if (typeof address !== "object" || address === null) throw new Error("not a TCP listener")
    await expect(open("redis://127.0.0.1:1")).rejects.toThrow(
      "limits: cannot reach the Redis server at 127.0.0.1:1: connect ECONNREFUSED"
    )
    await expect(open(`redis://127.0.0.1:${address.port}`, { timeoutMs: SOON_MS })).rejects.toThrow(
      `limits: cannot reach the Redis server at 127.0.0.1:${address.port}: no response within ${SOON_MS} ms`
    )
  })
})
