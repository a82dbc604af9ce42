import { Problem } from '../../../contract/problems.ts'
import type { Resolver, Resolvers } from '../call.ts'

const NOT_SUPPORTED = 'not supported'

/** A mutation that some clients send and this plane does not support (GQL-20). Always throws 400. */
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

/** Resolvers for hub, models and flash: queries answer empty lists, mutations are not supported. */
export const ABSENT_RESOLVERS: Resolvers = {
  Query: { listings: nothing, allAiApiPublicConfigs: nothing, myModels: nothing },
  Mutation: Object.fromEntries(MUTATIONS.map((name) => [name, notSupported])),
}
