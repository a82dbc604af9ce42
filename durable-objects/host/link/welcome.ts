import { openDatabase } from '../../../src/db/client.ts'
import { saveInventory } from '../../../src/db/hosts/capacity.ts'
import { announceCapacity } from '../../../src/effects/capacity.ts'
import type { Env } from '../../../src/env.ts'
import type { AgentMessage } from '../../../src/host-protocol/messages.ts'
import { logEvent } from '../../../src/platform/log.ts'
import type { DesiredState } from '../desired-state.ts'
import type { Housekeeping } from '../housekeeping.ts'
import type { HostLinks } from '../links.ts'
import type { DesiredOverlays } from '../overlays.ts'
import type { HostPods } from '../pods/pods.ts'
import type { HostPresence } from '../presence.ts'
import type { HostSilence } from '../silence.ts'
import type { WorkloadStore } from '../workload-store.ts'
import type { HostLinkReplacements } from './link-replacements.ts'

/** The first message of an agent on its link. */
export type Hello = Extract<AgentMessage, { type: 'hello' }>

export interface HostWelcomeDeps {
  env: Env
  store: WorkloadStore
  links: HostLinks
  replacements: HostLinkReplacements
  presence: HostPresence
  silence: HostSilence
  pods: HostPods
  desired: DesiredState
  overlays: DesiredOverlays
  housekeeping: Housekeeping
  now(): number
  waitUntil(promise: Promise<unknown>): void
}

/** Handles an agent's hello. */
export class HostWelcome {
  private readonly deps: HostWelcomeDeps

  constructor(deps: HostWelcomeDeps) {
    this.deps = deps
  }

  /**
   * Handles a hello, and closes the link on an error. The runtime swallows errors of a socket handler; a closed link makes the agent retry.
   */
  async welcomeOrClose(socket: WebSocket, hello: Hello): Promise<void> {
    try {
      await this.welcome(socket, hello)
    } catch (error) {
      logEvent('error', 'host could not be welcomed', { hostId: this.deps.store.hostId(), error })
      socket.close(4004, 'the plane could not take the inventory')
    }
  }

  private async welcome(socket: WebSocket, { inventory, workloads }: Hello): Promise<void> {
    const { env, store, links, replacements, presence, silence, pods, desired, overlays, housekeeping, now, waitUntil } = this.deps
    const hostId = store.hostId() ?? ''
    links.greet(socket, (newer, older) => replacements.note(newer, older))
    await saveInventory(openDatabase(env.DB), hostId, inventory, now())
    await presence.cameOnline(hostId)
    await silence.exclude(hostId)
    await pods.returned(hostId, workloads)
    // The address at which the host's tunnels are reached may have changed.
    await overlays.refresh(hostId, true)
    await desired.sendTo(socket)
    await housekeeping.begin()
    waitUntil(announceCapacity(env, hostId))
  }
}
