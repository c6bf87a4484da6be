/** Returns the anchors of a page's headings, as GitHub makes them; those of repeated headings are numbered. */
export const anchorsOf = (text: string): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  const headings = text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.+)$/gm)
  return [...headings].map(([, heading = ""]) => {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase()
    const anchor = plain.replaceAll(/[^\p{Letter}\p{Number}\p{Mark}_ -]/gu, "").replaceAll(" ", "-")
    const count = counts.get(anchor) ?? 0
    counts.set(anchor, count + 1)
    return count === 0 ? anchor : `${anchor}-${count}`
  })
}
