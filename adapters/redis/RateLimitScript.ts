/**
 * Implements `RateLimit.step` in Lua, to count requests from one caller in one round trip. The script follows the
 * core's step line by line, and a law compares the two state by state. Only the core computes verdicts.
 *
 * Redis runs one script at a time, so no other command runs between the read and the write. Numbers in Lua are doubles:
 * all numbers here are integers below 2⁵³, for which `math.floor(a / b)` is exact.
 */
import { createHash } from "node:crypto"

/** A script, and its SHA-1, by which a server identifies it after the first use. */
export interface Script {
  readonly text: string
  readonly sha1: string
}

const make = (...parts: ReadonlyArray<string>): Script => {
  const text = parts.join("\n")
  return { text, sha1: createHash("sha1").update(text).digest("hex") }
}

/**
 * Lua functions that load and store a state in a string, or in a field of a hash that holds several states. `ARGV[1]`
 * and `ARGV[2]` are the field and the maximum number of fields. A new field above the maximum evicts the least recently
 * used field of a small sample, as Redis itself does when its memory is full. The hash expires with the last of its
 * states.
 */
const inString = `
local function load() return redis.call('GET', KEYS[1]) end
local function store(state, expiry, ms) redis.call('SET', KEYS[1], state, expiry, ms) end`

const inHash = `
local function load() return redis.call('HGET', KEYS[1], ARGV[1]) end
local function store(state, expiry, ms)
  local isNew = redis.call('HSET', KEYS[1], ARGV[1], state) == 1
  local fields = redis.call('HLEN', KEYS[1])
  local command = expiry == 'PX' and 'PEXPIRE' or 'PEXPIREAT'
  if fields == 1 then redis.call(command, KEYS[1], ms) else redis.call(command, KEYS[1], ms, 'GT') end
  if not isNew then return end
  for _ = 1, math.min(fields - tonumber(ARGV[2]), 8) do
    local sample = redis.call('HRANDFIELD', KEYS[1], 6, 'WITHVALUES')
    local oldest, since
    for index = 1, #sample, 2 do
      local at = tonumber(string.match(sample[index + 1], '^%S+ (%S+)'))
      if sample[index] ~= ARGV[1] and (since == nil or at < since) then oldest, since = sample[index], at end
    end
    if oldest then redis.call('HDEL', KEYS[1], oldest) end
  end
end`

/**
 * Counts requests from one caller. `ARGV`: field, maximum number of fields, ban policy for the expiry, and for each
 * request its time ('' for the server's time), its plan, its cost and its ban policy ('' if the caller cannot be
 * banned). Returns a line for each request: whether it was admitted, its time, and the state after it. A state becomes
 * equivalent to an absent state at `RateLimit.spentAt` and expires a minute later; if the requests give the time, it
 * expires a day later, because their clock may stand still.
 */
