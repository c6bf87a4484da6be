/** Builds the `Link` header for the peers' lists. Their cursor is the last id on the page, unsigned. */
import type { Page, Status } from "../Catalogue.ts"

/** Returns the value of the header, or `undefined` on the last page. */
export const nextLink = (
  { animals, hasMore }: Page,
  limit: number,
  status: Status | undefined
): string | undefined => {
  if (!hasMore) return undefined
  const filter = status === undefined ? "" : `&status=${status}`
  return `</v1/pets?limit=${limit}${filter}&cursor=${animals.at(-1)?.id}>; rel="next"`
}
