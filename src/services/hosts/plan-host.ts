import type { ChangedResource, ChangePlan } from '../../contract/change-plan.ts'
import { openDatabase } from '../../db/client.ts'
import { findHost, type HostRecord } from '../../db/hosts/host-views.ts'
import { planCordon, planDrain, planGivingUp } from '../../domain/plan/departure.ts'
import { effect } from '../../domain/plan/effect.ts'
import { readDeparture } from '../../effects/departure.ts'
import type { Env } from '../../env.ts'
import { planChange } from '../change-plan.ts'
import { orNotFound } from '../or-not-found.ts'
import { hostInUse } from './hosts.ts'

// Dry runs of the operator's changes of hosts (DRY-4). They change nothing and send no notification.

/** Returns the plan of cordoning a host. Throws 404. */
export async function planCordonHost(env: Env, id: string): Promise<ChangePlan> {
  const resource = resourceOf(await hostOrThrow(env, id))
  return planChange('hosts.cordon', resource, async () => planCordon(resource, await readDeparture(env, id)))
}

/** Returns the plan of draining a host. Throws 404. */
export async function planDrainHost(env: Env, id: string): Promise<ChangePlan> {
  const resource = resourceOf(await hostOrThrow(env, id))
  return planChange('hosts.drain', resource, async () => planDrain(resource, await readDeparture(env, id)))
}

/** Returns the plan of removing a host. Throws 404. */
export async function planRemoveHost(env: Env, id: string): Promise<ChangePlan> {
  const found = await hostOrThrow(env, id)
  const resource = resourceOf(found)
  return planChange('hosts.remove', resource, async () => {
    const { workers, pods } = found.workloads
    // The same condition as in the statement that removes a host.
    if (found.host.status !== 'OFFLINE' && workers + pods > 0) throw hostInUse()
    const removal = effect(resource, 'DELETES', 'WARNING', 'the machine has to join again before it gets work')
    return [removal, ...planGivingUp(await readDeparture(env, id))]
  })
}

async function hostOrThrow(env: Env, id: string): Promise<HostRecord> {
  return orNotFound(await findHost(openDatabase(env.DB), id))
}

function resourceOf({ host }: HostRecord): ChangedResource {
  return { kind: 'host', id: host.id, name: host.name }
}
