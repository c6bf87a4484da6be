/** Defines faults in the form of denials, such as denials by a gateway in front of the server. */
import { type Fault, fault, type Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Requests from "../spoilers/Requests.ts"

const onDenied = (edit: Edit.Edit): Where => AtHttp.responses({ status: 429 }, edit)

export const faults: ReadonlyArray<Fault> = [
  fault("limits.denied-with-key", "Repeats the credential in the message of denials.")
    .breaks("errors.no-echo")
    .by(
      onDenied((response, request) =>
        Edit.members((error) => ({ ...error, message: `limit of ${Requests.credentials(request).join()}` }))(
          response
        )
      )
    ),
  fault("limits.denied-with-redirect", "Redirects denied requests to a page about plans.")
    .breaks("http.no-redirects")
    .by(onDenied(Edit.status(302)))
]
