import { Problem } from '../../contract/problems.ts'
import { openDatabase } from '../../db/client.ts'
import { isAddressTaken, isOnOverlays, provideAccountOverlay } from '../../db/overlays/account-overlay.ts'
import type { PodRow } from '../../db/pods/pods.ts'
import { freeAddress } from '../../domain/overlay/addresses.ts'
import type { PodDraft } from '../../effects/pods/place-pod.ts'
import type { VerbContext } from '../context.ts'

/** Attempts when pods of one account are created at the same time. */
const MAX_TRIES = 20

type Timed = Pick<VerbContext, 'env' | 'nowMs'>

/** Returns a free address in the network of an account (NET-48). Throws 400 when there is none. */
async function chooseGlobalAddress({ env, nowMs }: Timed, teamId: string): Promise<string> {
  const network = await provideAccountOverlay(openDatabase(env.DB), teamId, nowMs)
  const address = network && freeAddress('account', network.slot, network.taken)
  if (address === null) throw new Problem('badRequest', { detail: 'globalNetworking: the private network has no free address' })
  return address
}

/**
 * Records a new pod, with an address in the network of its account if it asks for one. When pods race for one address, the others get
 * another.
 */
export async function withGlobalAddress<T>(ctx: Timed, draft: PodDraft, place: (draft: PodDraft) => Promise<T>): Promise<T> {
  if (!draft.spec.globalNetworking) return place(draft)
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await place({ ...draft, globalIp: await chooseGlobalAddress(ctx, draft.teamId) })
    } catch (error) {
      if (!isAddressTaken(error) || attempt === MAX_TRIES) throw error
    }
  }
}

/** Returns a pod's address in the network of its account after a change; throws 400 when its host is on no private network. */
export async function globalIpAfter(ctx: Timed, before: PodRow, wanted: boolean): Promise<string | null> {
  const kept = await previewGlobalIp(ctx, before, wanted)
  return wanted && kept === null ? chooseGlobalAddress(ctx, before.teamId) : kept
}

/** Returns the address like `globalIpAfter`, but does not choose a new one. Throws 400 as that does. */
export async function previewGlobalIp({ env }: Pick<Timed, 'env'>, before: PodRow, wanted: boolean): Promise<string | null> {
  if (!wanted) return null
  if (before.globalIp !== null || (await isOnOverlays(openDatabase(env.DB), before.hostId))) return before.globalIp
  const detail =
    'globalNetworking: the host machine of this pod has no private network between hosts; terminate the pod and create another with globalNetworking'
  throw new Problem('badRequest', { detail })
}
