import type { AgentMessage } from '../../../src/host-protocol/messages.ts'
import type { HostGpuHealth } from '../gpu-health.ts'
import type { HostHistory } from '../history/history.ts'
import { isGreeted, readMessage, sendTo } from '../links.ts'
import type { HostStats } from '../stats.ts'
import { HostWelcome, type HostWelcomeDeps } from './welcome.ts'

type Beat = Extract<AgentMessage, { type: 'beat' }>

export interface HostConversationDeps extends HostWelcomeDeps {
  stats: HostStats
  history: HostHistory
  gpuHealth: HostGpuHealth
}

/** Handles messages of the agent on its link, and replies to them. */
export class HostConversation {
  private readonly deps: HostConversationDeps
  private readonly welcome: HostWelcome

  constructor(deps: HostConversationDeps) {
    this.deps = deps
    this.welcome = new HostWelcome(deps)
  }

  async hear(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    const { silence, links, desired } = this.deps
    const message = readMessage(data)
    if (!message) {
      socket.close(4002, 'message not understood')
      return
    }
    if (this.sendIfRevoked(socket)) return
    if (message.type !== 'hello' && !isGreeted(socket)) {
      socket.close(4001, 'hello first')
      return
    }
    await silence.ends()
    links.heard(socket, message.type === 'hello' ? message.takesParts === true : undefined)
    if (message.type === 'hello') return this.welcome.welcomeOrClose(socket, message)
    if (message.type === 'more') return desired.sendTo(socket, message.after)
    return this.beat(socket, message)
  }

  /** Sends `revoked` to an agent whose enrolment was withdrawn; returns whether it was. */
  sendIfRevoked(socket: WebSocket): boolean {
    const reason = this.deps.store.revoked()
    if (reason !== null) sendTo(socket, { type: 'revoked', reason })
    return reason !== null
  }

  private async beat(
    socket: WebSocket,
    { beat, stats: figures, machine, appliedRevision, gpuHealth: problems, transports }: Beat,
  ): Promise<void> {
    const { store, desired, stats, history, gpuHealth, now } = this.deps
    sendTo(socket, { type: 'beatAck', beat })
    if (figures) stats.take(figures, now())
    stats.transports = transports ?? null
    history.take(figures ?? [], machine, now())
    desired.applied(appliedRevision)
    if (appliedRevision < store.revision()) await desired.sendTo(socket)
    if (problems) await gpuHealth.note(problems)
  }
}
