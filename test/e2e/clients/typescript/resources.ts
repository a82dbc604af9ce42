import type { Podplane } from '@podplane/sdk'
import { holds, refused } from './tour.ts'

const REPOSITORY = 'arn:aws:ecr:us-east-1:123456789012:repository/team/models'

/**
 * For each resource: its name at creation, its view, whether the list contains it, the result of an update, and the result of its
 * deletion.
 */
export async function resources(plane: Podplane, dataCenter: string) {
  return {
    template: await template(plane),
    networkVolume: await networkVolume(plane, dataCenter),
    globalVolume: await globalVolume(plane),
    registry: await registry(plane),
    delegation: await delegation(plane),
    secret: await secret(plane),
    sshKeys: await sshKeys(plane),
  }
}

async function template(plane: Podplane) {
  const made = await plane.createTemplate({ body: { name: 'one', image: 'builtin/idle', env: { GREETING: 'hello' } } })
  const path = { id: made.id }
  const read = await plane.getTemplate({ path })
  const { templates } = await plane.listTemplates()
  const changed = await plane.updateTemplate({ path, body: { name: 'two' } })
  await plane.deleteTemplate({ path })
  return [made.name, read.env, holds(templates, made), 'name' in changed && changed.name, await refused(plane.getTemplate({ path }))]
}

async function networkVolume(plane: Podplane, dataCenter: string) {
  const made = await plane.createNetworkVolume({ body: { name: 'one', size: 10, dataCenter } })
  const path = { id: made.id }
  const read = await plane.getNetworkVolume({ path })
  const { networkVolumes } = await plane.listNetworkVolumes()
  const changed = await plane.updateNetworkVolume({ path, body: { name: 'two', size: 20 } })
  await plane.deleteNetworkVolume({ path })
  return [
    made.name,
    read.size,
    holds(networkVolumes, made),
    'size' in changed && changed.size,
    await refused(plane.getNetworkVolume({ path })),
  ]
}

async function globalVolume(plane: Podplane) {
  const made = await plane.createGlobalVolume({ body: { name: 'one' } })
  const path = { id: made.id }
  const read = await plane.getGlobalVolume({ path })
  const { globalVolumes } = await plane.listGlobalVolumes()
  const changed = await plane.updateGlobalVolume({ path, body: { name: 'two' } })
  await plane.deleteGlobalVolume({ path })
  return [made.name, read.name, holds(globalVolumes, made), changed.name, await refused(plane.getGlobalVolume({ path }))]
}

async function registry(plane: Podplane) {
  const made = await plane.createRegistry({ body: { name: 'one', host: 'ghcr.io', username: 'ada', password: 'secret' } })
  const path = { id: made.id }
  const read = await plane.getRegistry({ path })
  const { registries } = await plane.listRegistries()
  await plane.deleteRegistry({ path })
  return [made.name, read.host, holds(registries, made), await refused(plane.getRegistry({ path }))]
}

async function delegation(plane: Podplane) {
  const made = await plane.createDelegation({ body: { resource: REPOSITORY, name: 'one' } })
  const { delegations } = await plane.listDelegations()
  await plane.revokeDelegation({ path: { id: made.id } })
  const after = await plane.listDelegations()
  return [made.name, made.repository, holds(delegations, made), holds(after.delegations, made)]
}

async function secret(plane: Podplane) {
  const made = await plane.createSecret({ body: { name: 'ONE', value: 'secret', description: 'one' } })
  const path = { id: made.id }
  const read = await plane.getSecret({ path })
  const { secrets } = await plane.listSecrets()
  const changed = await plane.updateSecret({ path, body: { description: 'two' } })
  await plane.deleteSecret({ path })
  return [
    made.name,
    read.description,
    holds(secrets, made),
    'description' in changed && changed.description,
    await refused(plane.getSecret({ path })),
  ]
}

async function sshKeys(plane: Podplane) {
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMvS0Zt9Pi9h8xJzO0Vt4V8mTTVYoTxKxTnCbu2jFQxM ada'
  const put = await plane.putSshKeys({ body: { keys: [key] } })
  const read = await plane.getSshKeys()
  const emptied = await plane.putSshKeys({ body: { keys: [] } })
  return ['keys' in put && put.keys.length, read.keys.length, 'keys' in emptied && emptied.keys.length]
}
