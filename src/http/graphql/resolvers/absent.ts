import { Problem } from '../../../contract/problems.ts'
import type { Resolver, Resolvers } from '../call.ts'

const NOT_SUPPORTED = 'not supported'

/** A mutation that clients have documents for and this plane does nothing for (GQL-20). */
export const notSupported: Resolver = () => {
  throw new Problem('badRequest', { detail: NOT_SUPPORTED })
}

const nothing = () => []
const MUTATIONS = [
  'createFlashAuthRequest',
  'prepareFlashArtifactUpload',
  'finalizeFlashArtifactUpload',
  'createFlashApp',
  'createFlashEnvironment',
  'deployBuildToEnvironment',
  'updateFlashBuildManifest',
  'deleteFlashApp',
  'deleteFlashEnvironment',
  'addModelToRepo',
  'removeModelFromRepo',
  'createModelRepoUpload',
  'completeModelRepoUpload',
  'updateModelVersionStatus',
]

/** Hub, models and flash: there is nothing to show, and nothing to do. */
export const ABSENT_RESOLVERS: Resolvers = {
  Query: { listings: nothing, allAiApiPublicConfigs: nothing, myModels: nothing },
  Mutation: Object.fromEntries(MUTATIONS.map((name) => [name, notSupported])),
}
