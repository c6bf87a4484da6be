import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import * as ImportRecord from "./ImportRecord.ts"

const position = { bytes: 500, lines: 5, animals: 4, prefix: "ab" }
const unfinished = { keepIds: false, position, completedAt: undefined }
const complete = { ...unfinished, completedAt: Date.UTC(2026, 10, 22) }
const fileRequest = { keepIds: false, again: false, canGrow: false }

describe("ImportRecord.startOf", () => {
  it("starts a source without a record at the beginning", () => {
    const fromBeginning = Result.succeed({ isNew: true, position: ImportRecord.beginning })
    expect(ImportRecord.startOf(undefined, fileRequest)).toEqual(fromBeginning)
    expect(ImportRecord.startOf(undefined, { ...fileRequest, again: true })).toEqual(fromBeginning)
  })

  it("resumes an unfinished import, even with --again, so that nothing is stored twice", () => {
    const resumed = Result.succeed({ isNew: false, position })
    expect(ImportRecord.startOf(unfinished, fileRequest)).toEqual(resumed)
    expect(ImportRecord.startOf(unfinished, { ...fileRequest, again: true })).toEqual(resumed)
  })

  it("rejects a completely imported file, unless --again is given", () => {
    expect(ImportRecord.startOf(complete, fileRequest)).toEqual(
      Result.fail(
        "it was imported completely at 2026-11-22T00:00:00.000Z (4 animals); --again imports it a second time"
      )
    )
    expect(ImportRecord.startOf(complete, { ...fileRequest, again: true })).toEqual(
      Result.succeed({ isNew: true, position: ImportRecord.beginning })
    )
  })

  it("resumes a completely imported stream, which may be longer now", () => {
    expect(ImportRecord.startOf(complete, { ...fileRequest, canGrow: true })).toEqual(
      Result.succeed({ isNew: false, position })
    )
  })

  it("rejects an import that began with the other value of --keep-ids", () => {
    expect(ImportRecord.startOf(unfinished, { ...fileRequest, keepIds: true })).toEqual(
      Result.fail(
        "its import began without --keep-ids and cannot be resumed with it; stored so far: 4 animals"
      )
    )
  })
})
