import type { RuntimeClass } from '../../../host-protocol/messages.ts'
import type { Log } from '../../log.ts'
import { hasProbeProgram } from '../../probe/probe-image.ts'
import { NFT, type Nft } from '../nft.ts'
import { type EncryptionMode, findEncryption } from './encryption/find-encryption.ts'
import { HostOverlays } from './host-overlays.ts'
import { IP_TOOLS, type IpTools } from './ip-tools.ts'
import { findUnderlay } from './underlay.ts'

export interface OpenOverlaysDeps {
  options: { overlayAddress: string | undefined; runtimeClass: RuntimeClass; overlayEncryption: EncryptionMode; stateDir: string }
  /** Key of the agent. */
  key: string
  /** Reason why containers of this machine have no separate networks; null: they have. */
  hindrance: string | null
  log: Log
  tools?: IpTools
  nft?: Nft
}

/** Finds out whether this machine supports private networks across hosts (HOST-140). */
export async function openOverlays({ options, key, hindrance, log, tools = IP_TOOLS, nft = NFT }: OpenOverlaysDeps): Promise<HostOverlays> {
  const reason = hindrance ?? unfit(options.runtimeClass)
  const { overlayAddress: address, overlayEncryption: encryption, stateDir } = options
  const openEncryption = (mode: EncryptionMode) => findEncryption({ mode, key, stateDir, tools })
  const underlay = reason === null ? await findUnderlay({ key, address, tools, nft, encryption, openEncryption }) : { reason }
  if ('reason' in underlay) log.info('this host takes part in no private networks across hosts', { reason: underlay.reason })
  else
    log.info('private networks across hosts lead over this address', {
      address: underlay.address,
      encryption: underlay.encryption,
      ...(underlay.encryptionReason !== undefined && { reason: underlay.encryptionReason }),
    })
  return new HostOverlays({ key, underlay, tools, nft, log })
}

function unfit(runtimeClass: RuntimeClass): string | null {
  if (runtimeClass !== 'runc') return `containers in ${runtimeClass} share no network that is made for them`
  return hasProbeProgram() ? null : 'there is no program that holds a network for this kind of processor'
}