const step = `
local MINUTE, DAY, MAX_LEAD, SLOT_EXPIRY, MIN_SLOTS_OF_DAY = 60000, 86400000, 60000, 2000, 8
local floor, max, min = math.floor, math.max, math.min
local function numbersOf(text)
  local numbers = {}
  for number in string.gmatch(text, '%S+') do numbers[#numbers + 1] = tonumber(number) end
  return numbers
end

local isServerTime = ARGV[4] == ''
local now
if isServerTime then
  local time = redis.call('TIME')
  now = time[1] * 1000 + floor(time[2] / 1000)
end
local held = load()
local level, at, day, used, debt, strikes, strikesFrom, strikeAt, banLevel, bannedUntil
if held then
  level, at, day, used, debt, strikes, strikesFrom, strikeAt, banLevel, bannedUntil = string.match(
    held, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
  level, at, day, used, debt = tonumber(level), tonumber(at), tonumber(day), tonumber(used), tonumber(debt)
  strikes, strikesFrom, strikeAt = tonumber(strikes), tonumber(strikesFrom), tonumber(strikeAt)
  banLevel, bannedUntil = tonumber(banLevel), tonumber(bannedUntil)
end

local function strike(ban)
  local banStrikes, within, interval, clean = ban[1], ban[2], ban[3], ban[4]
  if math.abs(now - strikeAt) < interval then return end
  banLevel = max(banLevel - floor(max(now - max(bannedUntil, strikeAt), 0) / clean), 0)
  if strikes == 0 or now - strikesFrom >= within then strikes, strikesFrom = 0, now end
  strikes, strikeAt = strikes + 1, now
  if strikes < banStrikes then return end
  local lastBan = #ban - 5
  bannedUntil = now + ban[5 + min(banLevel, lastBan)]
  banLevel, strikes, strikesFrom = min(banLevel + 1, lastBan), 0, 0
end

local function count(perMinute, perDay, cost, ban)
  local today = floor(now / DAY)
  if level == nil then
    level, at, day, used, debt = perMinute * MINUTE, now, today, 0, 0
    strikes, strikesFrom, strikeAt, banLevel, bannedUntil = 0, 0, 0, 0, 0
  end
  local lead = at - now - MAX_LEAD
  if lead > 0 then
    at = at - lead
    if strikesFrom ~= 0 then strikesFrom = max(strikesFrom - lead, 1) end
    if strikeAt ~= 0 then strikeAt = max(strikeAt - lead, 1) end
    if bannedUntil ~= 0 then bannedUntil = max(bannedUntil - lead, 1) end
  end
  day = min(day, floor((now + MAX_LEAD) / DAY))
  if ban ~= '' and now < bannedUntil then return 0 end

  local capacity = perMinute * MINUTE
  local elapsed = max(now - at, 0)
  level = min(level + min(elapsed, MINUTE) * perMinute, capacity)
  at = max(at, now)
  if today > day then day, used = today, 0 end
  local isDayUsedUp = used + cost > perDay
  if isDayUsedUp then debt = max(debt - floor(elapsed / SLOT_EXPIRY), 0)
  elseif level == capacity then debt = 0 end
  if level >= cost * MINUTE and not isDayUsedUp then
    level, used, debt = level - cost * MINUTE, used + cost, max(debt - cost, 0)
    return 1
  end
  local maxSlots = floor(level / MINUTE) + (isDayUsedUp and max(perMinute, MIN_SLOTS_OF_DAY) or perMinute)
  if debt + cost <= maxSlots then
    debt = debt + cost
  else
    debt = maxSlots
    if ban ~= '' then strike(numbersOf(ban)) end
  end
  return 0
end

local function spentAt()
  local spent = max(at + MINUTE, (day + 1) * DAY)
  if strikeAt == 0 and bannedUntil == 0 and strikes == 0 and banLevel == 0 then return spent end
  local _, within, interval, clean = unpack(numbersOf(ARGV[3]))
  return max(
    spent,
    strikeAt + interval,
    strikes > 0 and strikesFrom + within or 0,
    banLevel > 0 and max(bannedUntil, strikeAt) + banLevel * clean or bannedUntil)
end

local reply = {}
local state = held
for index = 4, #ARGV, 5 do
  if not isServerTime then now = tonumber(ARGV[index]) end
  local perMinute, perDay, cost = tonumber(ARGV[index + 1]), tonumber(ARGV[index + 2]), tonumber(ARGV[index + 3])
  local admitted = count(perMinute, perDay, cost, ARGV[index + 4])
  state = string.format(
    '%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f',
    level, at, day, used, debt, strikes, strikesFrom, strikeAt, banLevel, bannedUntil)
  reply[#reply + 1] = string.format('%d %.0f ', admitted, now) .. state
end
-- During a ban nothing changes, so nothing is written.
if state ~= held then
  if isServerTime then store(state, 'PXAT', string.format('%.0f', spentAt() + MINUTE))
  else store(state, 'PX', string.format('%.0f', max(spentAt() - now, 0) + DAY)) end
end
return table.concat(reply, '\\n')`

/**
 * Replaces a state unless it has changed. `ARGV`: field, maximum number of fields, expected state ('' if absent), next
 * state, and its expiry. Returns null if the state was replaced, and otherwise the state that was found instead.
 */
const replace = `
local held = load() or ''
if held ~= ARGV[3] then return held end
store(ARGV[4], ARGV[5], ARGV[6])
return false`

/** Both scripts, each for states in separate strings and for states in a hash. */
export const scripts = {
  string: { count: make(inString, step), replace: make(inString, replace) },
  hash: { count: make(inHash, step), replace: make(inHash, replace) }
} as const
