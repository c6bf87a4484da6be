import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { describe, expect, it } from "vitest"
import * as NewPetBody from "./NewPetBody.ts"

describe("NewPetBody.decode", () => {
  it("does not keep a whole body in memory after its name is decoded", () => {
    setFlagsFromString("--expose-gc")
    const collectGarbage: () => void = runInNewContext("gc")
    const body = (index: number) =>
      new TextEncoder().encode(
        `{"name":"a name of more than a few letters ${index}","categoryId":1}${" ".repeat(60_000)}`
      )
    const heap = () => {
      collectGarbage()
      return process.memoryUsage().heapUsed
    }
    const decoded: Array<unknown> = []
    const before = heap()
    for (let index = 0; index < 300; index++) decoded.push(NewPetBody.decode(body(index), false))
    expect(heap() - before).toBeLessThan(6_000_000)
    expect(decoded.every((result) => result !== undefined)).toBe(true)
  })
})
