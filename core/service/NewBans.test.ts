import { expect, it } from "vitest"
import * as NewBans from "./NewBans.ts"

it("a ban of a key is new once", () => {
  const bans = NewBans.make()
  expect([bans.isNew("a", 60), bans.isNew("a", 60), bans.isNew("b", 60), bans.isNew("a", 120)]).toEqual([
    true,
    false,
    true,
    true
  ])
})

it("the latest thousand bans are recognized", () => {
  const bans = NewBans.make()
  for (let index = 0; index < 1_001; index++) bans.isNew(String(index), 60)
  expect([bans.isNew("1", 60), bans.isNew("0", 60)]).toEqual([false, true])
})
