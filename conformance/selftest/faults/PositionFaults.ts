/** Defines faults at the beginning of a list, in the first request of a key, and at the beginning of a minute. */
import { type Fault, fault } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Requests from "../spoilers/Requests.ts"

export const faults: ReadonlyArray<Fault> = [
  fault(
    "create.first-rejected",
    "Rejects, for each key, the first creation with a body of more than 200 bytes."
  )
    .breaks("create.returns-created")
    .by(
      AtHttp.firstResponses(
        (request) => Requests.isCreation(request) && (request.body?.length ?? 0) > 200,
        (response) => (response.status === 201 ? Edit.error(400, "invalid_body")(response) : response)
      )
    )
]
