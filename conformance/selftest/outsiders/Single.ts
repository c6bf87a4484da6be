/** Edits single animals in responses. */
import type { Animal } from "../../http/Animal.ts"
import type { WireRequest } from "../../http/Wire.ts"
import type { Where } from "../Fault.ts"
import * as AtHttp from "../spoilers/AtHttp.ts"
import * as Edit from "../spoilers/Edit.ts"
import * as Requests from "../spoilers/Requests.ts"

/** Edits the animal of a successful creation or retrieval. */
export const changesAnimal = (
  to: (request: WireRequest) => boolean,
  change: (animal: Animal) => unknown
): Where =>
  AtHttp.responses({ to, status: (status) => status < 300 }, (response) => {
    const animal = Edit.animalOf(response)
    return animal === undefined ? response : Edit.body(Edit.write(change(animal)))(response)
  })

export const isSingle = (request: WireRequest): boolean =>
  Requests.isCreation(request) || Requests.isGet(request)
