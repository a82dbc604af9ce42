import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { NETWORK_LABEL } from '../../../../src/host-agent/engine/labels.ts'
import { agentKey, tableName } from '../../../../src/host-agent/network/names.ts'
import { readJsonFile } from '../../../../src/node/json-file.ts'
import { docker } from './docker.ts'

const run = promisify(execFile)

/** Removes the networks and rules of an agent from this machine, as far as no container needs them. */
export async function removeNetworks(stateDir: string): Promise<void> {
  const known = readJsonFile(join(stateDir, 'network.json'))
  if (typeof known !== 'object' || known === null || !('id' in known)) return
  const key = agentKey(String(known.id))
  const networks = await docker('network', 'ls', '--quiet', '--filter', `label=${NETWORK_LABEL}=${key}`)
  if (networks !== '') await docker('network', 'rm', ...networks.split('\n')).catch(() => {})
  await run('nft', ['delete', 'table', 'inet', tableName(key)]).catch(() => {})
}
