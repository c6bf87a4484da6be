import { openAnimalStore } from "animal-store"

/** Next.js bundles each file on its own, so the one store of the process is global. */
export const openedStore = () => {
  globalThis.animalStore ??= openAnimalStore()
  return globalThis.animalStore
}
