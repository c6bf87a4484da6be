import { describe, expect, it } from "vitest"
import * as NewBans from "./NewBans.ts"

describe("NewBans", () => {
  it("returns true only for the first call with a key and the end of its ban", () => {
    const isNew = NewBans.make()
    expect([isNew("a", 60), isNew("a", 60), isNew("b", 60), isNew("a", 120)]).toEqual([
      true,
      false,
      true,
      true
    ])
  })

  it("recognizes the bans of the latest 1,000 keys, but not the bans of earlier keys", () => {
    const isNew = NewBans.make()
    for (let index = 0; index < 1_001; index++) isNew(String(index), 60)
    expect([isNew("1", 60), isNew("0", 60)]).toEqual([false, true])
  })
})
