/** Whether a run is worse than the one that was kept. */
import type { Results } from "./Results.ts"

/** A ratio to the bare server may be worse by so much. */
export const TOLERANCE = 0.1

/** One ratio, then and now. */
export interface Compared {
  readonly server: string
  readonly operation: string
  readonly before: number
  readonly now: number
  /** As a share: 0.1 is a tenth more CPU time. */
  readonly change: number
  /** Whether it is one of ours and worse by more than is tolerated. */
  readonly isFlagged: boolean
}

/** Two runs, as far as they measured the same. */
export interface Comparison {
  readonly ratios: ReadonlyArray<Compared>
  /** What the kept run measured of ours and this one, which has the operation, did not. */
  readonly missing: ReadonlyArray<string>
}

/** Compares ratios, which machines agree on better than on times. */
export const compare = (baseline: Results, current: Results): Comparison => {
  const ours = new Set(baseline.http?.servers.filter(({ isOurs }) => isOurs).map(({ name }) => name))
  const ratios: Array<Compared> = []
  const missing: Array<string> = []
  for (const { operation, servers } of baseline.http?.operations ?? []) {
    const measured = current.http?.operations.find((figures) => figures.operation === operation)
    if (measured === undefined) continue
    for (const { ratio, server } of servers) {
      const now = measured.servers.find((figures) => figures.server === server)?.ratio.median
      if (now !== undefined) {
        const before = ratio.median
        const change = now / before - 1
        const isFlagged = ours.has(server) && now > before * (1 + TOLERANCE)
        ratios.push({ server, operation, before, now, change, isFlagged })
      } else if (ours.has(server)) missing.push(`${operation} at ${server}`)
    }
  }
  return { ratios, missing }
}

/** A comparison for a terminal. */
export const render = ({ missing, ratios }: Comparison): string => {
  const flagged = ratios.filter(({ isFlagged }) => isFlagged)
  const row = (cells: ReadonlyArray<string>): string => {
    const [operation = "", server = "", ...figures] = cells
    return [operation.padEnd(18), server.padEnd(22), ...figures.map((figure) => figure.padStart(8))].join(" ")
  }
  return [
    row(["operation", "server", "before", "now", "change"]),
    ...ratios.map(({ before, change, isFlagged, now, operation, server }) => {
      const percent = `${change < 0 ? "" : "+"}${(change * 100).toFixed(1)} %`
      return `${row([operation, server, before.toFixed(2), now.toFixed(2), percent])}${isFlagged ? "  WORSE" : ""}`
    }),
    ...missing.map((what) => `not measured now: ${what}`),
    "",
    flagged.length === 0
      ? `No ratio of ours is worse by more than ${TOLERANCE * 100} %.`
      : `${flagged.length} of our ratios are worse by more than ${TOLERANCE * 100} %.`
  ].join("\n")
}
