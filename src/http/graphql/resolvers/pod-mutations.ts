import { z } from 'zod'
import type { PodAction } from '../../../contract/enums.ts'
import { CreatePodRequest, UpdatePodRequest } from '../../../contract/pods/pods.ts'
import { type ContainerInput, type DeployInput, needsMounts, podBodies, podEdit } from '../../../domain/graphql/pod-inputs.ts'
import { given } from '../../../domain/graphql/values.ts'
import { loadCatalog } from '../../../effects/catalog.ts'
import { readSettings } from '../../../env.ts'
import { actOnPod, updatePod } from '../../../services/pods/change-pod.ts'
import { createFirstFit } from '../../../services/pods/first-fit.ts'
import { getPod } from '../../../services/pods/pods.ts'
import type { Call, Resolvers } from '../call.ts'
import { checked, mapped, needed } from '../checked.ts'
import { showPod } from './pods.ts'

/** The template of a CPU pod whose client names none. */
const CPU_TEMPLATE = 'runpod-ubuntu'

const ResumeCount = z.object({ gpuCount: z.number().min(1).optional() })

interface ActionInput {
  podId?: string | null
  gpuCount?: number | null
}
interface Input<Of> {
  input?: Of | null
}

/** Mutations of pods (GQL-23): the verbs of v2 under the names of the older API. */
export const POD_MUTATIONS: Resolvers = {
  Mutation: {
    podFindAndDeployOnDemand: (_, { input }: Input<DeployInput>, call) => deploy(call, needed(input), false),
    podRentInterruptable: (_, { input }: Input<DeployInput>, call) => deploy(call, needed(input), true),
    deployCpuPod: (_, { input }: Input<DeployInput>, call) => {
      const { templateId, ...asked } = needed(input)
      needed(asked.instanceId, 'instanceId')
      return deploy(call, { ...asked, templateId: templateId || CPU_TEMPLATE }, false)
    },
    podResume: (_, { input }: Input<ActionInput>, call) => resume(call, needed(input)),
    podBidResume: (_, { input }: Input<ActionInput>, call) => resume(call, needed(input)),
    podStop: (_, { input }: Input<ActionInput>, call) => act(call, needed(input), 'stop'),
    podTerminate: async (_, { input }: Input<ActionInput>, call) => {
      await actOnPod(call.ctx, podIdOf(needed(input)), 'terminate', undefined)
      return null
    },
    podEditJob: (_, { input }: Input<ContainerInput & { podId?: string | null }>, call) => edit(call, needed(input)),
  },
}

async function deploy(call: Call, input: DeployInput, isInterruptible: boolean) {
  const { ctx, key } = call
  const bodies = mapped(podBodies(input, await loadCatalog(ctx.env))).map((body) => checked(CreatePodRequest, body))
  const hasOwnName = given(input.name) !== undefined && readSettings(ctx.env).graphql.hasOwnPodNames
  const { pod } = await createFirstFit(ctx, bodies, input, key, { hasOwnName, isInterruptible })
  return showPod(call, pod)
}

async function act(call: Call, input: ActionInput, action: PodAction) {
  const acted = await actOnPod(call.ctx, podIdOf(input), action, undefined)
  return acted && showPod(call, acted.pod)
}

/** Starts a pod. A `gpuCount` that is absent or 0 means the GPUs that the pod has (GQL-37). */
async function resume(call: Call, input: ActionInput) {
  const { gpuCount } = checked(ResumeCount, { gpuCount: input.gpuCount || undefined })
  const acted = await actOnPod(call.ctx, podIdOf(input), 'start', undefined, gpuCount)
  return acted && showPod(call, acted.pod)
}

async function edit(call: Call, input: ContainerInput & { podId?: string | null }) {
  const id = podIdOf(input)
  const mounts = needsMounts(input) ? (await getPod(call.ctx, id)).pod.mounts : {}
  const body = checked(UpdatePodRequest, podEdit(input, mounts))
  return showPod(call, (await updatePod(call.ctx, id, body, undefined)).pod)
}

function podIdOf({ podId }: { podId?: string | null }): string {
  return needed(podId, 'podId')
}
