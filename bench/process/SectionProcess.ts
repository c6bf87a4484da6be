/** Measures one section in its own process, and sends its progress and its figures. */
import type { Figure } from "./Figure.ts"
import { sections } from "./Run.ts"

/** A message: the current step, or, as the last message, the figures. */
export type SectionMessage = { readonly progress: string } | { readonly figures: ReadonlyArray<Figure> }

const send = (message: SectionMessage): unknown => process.send?.(message)

const section = sections.find(({ name }) => name === process.argv[2])
if (section === undefined) throw new Error(`unknown section ${process.argv[2]}`)
send({ figures: await section.run((progress) => send({ progress })) })
