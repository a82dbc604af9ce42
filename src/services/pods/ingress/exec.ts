import { Problem } from '../../../contract/problems.ts'
import { openDatabase } from '../../../db/client.ts'
import { own } from '../../../objects/ownership/own.ts'
import { noteChange } from '../../audit.ts'
import type { VerbContext } from '../../context.ts'
import { requireScope } from '../../require-scope.ts'
import { type ChannelTarget, isStillRunning, openChannels, requireRunning } from './channels.ts'

/** A request to run a command in a pod. */
export interface ExecCall {
  target: Extract<ChannelTarget, { kind: 'exec' }>
  /** The request is a WebSocket upgrade, as required. */
  isSocket: boolean
  signal: AbortSignal
}

/** An open connection into a pod. */
export interface OpenConnection {
  socket: WebSocket
  /** Whether the pod still runs the container of this connection. */
  isRunning(): Promise<boolean>
}

/**
 * Starts a command in the caller's pod (NET-6). The audit log records only whether it is a shell or a command, because commands can contain
 * secrets. Throws 403, 404 for a pod that is terminated, unknown or another account's, and 409 while it does not run.
 */
export async function execInPod(ctx: VerbContext, podId: string, { target, isSocket, signal }: ExecCall): Promise<OpenConnection> {
  requireScope(ctx.principal, 'pods:write', podId)
  const { row } = await own(ctx.env, ctx.principal, 'pod', podId)
  requireRunning(row)
  if (!isSocket) throw new Problem('badRequest', { detail: 'this path accepts WebSocket connections only: send Upgrade: websocket' })
  const after = { kind: target.command === null ? 'shell' : 'command', tty: target.terminal !== null }
  const note = noteChange(ctx, { action: 'pods.exec', resourceKind: 'pod', resourceId: podId, before: null, after })
  await openDatabase(ctx.env.DB).batch([note])
  const socket = await openChannels(ctx, row, target, signal)
  return { socket, isRunning: () => isStillRunning(ctx.env, row) }
}
