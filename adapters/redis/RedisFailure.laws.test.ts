import * as fc from "fast-check"
import { ErrorReply } from "redis"
import { describe, expect, it } from "vitest"
import * as RedisFailure from "./RedisFailure.ts"

const causeOf = (reply: string) => RedisFailure.causeOf(RedisFailure.of(new ErrorReply(reply)))

describe("RedisFailure.causeOf", () => {
  it("returns one cause for every error reply, and the first word decides unless it is ERR", () => {
    const word = fc.stringMatching(/^[A-Z]{2,12}$/).filter((text) => text !== "ERR")
    fc.assert(
      fc.property(word, fc.string(), (first, rest) => {
        expect(["connection", "capacity", "configuration"]).toContain(causeOf(first))
        expect(causeOf(`${first} ${rest}`)).toBe(causeOf(first))
      })
    )
  })

  it.each([
    ["READONLY You can't write against a read only replica.", "connection"],
    ["LOADING Redis is loading the dataset in memory", "connection"],
    ["MASTERDOWN Link with MASTER is down", "connection"],
    ["OOM command not allowed when used memory > 'maxmemory'.", "capacity"],
    ["CLUSTERDOWN The cluster is down", "capacity"],
    ["BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", "capacity"],
    ["MISCONF Redis is configured to save RDB snapshots, but it's unable to persist to disk.", "capacity"],
    ["NOREPLICAS Not enough good replicas to write.", "capacity"],
    ["NOSCRIPT No matching script. Please use EVAL.", "capacity"],
    ["ERR max number of clients reached", "capacity"],
    ["NOAUTH Authentication required.", "configuration"],
    ["WRONGPASS invalid username-password pair", "configuration"],
    ["NOPERM this user has no permissions", "configuration"],
    ["WRONGTYPE Operation against a key", "configuration"],
    ["ERR unknown command 'EVALSHA'", "configuration"]
  ])("of '%s' returns %s", (reply, cause) => {
    expect(causeOf(reply)).toBe(cause)
  })

  it("returns connection for an error without a reply", () => {
    expect(RedisFailure.causeOf(RedisFailure.because("no response within 1000 ms"))).toBe("connection")
  })
})
