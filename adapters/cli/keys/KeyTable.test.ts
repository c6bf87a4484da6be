import { expect, it } from "vitest"
import type { KeyStatus } from "../../embed/index.ts"
import * as KeyTable from "./KeyTable.ts"

const now = Date.UTC(2026, 11, 1)

const key: KeyStatus = {
  id: "key_a",
  plan: "Free",
  limits: { perMinute: 60, perDay: 1_000 },
  label: undefined,
  account: undefined,
  metadata: undefined,
  createdAt: now - 1,
  revokedAt: undefined,
  expiresAt: undefined,
  lastSeenDay: undefined,
  usage: {
    minute: { limit: 60, remaining: 60, fullAt: now },
    day: { limit: 1_000, used: 0, remaining: 1_000, endsAt: now },
    strikes: 0,
    bannedUntil: undefined
  },
  secrets: [{ hash: "00ff", createdAt: now, expiresAt: undefined }]
}

const withOldSecret = (expiresAt: number): KeyStatus["secrets"] => [
  ...key.secrets,
  { hash: "ff00", createdAt: now, expiresAt }
]

it("KeyTable.make formats keys in columns, and escapes labels that would break the layout", () => {
  const keys: ReadonlyArray<KeyStatus> = [
    key,
    {
      ...{ ...key, id: "key_longer", plan: "Enterprise", label: "shop\n\x1b[31m\u202efront" },
      limits: { perMinute: 1_000_000_000, perDay: 5 }
    },
    { ...key, label: "till №1, 日本", secrets: withOldSecret(now + 1) },
    { ...key, secrets: withOldSecret(now) },
    { ...key, revokedAt: now + 5, secrets: withOldSecret(now + 1) },
    { ...key, secrets: withOldSecret(Number.MAX_SAFE_INTEGER) },
    { ...key, expiresAt: now },
    { ...key, expiresAt: now + 1, usage: { ...key.usage, bannedUntil: now + 2 } }
  ]
  expect(KeyTable.make(keys, now).split("\n")).toEqual([
    "ID          PLAN        PER MINUTE  PER DAY  CREATED                   STATE                                                                       LABEL",
    "key_a       Free                60     1000  2026-11-30T23:59:59.999Z  active",
    "key_longer  Enterprise  1000000000        5  2026-11-30T23:59:59.999Z  active                                                                      shop\\u{a}\\u{1b}[31m\\u{202e}front",
    "key_a       Free                60     1000  2026-11-30T23:59:59.999Z  rotating until 2026-12-01T00:00:00.001Z                                     till №1, 日本",
    "key_a       Free                60     1000  2026-11-30T23:59:59.999Z  active",
    "key_a       Free                60     1000  2026-11-30T23:59:59.999Z  revoked at 2026-12-01T00:00:00.005Z",
    "key_a       Free                60     1000  2026-11-30T23:59:59.999Z  rotating until 9007199254740991",
    "key_a       Free                60     1000  2026-11-30T23:59:59.999Z  expired at 2026-12-01T00:00:00.000Z",
    "key_a       Free                60     1000  2026-11-30T23:59:59.999Z  banned until 2026-12-01T00:00:00.002Z, expires at 2026-12-01T00:00:00.001Z"
  ])
})

it("KeyTable.make has a column for accounts if a key has one", () => {
  expect(KeyTable.make([key, { ...key, account: "acme\n", label: "till" }], now).split("\n")).toEqual([
    "ID     PLAN  PER MINUTE  PER DAY  CREATED                   STATE   ACCOUNT    LABEL",
    "key_a  Free          60     1000  2026-11-30T23:59:59.999Z  active",
    "key_a  Free          60     1000  2026-11-30T23:59:59.999Z  active  acme\\u{a}  till"
  ])
})

it("KeyTable.make formats 200,000 keys", () => {
  const keys = Array.from({ length: 200_000 }, () => key)
  expect(KeyTable.make(keys, now).split("\n")).toHaveLength(200_001)
})
