import { errorText } from '../../../../node/fail.ts'
import { type RunProgram, runProgram } from '../../run-program.ts'
import type { IpTools } from '../ip-tools.ts'
import { type HostKey, loadHostKey } from './host-key.ts'
import { trialDevice, wireDevice } from './wire-names.ts'
import { makeWire, removeWire, setOwn, WireGuard, type WireKind } from './wireguard.ts'

export const ENCRYPTION_MODES = ['auto', 'require', 'off'] as const
/** `auto`: where the kernel does it. `require`: by a program where the kernel does not, and with no host in plain. */
export type EncryptionMode = (typeof ENCRYPTION_MODES)[number]

export interface EncryptionDeps {
  mode: EncryptionMode
  /** The agent's. */
  key: string
  stateDir: string
  tools: Pick<IpTools, 'links'>
  run?: RunProgram
}

/** Finds out how this machine can encrypt what goes to other hosts, by trying it (HOST-160). The reason, where it cannot or shall not. */
export async function findEncryption(deps: EncryptionDeps): Promise<WireGuard | { reason: string }> {
  const { mode, key, stateDir, run = runProgram } = deps
  const links = await deps.tools.links()
  const found = mode === 'off' ? { reason: '--overlay-encryption is off' } : await find()
  if (typeof found === 'object') {
    await removeWire(key, run, links)
    return found
  }
  return new WireGuard({ key, hostKey: loadHostKey(stateDir), kind: found, run })

  async function find(): Promise<WireKind | { reason: string }> {
    // One that a former process of the agent has left carries traffic: nothing is tried beside it.
    const former = links.find(({ ifname }) => ifname === wireDevice(key))
    if (former !== undefined) return former.linkinfo?.info_kind === 'wireguard' ? 'kernel' : 'program'
    const reasons: string[] = []
    for (const kind of mode === 'require' ? (['kernel', 'program'] as const) : (['kernel'] as const)) {
      const reason = await tryOut({ kind, device: trialDevice(key), hostKey: loadHostKey(stateDir), run })
      if (reason === null) return kind
      reasons.push(reason)
    }
    return { reason: reasons.join('; ') }
  }
}

const NAMES = { kernel: 'the kernel has no WireGuard', program: 'wireguard-go does not do it either' }

async function tryOut({
  kind,
  device,
  hostKey,
  run,
}: {
  kind: WireKind
  device: string
  hostKey: HostKey
  run: RunProgram
}): Promise<string | null> {
  try {
    await makeWire(run, kind, device)
  } catch (error) {
    return `${NAMES[kind]} (${errorText(error)})`
  }
  try {
    await setOwn(run, device, hostKey)
    await run('ip', ['link', 'set', device, 'up'])
    return null
  } catch (error) {
    return `WireGuard cannot be set up (${errorText(error)})`
  } finally {
    await run('ip', ['link', 'delete', device]).catch(() => {})
  }
}
