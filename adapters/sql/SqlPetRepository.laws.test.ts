import { petRepositoryLaws } from "../../core/ports/PetRepository.laws.fixture.ts"
import { describeOn, kinds } from "./Databases.fixture.ts"
import { emptied } from "./Nodes.fixture.ts"

for (const kind of kinds) {
  describeOn(kind, "SqlPetRepository", () => {
    petRepositoryLaws(emptied(kind, ["pets"]), { numRuns: 30 })
  })
}
