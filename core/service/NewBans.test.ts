import { describe, expect, it } from "vitest"
import * as NewBans from "./NewBans.ts"

describe("NewBans.isNew", () => {
  it("returns true only for the first call with a key and the end of its ban", () => {
    const bans = NewBans.make()
    expect([bans.isNew("a", 60), bans.isNew("a", 60), bans.isNew("b", 60), bans.isNew("a", 120)]).toEqual([
      true,
      false,
      true,
      true
    ])
  })

  it("recognizes the bans of the latest 1,000 keys, but not the bans of earlier keys", () => {
    const bans = NewBans.make()
    for (let index = 0; index < 1_001; index++) bans.isNew(String(index), 60)
    expect([bans.isNew("1", 60), bans.isNew("0", 60)]).toEqual([false, true])
  })
})
