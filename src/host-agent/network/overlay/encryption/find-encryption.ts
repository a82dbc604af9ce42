import { errorText } from '../../../../node/fail.ts'
import { type RunProgram, runProgram } from '../../run-program.ts'
import type { IpTools } from '../ip-tools.ts'
import { type HostKey, loadHostKey } from './host-key.ts'
import { probeDevice, wireDevice } from './wire-names.ts'
import { makeWire, removeWire, setOwn, WireGuard, type WireKind } from './wireguard.ts'

export const ENCRYPTION_MODES = ['auto', 'require', 'off'] as const
/** `auto`: with the kernel's WireGuard, where there is one. `require`: also with `wireguard-go`, and no traffic in plain. `off`: never. */
export type EncryptionMode = (typeof ENCRYPTION_MODES)[number]

export interface EncryptionDeps {
  mode: EncryptionMode
  /** Key of the agent. */
  key: string
  stateDir: string
  tools: Pick<IpTools, 'links'>
  run?: RunProgram
}

/** Tests how this machine can encrypt traffic to other hosts (HOST-160). Returns the reason where it cannot or must not. */
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
    // An interface of a previous agent process carries traffic, so nothing is tested beside it.
    const previous = links.find(({ ifname }) => ifname === wireDevice(key))
    if (previous !== undefined) return previous.linkinfo?.info_kind === 'wireguard' ? 'kernel' : 'program'
    const reasons: string[] = []
    for (const kind of mode === 'require' ? (['kernel', 'program'] as const) : (['kernel'] as const)) {
      const reason = await tryOut(run, kind, probeDevice(key), loadHostKey(stateDir))
      if (reason === null) return kind
      reasons.push(reason)
    }
    return { reason: reasons.join('; ') }
  }
}

const NAMES = { kernel: 'the kernel has no WireGuard', program: 'wireguard-go does not work either' }

async function tryOut(run: RunProgram, kind: WireKind, device: string, hostKey: HostKey): Promise<string | null> {
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
