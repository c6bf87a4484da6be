/** The store for programs without Effect. */
export {
  type AnimalStore,
  type AnimalStoreOptions,
  type IssuedApiKey,
  openAnimalStore
} from "./AnimalStore.ts"
